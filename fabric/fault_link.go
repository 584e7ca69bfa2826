package fabric

// linkDown cuts a link.
type linkDown struct {
	fault int
	link  *link
}

func (t *linkDown) begin(f *Fabric) {
	t.link.down++
	t.link.cuts++
	for _, out := range []*port{t.link.a, t.link.b} {
		for p := out.dequeue(); p != nil; p = out.dequeue() {
			out.node.used -= p.length
			f.drop(p, atPort(out, PlaceEgress, ReasonPortDown))
		}
		for i := range out.queues {
			if q := &out.queues[i]; q.burst != nil {
				f.endBurst(q, false)
			}
		}
	}
	t.converge(f)
}

func (t *linkDown) end(f *Fabric) {
	t.link.down--
	t.converge(f)
}

func (t *linkDown) converge(f *Fabric) {
	f.agenda.add(f.nowNs+f.reconvergenceNs, evConverge, uint32(t.fault))
}

// grayLink makes a link lose packets.
type grayLink struct {
	link  *link
	share float64
}

func (t *grayLink) begin(*Fabric) { t.link.gray += t.share }

func (t *grayLink) end(*Fabric) { t.link.gray = max(t.link.gray-t.share, 0) }
