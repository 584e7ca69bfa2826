package analyze

import (
	"math"
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A path of stacks says how many packets of TCP were lost on it, and not where. But each link has several paths, and
// each path several links: the link that loses packets is the one whose paths all lose them, while those around it do
// not.

const (
	// leakFlows is how many flows must have lost packets, so that what one flow meets is not taken for its link.
	leakFlows = 3
	// certainlyLost and certainlyHere are logarithms of how much more likely it must be that one link loses packets
	// than that all links do alike, and than that another link does.
	certainlyLost, certainlyHere = 12, 7
	// bothWays is the same for a link that loses packets in both directions, compared with one of them.
	bothWays = 2
)

// A suspect is what may lose packets of a path: a link between nodes, or what is in front of the first or behind the
// last of them.
type suspect struct {
	topology.LinkKey
	edge bool // a host and its link; one end of linkKey only
}

// suspectsOf returns what the packets of a path cross; false if the path is not known well enough.
// Numbers of packets tell of nothing in front of the source, which writes them, or behind the sink, which reads them.
func suspectsOf(hops []pathHop, numbered bool) ([]suspect, bool) {
	first, last := &hops[0].HopKey, &hops[len(hops)-1].HopKey
	list := make([]suspect, 0, len(hops)+1)
	if !numbered {
		list = append(list, suspect{
			topology.LinkKey{To: first.Node, ToPort: first.In, Has: first.Has & telemetry.HasIngressPort},
			true,
		})
	}
	for i := range hops[1:] {
		k, ok := topology.LinkOf(&hops[i].HopKey, &hops[i+1].HopKey)
		if !ok || hops[i].Missing+hops[i+1].Missing > 0 {
			return nil, false
		}
		list = append(list, suspect{LinkKey: k})
	}
	if numbered {
		return list, len(list) > 0
	}
	list = append(list, suspect{
		topology.LinkKey{From: last.Node, FromPort: last.Out, Has: last.Has & telemetry.HasEgressPort},
		true,
	})
	if back, _ := list[0].back(); back == list[len(list)-1] {
		return nil, false // to where it came from
	}
	return list, true
}

// back returns the other direction of a suspect; false if it is not known.
func (k suspect) back() (suspect, bool) {
	if !k.edge {
		back, ok := k.Reverse()
		return suspect{LinkKey: back}, ok
	}
	back := topology.LinkKey{From: k.To, To: k.From, FromPort: k.ToPort, ToPort: k.FromPort}
	switch k.Has {
	case telemetry.HasIngressPort:
		back.Has = telemetry.HasEgressPort
	case telemetry.HasEgressPort:
		back.Has = telemetry.HasIngressPort
	}
	return suspect{back, true}, true
}

// share is how much of what was sent is lost.
func (c *streamCount) share() float64 { return float64(c.lost) / float64(max(c.arrived+c.lost, 1)) }

// likelihood is the logarithm of how likely that many lost packets are if each is lost with a probability of share.
func (c *streamCount) likelihood() float64 {
	if c.lost == 0 || c.arrived == 0 {
		return 0
	}
	return float64(c.lost)*math.Log(c.share()) + float64(c.arrived)*math.Log(1-c.share())
}

// without returns what is left of c.
func (c *streamCount) without(o *streamCount) streamCount {
	return streamCount{arrived: c.arrived - o.arrived, lost: c.lost - o.lost}
}

// A trial asks which of the suspects loses packets. No path crosses a suspect twice, or in both directions.
type trial struct {
	all      streamCount
	by       map[suspect]*streamCount
	suspects []suspect // in an order that is always the same
}

func newTrial(paths []*streamPath) *trial {
	t := &trial{by: map[suspect]*streamCount{}}
	for _, p := range paths {
		c := p.total()
		t.all.add(&c)
	}
	if t.all.flows < leakFlows {
		return t // nobody to accuse, as nearly always
	}
	for _, p := range paths {
		c := p.total()
		for _, k := range p.suspects {
			if t.by[k] == nil {
				t.by[k] = &streamCount{}
				t.suspects = append(t.suspects, k)
			}
			t.by[k].add(&c)
		}
	}
	return t
}

// gain is the logarithm of how much more likely what was lost is if k alone loses another share of its packets than all
// others, which is a larger one, and with back, if both its directions do.
func (t *trial) gain(k suspect) (alone, both float64) {
	c := t.by[k]
	others := t.all.without(c)
	if c.share() > others.share() && c.flows >= leakFlows {
		alone = c.likelihood() + others.likelihood() - t.all.likelihood()
	}
	back, ok := k.back()
	if !ok || t.by[back] == nil {
		return alone, 0
	}
	b := t.by[back]
	others = others.without(b)
	if min(c.share(), b.share()) > others.share() && c.flows+b.flows >= leakFlows {
		both = c.likelihood() + b.likelihood() + others.likelihood() - t.all.likelihood() - bothWays
	}
	return alone, both
}

// accuse returns the link that loses the most packets, one direction of it or both, and the paths that do not cross it;
// false if no link stands out. guilty is empty if another link, or a host, may lose them as well.
func accuse(paths []*streamPath) (guilty []topology.LinkKey, rest []*streamPath, ok bool) {
	t := newTrial(paths)
	var best float64
	var chosen []suspect
	for _, k := range t.suspects {
		alone, both := t.gain(k)
		if alone > best {
			best, chosen = alone, []suspect{k}
		}
		if both > best {
			back, _ := k.back()
			best, chosen = both, []suspect{k, back}
		}
	}
	if best < certainlyLost {
		return nil, paths, false
	}
	certain := true
	back, _ := chosen[0].back()
	for _, k := range t.suspects {
		if alone, both := t.gain(k); max(alone, both) > best-certainlyHere && k != chosen[0] && k != back {
			certain = false
		}
	}
	for _, k := range chosen {
		if certain && !k.edge {
			guilty = append(guilty, k.LinkKey)
		}
	}
	for _, p := range paths {
		if !slices.ContainsFunc(p.suspects, func(k suspect) bool { return slices.Contains(chosen, k) }) {
			rest = append(rest, p)
		}
	}
	return guilty, rest, true
}
