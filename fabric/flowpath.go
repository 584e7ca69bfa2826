package fabric

import (
	"slices"

	"github.com/waybill-int/waybill/fabric/truth"
)

// A flowPath is the path that packets of a flow take at the moment.
type flowPath struct {
	hops            []hop
	fromNs, untilNs int64 // when the first and the last packet left the host
	packets         uint64
}

// emptied returns a flowPath without a path that uses the memory of p again.
func (p flowPath) emptied() flowPath { return flowPath{hops: p.hops[:0]} }

// watchPath notes the path of a packet that has arrived.
func (f *Fabric) watchPath(p *parcel) {
	r := &p.flow.route
	hops := p.path[:min(p.hops, maxHops)]
	if r.packets > 0 && slices.Equal(hops, r.hops) {
		r.packets++
		r.untilNs = max(r.untilNs, p.bornNs)
		return
	}
	if r.packets > 0 && p.bornNs < r.fromNs {
		return // a straggler from before the path changed
	}
	f.writePath(p.flow)
	r.hops = append(r.hops[:0], hops...)
	r.fromNs, r.untilNs, r.packets = p.bornNs, p.bornNs, 1
}

// writePath writes the path that a flow had until now, if it had one.
func (f *Fabric) writePath(fl *flow) {
	r := &fl.route
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
