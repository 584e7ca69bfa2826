package loss

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A path of stacks says how many packets of TCP were lost on it, and not where. But each link has several paths, and
// each path several links: the link that loses packets is the one whose paths all lose them, while those around it do
// not.

const (
	// leastFlows is how many flows must have lost packets, so that what one flow meets is not taken for its link.
	leastFlows = 3
	// certainlyLost and certainlyHere are logarithms of how much more likely it must be that one link loses packets
	// than that all links do alike, and than that another link does.
	certainlyLost, certainlyHere = 12, 7
	// bothWays is the same for a link that loses packets in both directions, compared with one of them.
	bothWays = 2
)

// A candidate is what may lose packets of a path: a link between nodes, or what is in front of the first or behind the
// last of them.
type candidate struct {
	topology.LinkKey
	edge bool // a host and its link; one end of linkKey only
}

// candidatesOf returns what the packets of a path cross; false if the path is not known well enough.
// Numbers of packets tell of nothing in front of the source, which writes them, or behind the sink, which reads them.
func candidatesOf(hops []topology.HopKey, numbered bool) ([]candidate, bool) {
	if len(hops) == 0 {
		return nil, false
	}
	first, last := &hops[0], &hops[len(hops)-1]
	list := make([]candidate, 0, len(hops)+1)
	if !numbered {
		list = append(list, candidate{
			topology.LinkKey{To: first.Node, ToPort: first.In, Has: first.Has & telemetry.HasIngressPort},
			true,
		})
	}
	for i := range hops[1:] {
		k, ok := topology.LinkOf(&hops[i], &hops[i+1])
		if !ok || hops[i].Missing+hops[i+1].Missing > 0 {
			return nil, false
		}
		list = append(list, candidate{LinkKey: k})
	}
	if numbered {
		return list, len(list) > 0
	}
	list = append(list, candidate{
		topology.LinkKey{From: last.Node, FromPort: last.Out, Has: last.Has & telemetry.HasEgressPort},
		true,
	})
	if back, _ := list[0].back(); back == list[len(list)-1] {
		return nil, false // to where it came from
	}
	return list, true
}

// back returns the other direction of a candidate; false if it is not known.
func (k candidate) back() (candidate, bool) {
	if !k.edge {
		back, ok := k.Reverse()
		return candidate{LinkKey: back}, ok
	}
	back := topology.LinkKey{From: k.To, To: k.From, FromPort: k.ToPort, ToPort: k.FromPort}
	switch k.Has {
	case telemetry.HasIngressPort:
		back.Has = telemetry.HasEgressPort
	case telemetry.HasEgressPort:
		back.Has = telemetry.HasIngressPort
	}
	return candidate{back, true}, true
}

// A trial asks which of the candidates loses packets. No path crosses a candidate twice, or in both directions.
type trial struct {
	all        Count
	by         map[candidate]*Count
	candidates []candidate // in an order that is always the same
}

func newTrial(paths []*streamPath) *trial {
	t := &trial{by: map[candidate]*Count{}}
	for _, p := range paths {
		c := p.total()
		t.all.Add(&c)
	}
	if t.all.Flows < leastFlows {
		return t // nothing to localize, as nearly always
	}
	for _, p := range paths {
		c := p.total()
		for _, k := range p.candidates {
			if t.by[k] == nil {
				t.by[k] = &Count{}
				t.candidates = append(t.candidates, k)
			}
			t.by[k].Add(&c)
		}
	}
	return t
}

// gain is the logarithm of how much more likely what was lost is if k alone loses another share of its packets than all
// others, which is a larger one, and with back, if both its directions do.
func (t *trial) gain(k candidate) (alone, both float64) {
	c := t.by[k]
	others := t.all.without(c)
	if c.share() > others.share() && c.Flows >= leastFlows {
		alone = c.likelihood() + others.likelihood() - t.all.likelihood()
	}
	back, ok := k.back()
	if !ok || t.by[back] == nil {
		return alone, 0
	}
	b := t.by[back]
	others = others.without(b)
	if min(c.share(), b.share()) > others.share() && c.Flows+b.Flows >= leastFlows {
		both = c.likelihood() + b.likelihood() + others.likelihood() - t.all.likelihood() - bothWays
	}
	return alone, both
}

// localize returns the link that loses the most packets, one direction of it or both, and the paths that do not cross
// it;
// false if no link stands out. found is empty if another link, or a host, may lose them as well.
func localize(paths []*streamPath) (found []topology.LinkKey, rest []*streamPath, ok bool) {
	t := newTrial(paths)
	var best float64
	var chosen []candidate
	for _, k := range t.candidates {
		alone, both := t.gain(k)
		if alone > best {
			best, chosen = alone, []candidate{k}
		}
		if both > best {
			back, _ := k.back()
			best, chosen = both, []candidate{k, back}
		}
	}
	if best < certainlyLost {
		return nil, paths, false
	}
	certain := true
	back, _ := chosen[0].back()
	for _, k := range t.candidates {
		if alone, both := t.gain(k); max(alone, both) > best-certainlyHere && k != chosen[0] && k != back {
			certain = false
		}
	}
	for _, k := range chosen {
		if certain && !k.edge {
			found = append(found, k.LinkKey)
		}
	}
	for _, p := range paths {
		if !slices.ContainsFunc(p.candidates, func(k candidate) bool { return slices.Contains(chosen, k) }) {
			rest = append(rest, p)
		}
	}
	return found, rest, true
}
