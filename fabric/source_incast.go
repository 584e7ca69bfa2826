package fabric

// An incast lets hosts send to one at the same moment.
type incast struct {
	talk
	senders  []*host
	to       *host
	bytes    uint64
	everyNs  int64 // 0: once
	jitterNs int64 // each begins at random within it

	round   int64 // when the one began that goes on
	delays  []int64
	waiting []*host // that have not begun yet, in the order in which they do
}

func (s *incast) fire(f *Fabric) int64 {
	if len(s.waiting) == 0 {
		s.round = f.nowNs
		s.shuffle()
	}
	for len(s.waiting) > 0 && s.round+s.delays[0] <= f.nowNs {
		f.begin(&s.shape, s.waiting[0], s.to, s.v6(), s.bytes, true)
		s.waiting, s.delays = s.waiting[1:], s.delays[1:]
	}
	switch {
	case len(s.waiting) > 0:
		return s.round + s.delays[0]
	case s.everyNs > 0:
		return max(s.round+s.everyNs, f.nowNs)
	}
	return never
}

// shuffle chooses when each sender begins in the next round.
func (s *incast) shuffle() {
	s.waiting = append(s.waiting[:0:0], s.senders...)
	s.delays = s.delays[:0:0]
	for i := range s.waiting {
		delay := int64(0)
		if s.jitterNs > 0 {
			delay = s.random.Int64N(s.jitterNs)
		}
		s.delays = append(s.delays, delay)
		for j := i; j > 0 && s.delays[j] < s.delays[j-1]; j-- {
			s.delays[j], s.delays[j-1] = s.delays[j-1], s.delays[j]
			s.waiting[j], s.waiting[j-1] = s.waiting[j-1], s.waiting[j]
		}
	}
}
