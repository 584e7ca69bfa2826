package flowsample

import (
	"sync/atomic"

	"github.com/waybill-int/waybill/wire"
)

// An Outcome is what became of a sample, a record or a notification.
type Outcome uint8

// Outcomes. The first two are reports, the third is a telemetry.CounterSample, the next ones say nothing of packets,
// and the others are lost.
const (
	Sample       Outcome = iota // a sampled packet, or the packets of a flow record: a report
	Discard                     // a discarded packet, or those of a flow record: a drop report
	PortCounters                // counters of a port
	Counters                    // others, which no table has: of Ethernet, of a VLAN, of a processor
	Options                     // a record that tells of the exporter: of its sampling, perhaps
	NoNode                      // counters of a port of a device without a node: nobody knows whose port
	NoFlow                      // a packet without IP, or whose headers are cut off in front of the ports
	NoPacket                    // a sample without the headers of its packet
	NoCounts                    // a flow record without the number of packets since the one before
	NoTemplate                  // a set of records whose template did not come before
	NoRoom                      // a set of templates, a template or a sampling rate for which there was no room
	UnknownKind                 // a kind of sample or of header that is not known
	Unreadable                  // it ends too early, or contradicts itself

	// NotSent counts what devices say that they had no room for: samples, and notifications of discarded packets.
	SamplesNotSent
	DiscardsNotSent

	numOutcomes
)

func (o Outcome) String() string {
	return [numOutcomes]string{
		"sample", "discard", "port_counters", "counters", "options", "no_node", "no_flow", "no_packet", "no_counts",
		"no_template", "no_room", "unknown_kind", "unreadable", "samples_not_sent", "discards_not_sent",
	}[o]
}

// Stats count what became of what was in datagrams.
type Stats struct{ counts [numOutcomes]atomic.Uint64 }

// Counts returns the counters by outcome. It may be called from any goroutine.
func (s *Stats) Counts() map[Outcome]uint64 {
	counts := make(map[Outcome]uint64, numOutcomes)
	for o := range numOutcomes {
		counts[o] = s.counts[o].Load()
	}
	return counts
}

func (s *Stats) add(o Outcome, n uint64) { s.counts[o].Add(n) }

// A verdict is the first rule that a datagram broke.
type verdict struct{ reason wire.Error }

func (v *verdict) note(reason wire.Error) {
	if v.reason == 0 {
		v.reason = reason
	}
}
