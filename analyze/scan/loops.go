package scan

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A loopDetector finds paths on which packets came to a node twice.
type loopDetector struct {
	*scan
	twins    *twinDetector
	waitedNs int64                    // how long postcards wait for each other
	loops    map[eventlog.Key]*loopAt // since the last scan
	expired  map[uint32]*lastHops     // by node: packets whose TTL was used up, of which no loop there was told yet
	of       map[uint32]eventlog.Key  // by node: the latest loop through it
}

// lastHops are packets whose TTL was used up at a node.
type lastHops struct {
	hit     *telemetry.Extent
	sinceNs int64        // scan that found them first
	storm   eventlog.Key // of the latest
}

// maxInLoops bounds the nodes of loops that are remembered.
const maxInLoops = 4096

// A loopAt is the paths on which packets came to a node twice.
type loopAt struct {
	event        telemetry.Event // of one of them
	packets      uint64
	fromNs, toNs int64 // when packets took them
}

func newLoopDetector(s *scan, twins *twinDetector) *loopDetector {
	return &loopDetector{
		scan: s, twins: twins, loops: map[eventlog.Key]*loopAt{}, expired: map[uint32]*lastHops{},
		of: map[uint32]eventlog.Key{},
	}
}

func (d *loopDetector) begin() { clear(d.loops) }

// finish notes loops, with the packets that went round until their TTL was used up.
func (d *loopDetector) finish() {
	for key, l := range d.loops {
		d.log.Note(key, l.fromNs, l.toNs, l.packets, func(e *telemetry.Event) {
			l.event.ID, l.event.Kind, l.event.Start = e.ID, e.Kind, e.Start
			*e = l.event
		})
	}
	for node, e := range d.expired {
		key := d.of[node]
		switch goesOn := d.log.Ongoing(key); {
		case goesOn && key.Node == node:
			d.hit(key, e.hit)
		case d.nowNs-e.sinceNs < max(d.waitedNs, ScanNs):
			continue // postcards of the way still wait for each other, or a storm begins that has them
		case goesOn && !d.log.Ongoing(e.storm):
			d.hit(key, e.hit)
		}
		delete(d.expired, node)
	}
}

func (d *loopDetector) observe(o *Observation) {
	for i := range o.Drops {
		at := &o.Drops[i]
		if at.Has&telemetry.HasNode != 0 && dropreason.Of(at.Table, at.Reason).ID == "ttl_expired" {
			e := d.expired[at.Node]
			if e == nil {
				e = &lastHops{sinceNs: d.nowNs}
				d.expired[at.Node] = e
			}
			e.hit, e.storm = e.hit.Plus(at.Hit), stormOf(at)
		}
	}
	d.waitedNs = o.WaitedNs
	for i := range o.Paths {
		p := &o.Paths[i]
		sinceNs := d.lastNs
		if p.Postcards { // these wait for each other
			sinceNs -= d.waitedNs
		}
		d.loop(p, max(p.FirstNs, sinceNs), p.LastNs)
	}
}

// isIn notes that a loop leads through a node, if none is told there.
func (d *loopDetector) isIn(loop eventlog.Key, at *topology.HopKey) {
	if now := d.of[at.Node]; at.Has&telemetry.HasNode == 0 ||
		loop.Node != at.Node && now.Node == at.Node && d.log.Ongoing(now) {
		return
	}
	if len(d.of) > maxInLoops {
		clear(d.of)
	}
	d.of[at.Node] = loop
}

// loop adds a path on which packets came to a node twice, which took it from one moment to another. Postcards whose
// order is open are of two packets, perhaps, that look alike and went different ways.
func (d *loopDetector) loop(p *Path, fromNs, toNs int64) {
	if p.Postcards && p.Uncertain {
		return
	}
	for i := range p.Hops {
		// two devices with one id, one behind the other, are no loop
		if p.Hops[i].Has&telemetry.HasNode == 0 || d.twins.scans[p.Hops[i].Node] > 0 {
			continue
		}
		for j := range i {
			if p.Hops[j].Has&telemetry.HasNode == 0 || p.Hops[j].Node != p.Hops[i].Node {
				continue
			}
			// A drop at the node that came last is the same visit, not a second one.
			if j == i-1 && p.Hops[i].Has&telemetry.HasDrop != 0 {
				continue
			}
			first := &p.Hops[j]
			key := eventlog.Key{Kind: telemetry.EventLoop, Node: first.Node, ToNode: p.Hops[j+1].Node}
			l := d.loops[key]
			if l == nil {
				l = &loopAt{fromNs: d.nowNs}
				d.loops[key] = l
				e := &l.event
				e.Severity = telemetry.Critical
				d.at(e, &first.HopKey)
				e.Path = topology.PathID(p.Hash)
				hops, hidden := 0, i == j+1
				for h := j; h < i; h++ {
					d.isIn(key, &p.Hops[h].HopKey)
					e.PathNodes = append(e.PathNodes, d.nodeText(&p.Hops[h].HopKey))
					hops += max(1, int(p.Hops[h].Missing))
					hidden = hidden || p.Hops[h].Missing > 0
				}
				after := fmt.Sprint(hops)
				if i == j+1 { // a stack does not say how many nodes without INT there are
					after = "at least 2"
				}
				e.Text = fmt.Sprintf("packets come to %s twice, after %s hops", d.name(first.Node), after)
				if hidden {
					e.Extent = &telemetry.Extent{Partly: true} // nobody tells what these nodes drop
				}
				e.Evidence = []telemetry.Evidence{{Name: "hops", Value: float64(len(p.Hops))}}
			}
			l.packets += p.N
			l.fromNs = min(l.fromNs, fromNs)
			l.toNs = max(l.toNs, toNs)
			return
		}
	}
}
