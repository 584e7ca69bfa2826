package incident

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A toll is what an incident cost: Packets are those that were in a queue that was too long, besides those that were
// lost.
type toll struct {
	telemetry.Extent
	lost uint64 // packets that were dropped or lost
}

// tollOf adds up what events cost, each packet once.
func tollOf(chain []*event) (t toll) {
	var storms, others []*event // that a storm may share packets with, but for queues
	for _, e := range chain {
		switch {
		case e.Kind == telemetry.EventDropStorm:
			storms = append(storms, e)
		case !isQueue(e.Kind) && e.lost() > 0:
			others = append(others, e)
		}
	}
	for _, e := range chain {
		switch {
		case !isQueue(e.Kind):
		case e.Extent != nil:
			t.Packets += e.Extent.Packets
		default:
			t.Packets += e.Count
		}
		lost := e.lost()
		if slices.ContainsFunc(storms, e.isPartOfStorm) || slices.ContainsFunc(others, e.isStormOf) {
			lost = 0
		}
		if lost > 0 && e.with != nil {
			e, lost = e.alone(chain)
		}
		t.lost += lost
		t.add(e, lost)
		if e.rule != nil && e.rule.id == "no_way_around" {
			t.Partly = true // at other nodes too few may have been dropped to be an event
		}
	}
	return t
}

// add adds whom an event hit, which lost packets.
func (t *toll) add(e *event, lost uint64) {
	packets := t.Packets
	switch e.Kind {
	case telemetry.EventMicroburst, telemetry.EventIncast: // the extent is of those that were not dropped
		t.Flowless += lost
		t.Lengthless += lost
		if e.Extent == nil {
			t.Flowless += e.Count
			t.Lengthless += e.Count
		}
		t.Merge(e.Extent)
	case telemetry.EventPathChange:
		if e.Extent == nil {
			t.Flowless += e.Count
		}
		t.Merge(e.Extent)
	case telemetry.EventLatencyAnomaly, telemetry.EventECMPImbalance: // whose packets these were nobody counts
		t.Partly = true
	default:
		// Of what was on the link as it failed nobody tells, and where a node drops silently, of what was new to it.
		silent := e.Kind == telemetry.EventBlackhole && e.ToNode != nil
		t.Partly = t.Partly || silent || e.Kind == telemetry.EventLinkLost || e.Extent != nil && e.Extent.Partly
		if lost > 0 && e.Extent == nil { // an event of an older version
			t.Flowless += lost
			t.Lengthless += lost
		} else if lost > 0 {
			t.Merge(e.Extent)
		}
	}
	t.Packets = packets
}

// shareStorms finds storms that go on while their queue is long for the sake of several incidents.
func shareStorms(list []event) {
	type port struct{ node, port uint32 }
	full := map[port][]*event{}
	for i := range list {
		if e := &list[i]; isQueue(e.Kind) && e.Node != nil && e.Port != nil && e.lost() > 0 {
			k := port{*e.Node, *e.Port}
			full[k] = append(full[k], e)
		}
	}
	for i := range list {
		e := &list[i]
		if e.Kind != telemetry.EventDropStorm || e.Node == nil || e.Port == nil || !e.dropsAtQueue() {
			continue
		}
		for _, q := range full[port{*e.Node, *e.Port}] {
			if q.root() != e.root() && q.from <= e.to && q.to >= e.from {
				e.with = append(e.with, q)
			}
		}
	}
}

// alone returns a storm without what queues of other incidents dropped meanwhile, and how many packets remain. A flow
// is of theirs if its packets were in these queues and not in those of the chain.
func (e *event) alone(chain []*event) (storm *event, lost uint64) {
	lost = e.lost()
	var here, there telemetry.Distinct
	for _, q := range e.with {
		lost -= min(q.lost(), lost)
		if q.Extent != nil {
			there.Merge(q.Extent.Flows)
		}
	}
	for _, q := range chain {
		if isQueue(q.Kind) && q.samePort(e) && q.Extent != nil {
			here.Merge(q.Extent.Flows)
		}
	}
	if e.Extent == nil {
		return e, lost
	}
	x := *e.Extent
	x.Flows = slices.DeleteFunc(slices.Clone(x.Flows), func(h uint64) bool { return there.Has(h) && !here.Has(h) })
	x.Flowless += uint64(len(e.Extent.Flows) - len(x.Flows)) // or it is of both
	rest := *e.Event
	rest.Extent = &x
	return &event{Event: &rest}, lost
}

// lost returns how many packets an event says were dropped or lost.
func (e *event) lost() uint64 {
	switch e.Kind {
	case telemetry.EventDropStorm, telemetry.EventGrayFailure, telemetry.EventBlackhole, telemetry.EventLinkLost:
		return e.Count
	case telemetry.EventMicroburst, telemetry.EventIncast:
		return uint64(e.evidence("drops"))
	case telemetry.EventLoop:
		if e.Extent != nil {
			return e.Extent.Packets
		}
	}
	return 0
}

// isPartOfStorm reports whether a storm has the packets that were lost in e, or more. Several queues may be of one.
func (e *event) isPartOfStorm(storm *event) bool {
	return e.sharesDrops(storm) && (isQueue(e.Kind) || e.lost() < storm.lost())
}

// isStormOf reports whether e is a storm of packets that o has all.
func (e *event) isStormOf(o *event) bool {
	return e.Kind == telemetry.EventDropStorm && o.sharesDrops(e) && o.lost() >= e.lost()
}

func isQueue(k telemetry.EventKind) bool {
	return k == telemetry.EventMicroburst || k == telemetry.EventIncast
}

// sharesDrops reports whether an event tells of packets that a storm has as well.
func (e *event) sharesDrops(storm *event) bool {
	switch e.Kind {
	case telemetry.EventBlackhole:
		return same(storm.Node, e.Node) && same(storm.Reason, e.Reason)
	case telemetry.EventLoop:
		return same(storm.Node, e.Node) && storm.Cause == "ttl_expired"
	case telemetry.EventLinkLost:
		return e.samePort(storm) && storm.group() == dropreason.Hardware
	case telemetry.EventMicroburst, telemetry.EventIncast:
		return e.samePort(storm) && storm.dropsAtQueue()
	}
	return false
}

// counted are the names of the counts that may be lower bounds.
var counted = []string{"bytes_hit", "flows_hit", "flows_moved", "hosts_hit", "packets_hit", packetsLost}

const packetsLost = "packets_lost"

// addTo fills in what an incident hit.
func (t *toll) addTo(n *telemetry.Incident) {
	n.PacketsLost, n.PacketsHit, n.BytesHit = t.lost, t.lost+t.Packets, t.Bytes
	var flows, hosts bool
	n.FlowsHit, flows = t.Flows.Count()
	n.HostsHit, hosts = t.Hosts.Count()
	least := []bool{
		t.Lengthless > 0 || t.Partly, !flows || t.Flowless > 0 || t.Partly, false,
		!hosts || t.Flowless > 0 || t.Partly, t.Partly, t.Partly,
	}
	for i, name := range counted {
		if least[i] {
			n.AtLeast = append(n.AtLeast, name)
		}
	}
}
