package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/export"
)

// An Outcome is something that a node did with a packet, or found out. A packet can have several.
type Outcome uint8

// The outcomes. To add one: a constant here and its name in outcomeNames.
const (
	Arrived         Outcome = iota // packets
	Unreadable                     // of those, with headers that are cut or wrong: forwarded, never changed
	FromEdge                       // of those, from outside of the domain
	Nested                         // with INT of another domain, which is left alone
	Conflict                       // marked in two ways
	Watched                        // match the flow watchlist
	Unsampled                      // match it, but are not among the 1 in N
	Inserted                       // source: INT was started
	InsertedEmpty                  // of those, without the record of the source, for the MTU
	NotInserted                    // source: watched, but INT could not be started; see Stats.Why
	Cleaned                        // source: a DSCP that would mark INT was rewritten
	EdgeINT                        // from outside with INT, which is not accepted: dropped
	Pushed                         // transit: record added
	MarkedMTU                      // transit: M set
	MarkedHopLimit                 // transit: E set
	PoppedStack                    // transit: stack reported and removed
	NotPushed                      // transit: no record added; see Stats.Why
	FollowUps                      // transit: follow-up packets sent
	Copies                         // transit: copies sent
	UnknownDomain                  // the Domain Specific ID in the INT header is not known
	Stripped                       // sink: INT removed
	StrippedBad                    // of those, malformed INT
	Discarded                      // sink: clones, probes, copies, follow-ups, and packets whose INT cannot be removed
	HiddenHops                     // sink: packets that passed a node which added no record
	SequenceGaps                   // sink: packets that are missing between two of their flow
	Turned                         // from an edge to an edge: this node is source and sink
	Reported                       // watched packets that were reported
	Suppressed                     // watched packets that were not: no event
	QueueReports                   // packets that were reported for congestion only
	DropReports                    // dropped packets that were reported
	DropsSuppressed                // dropped packets on the drop watchlist that were not: no event
	Intermediates                  // intermediate reports
	NotReported                    // reports that the exporter refused
	FlowEnded                      // watched flows that went quiet
	CongestionBegan
	CongestionEnded

	NumOutcomes
)

var outcomeNames = [NumOutcomes]string{
	"arrived", "unreadable", "from_edge", "nested", "conflict", "watched", "unsampled", "inserted", "inserted_empty",
	"not_inserted", "cleaned", "edge_int", "pushed", "marked_mtu", "marked_hop_limit", "popped_stack", "not_pushed",
	"follow_ups", "copies", "unknown_domain", "stripped", "stripped_bad", "discarded", "hidden_hops", "sequence_gaps", "turned",
	"reported",
	"suppressed", "queue_reports", "drop_reports", "drops_suppressed", "intermediates", "not_reported", "flow_ended",
	"congestion_began", "congestion_ended",
}

// String returns the name that counters use.
func (o Outcome) String() string {
	if o >= NumOutcomes {
		return "unknown"
	}
	return outcomeNames[o]
}

// Stats counts what a node did.
type Stats struct {
	Count [NumOutcomes]uint64

	// Why counts the reasons why INT was not inserted or no record added, or less than asked for.
	Why [embed.WrongMode + 1]uint64

	Flows     int    // that the node remembers
	Forgotten uint64 // flows pushed out of the table; if it grows, Config.Events.Flows is too small

	Export export.Stats
}

// Each calls f for every counter that is not 0, by name, in a fixed order.
func (s *Stats) Each(f func(name string, count uint64)) {
	for o, count := range s.Count {
		if count > 0 {
			f(Outcome(o).String(), count)
		}
	}
	for w, count := range s.Why {
		if count > 0 {
			f("why_"+embed.Why(w).String(), count)
		}
	}
}

// Stats returns what was counted so far.
func (n *Node) Stats() Stats {
	s := n.stats
	s.Flows, s.Forgotten = n.flowEvents.Flows(), n.flowEvents.Forgotten()
	if n.exporter != nil {
		s.Export = n.exporter.Stats()
	}
	return s
}

func (n *Node) count(o Outcome) { n.stats.Count[o]++ }

func (n *Node) countIf(on bool, o Outcome) {
	if on {
		n.stats.Count[o]++
	}
}
