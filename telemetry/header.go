package telemetry

import (
	"hash/crc32"
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

// A Counting says what the sequence numbers of an exporter count.
type Counting uint8

// What numbers count.
const (
	CountsDatagrams Counting = iota // as nearly all do
	CountsRecords                   // data records, as those of IPFIX should (RFC 7011 §3.1)
	CountsUnsettled                 // that is not known yet
	CountsChanged                   // that is not known any more
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
	Counting    Counting
	// Where records are counted: how many are missing beyond those that were already, below 0 where they came late, and
	// whether the numbers began anew.
	RecordsMissing   int64
	RecordsRestarted bool

	Reports     int  // usable reports in it
	PartlyNamed bool // other datagrams of its exporter may name the node, or not; in version 0.5 that is always so
	Repeated    bool // it came before, says the account of its exporter, or Decode, which clears it otherwise
	Dialect     string
	Account     uint32 // number of the account of its exporter, from 1 on, says the account; 0: it has none
	Datagram    []byte // a view of what Decoder.Decode was given; nil: it is somewhere else
	Content     uint32 // ContentOf the Datagram, where that is nil
}

// ContentOf returns a hash of the part of a datagram that tells it from others: headers, times and the front of a
// packet. It is the same in all processes.
func ContentOf(datagram []byte) uint32 {
	return crc32.Checksum(datagram[:min(len(datagram), 256)], castagnoli)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
