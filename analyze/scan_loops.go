package analyze

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
	twins   *twinDetector
	expired map[uint32]*telemetry.Extent // by node: packets whose TTL was used up, since the last scan
}

func (d *loopDetector) begin() { clear(d.expired) }

// finish adds to loops the packets that went round until their TTL was used up.
func (d *loopDetector) finish() {
	for node, hit := range d.expired {
		d.hit(eventlog.Key{Kind: telemetry.EventLoop, Node: node}, hit)
	}
}

func (d *loopDetector) observe(o *observation) {
	for i := range o.drops {
		at := &o.drops[i]
		if at.Has&telemetry.HasNode != 0 && dropreason.Of(at.Table, at.Reason).ID == "ttl_expired" {
			d.expired[at.Node] = d.expired[at.Node].Plus(at.Hit)
		}
	}
	for i := range o.paths {
		d.loop(o.paths[i].path, o.paths[i].n)
	}
}

// loop notes a path on which packets came to a node twice.
func (d *loopDetector) loop(p *path, n uint64) {
	for i := range p.hops {
		// two devices with one id, one behind the other, are no loop
		if p.hops[i].Has&telemetry.HasNode == 0 || d.twins.scans[p.hops[i].Node] > 0 {
			continue
		}
		for j := range i {
			if p.hops[j].Has&telemetry.HasNode == 0 || p.hops[j].Node != p.hops[i].Node {
				continue
			}
			// A drop at the node that came last is the same visit, not a second one.
			if j == i-1 && p.hops[i].Has&telemetry.HasDrop != 0 {
				continue
			}
			first := &p.hops[j]
			d.log.Note(eventlog.Key{Kind: telemetry.EventLoop, Node: first.Node}, d.lastNs, d.nowNs, n,
				func(e *telemetry.Event) {
					e.Severity = telemetry.Critical
					d.at(e, &first.HopKey)
					e.Path = topology.PathID(p.hash)
					for h := j; h < i; h++ {
						e.PathNodes = append(e.PathNodes, d.nodeText(&p.hops[h].HopKey))
					}
					e.Text = fmt.Sprintf("packets come to %s twice, after %d hops", d.name(first.Node), i-j)
					e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "hops", Value: float64(len(p.hops))})
				})
			return
		}
	}
}
