package fabric

import "github.com/waybill-int/waybill/fabric/scenario"

// A poisson begins flows of random size at random moments between random hosts.
type poisson struct {
	talk
	sizes  sizes
	from   []*host
	to     []*host
	gapNs  float64 // mean
	nextNs float64 // moment of the next flow; a fraction of a nanosecond is not lost
	begun  bool    // there is one
}

// newPoisson chooses the mean gap so that flows of the mean size fill the asked share of the senders' links.
func (f *Fabric) newPoisson(t talk, p *scenario.Poisson) *poisson {
	s := &poisson{
		talk: t, sizes: *sizesOf(p), from: f.hostsNamed(p.From),
		to: f.hostsNamed(p.To),
	}
	bps := 0.0
	for _, h := range s.from {
		bps += float64(h.out().link.bps)
	}
	s.gapNs = s.sizes.mean() * 8e9 / (bps * float64(p.Load))
	return s
}

func (s *poisson) fire(f *Fabric) int64 {
	if s.begun {
		src := s.from[s.random.IntN(len(s.from))]
		dst := s.to[s.random.IntN(len(s.to))]
		for dst == src {
			src, dst = s.from[s.random.IntN(len(s.from))], s.to[s.random.IntN(len(s.to))]
		}
		f.begin(&s.shape, src, dst, s.v6(), s.sizes.draw(s.random), true)
	} else {
		s.begun, s.nextNs = true, float64(f.nowNs)
	}
	s.nextNs += s.random.ExpFloat64() * s.gapNs
	return max(int64(s.nextNs), f.nowNs)
}
