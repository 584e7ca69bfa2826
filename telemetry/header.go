package telemetry

import (
	"net/netip"

	"github.com/waybill-int/waybill/wire"
)

// An Outcome says what became of a datagram; every datagram has exactly one.
type Outcome uint8

// Outcomes of a datagram.
const (
	Decoded   Outcome = iota // everything in it was understood
	Damaged                  // a part of it was: some report, or all but the telemetry embedded in one
	Malformed                // nothing was
)

// A Header is what the datagram as a whole tells: who sent it, its place in the sequence, and what became of it.
type Header struct {
	Collector   string // that received it, says the receiver; "": this process. Decode leaves it
	Source      netip.Addr
	Version     Version
	Outcome     Outcome
	Reason      wire.Error // the first rule that the datagram broke; 0 if Outcome is Decoded
	HasNodeID   bool
	HasSequence bool // the header with the sequence number was readable, and the dialect counts
	HWID        uint8
	Domain      uint32 // sub-agent of sFlow, observation domain of NetFlow and IPFIX: each counts for itself
	NodeID      uint32
	Sequence    uint32
	Reports     int  // usable reports in it
	PartlyNamed bool // other datagrams of its exporter may name the node, or not; in version 0.5 that is always so
	Repeated    bool // it came before, says the account of its exporter; Decode clears it
	Dialect     string
	Account     uint32 // number of the account of its exporter, from 1 on, says the account; 0: it has none
	Datagram    []byte // a view of what Decoder.Decode was given
}
