package fabric

import (
	"slices"

	"github.com/waybill-int/waybill/fabric/truth"
)

// A flowPath is a path that packets of a flow take for some time.
type flowPath struct {
	hops            []hop
	fromNs, untilNs int64 // when the first and the last packet left the host
	packets         uint64
}

// emptied returns a flowPath without a path that uses the memory of p again.
func (p flowPath) emptied() flowPath { return flowPath{hops: p.hops[:0]} }

// take counts a packet that left its host at bornNs if it took this path.
func (p *flowPath) take(hops []hop, bornNs int64) bool {
	if p.packets == 0 || !slices.Equal(hops, p.hops) {
		return false
	}
	p.packets++
	p.fromNs, p.untilNs = min(p.fromNs, bornNs), max(p.untilNs, bornNs)
	return true
}

// watchPath notes the path of a packet that has arrived.
func (f *Fabric) watchPath(p *parcel) {
	fl := p.flow
	hops := p.path[:min(p.hops, maxHops)]
	if fl.route.take(hops, p.bornNs) {
		return
	}
	if fl.route.packets > 0 && p.bornNs < fl.route.fromNs { // a straggler from before the path changed
		if !fl.before.take(hops, p.bornNs) { // one that went in a loop, or came by a path of long ago
			f.writePath(fl, &flowPath{hops: hops, fromNs: p.bornNs, untilNs: p.bornNs, packets: 1})
		}
		return
	}
	f.writePath(fl, &fl.before)
	fl.before, fl.route = fl.route, fl.before.emptied()
	fl.route.hops = append(fl.route.hops, hops...)
	fl.route.fromNs, fl.route.untilNs, fl.route.packets = p.bornNs, p.bornNs, 1
}

// writePaths writes the paths that a flow had and that are not written yet.
func (f *Fabric) writePaths(fl *flow) {
	f.writePath(fl, &fl.before)
	f.writePath(fl, &fl.route)
}

// writePath writes a path that a flow had, if it had one.
func (f *Fabric) writePath(fl *flow, r *flowPath) {
	if r.packets == 0 {
		return
	}
	t := &f.scratch.path
	*t = truth.Path{Flow: fl.id, FromNs: r.fromNs, UntilNs: r.untilNs, Packets: r.packets, Hops: t.Hops[:0]}
	for _, h := range r.hops {
		t.Hops = append(t.Hops,
			truth.PathHop{Node: uint32(h.node), In: uint32(h.in), Out: uint32(h.out), Queue: h.queue})
	}
	f.truth.Write(t)
}
