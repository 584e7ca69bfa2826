package fabric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-int/waybill/fabric/truth"
)

// A burst is a queue that is long at the moment.
type burst struct {
	truth.Burst
	bytes map[uint32]uint64 // of each flow
}

// watchQueue notes a packet that was put into a queue.
func (f *Fabric) watchQueue(out *port, q *queue, p *parcel) {
	if q.burst == nil {
		if f.burstAbove == 0 || q.bytes <= f.burstAbove {
			return
		}
		q.burst = &burst{
			Burst: truth.Burst{Node: out.node.id, Port: out.id, Queue: p.class, StartNs: f.nowNs},
			bytes: map[uint32]uint64{},
		}
		for old := q.first; old != p; old = old.next {
			q.burst.add(old)
		}
	}
	q.burst.add(p)
	if q.bytes > q.burst.Peak {
		q.burst.Peak, q.burst.PeakNs = q.bytes, f.nowNs
	}
}

func (b *burst) add(p *parcel) {
	b.Packets++
	b.Bytes += p.length
	b.bytes[p.flow.id] += p.length
}

// endBurst writes the burst of a queue.
func (f *Fabric) endBurst(q *queue, open bool) {
	b := q.burst
	q.burst = nil
	b.EndNs, b.Open = f.nowNs, open
	for _, id := range slices.Sorted(maps.Keys(b.bytes)) {
		b.Flows = append(b.Flows, truth.BurstFlow{Flow: id, Bytes: b.bytes[id]})
	}
	slices.SortStableFunc(b.Flows, func(x, y truth.BurstFlow) int { return cmp.Compare(y.Bytes, x.Bytes) })
	f.truth.Write(&b.Burst)
}
