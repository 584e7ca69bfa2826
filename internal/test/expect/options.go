package expect

import (
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// A Mode is an INT mode.
type Mode uint8

// Modes.
const (
	MD Mode = iota // the sink reports a packet, with what all switches wrote into it
	MX             // each switch reports it, as the packet says
	XD             // each switch reports it, as its watchlist says
)

// Options say what the telemetry of the network was.
type Options struct {
	Mode Mode

	// Hop and Drop are what a switch tells of a packet that leaves, and of one that it drops; of the length of a queue
	// only if that is where the packet was dropped.
	Hop, Drop telemetry.Fields

	// MaxHops is how many switches may write into a packet in INT-MD; 0 is any number.
	MaxHops int
	// Overhead returns the bytes that INT has in a packet into which so many switches have written, from 1; nil is 0.
	Overhead func(f *truth.Flow, written int) int

	// FirstTTL says that in INT-MD sources tell the TTL that packets came with: then it is known where switches without
	// INT are.
	FirstTTL bool

	// Unordered says that reports of different switches reach the tables in any order: each worker of a collector has
	// sockets of its own.
	Unordered bool

	Version string // of the reports
	Wide    bool   // timestamps have 64 bits

	// Identity tells packets of one flow apart, as far as a collector can: one for each report that arrived, in order.
	Identity []uint64

	// Source returns the address that a switch sends its reports from.
	Source func(address string) string
}
