package analyze

// A sequence follows the sequence numbers of one exporter and accounts for what did not arrive (TR 2.0 §3.2): a gap is
// a loss until the missing number arrives late, a number seen twice is a duplicate, a jump back out of the window is a
// restart. Numbers are compared modulo their width (22 or 32 bits).
type sequence struct {
	bits     uint8
	started  bool
	moved    bool   // a second number was seen
	highest  uint32 // the newest number
	resume   uint32 // where a suspected restart would go on
	suspects bool
	window   [windowWords]uint64 // bit i: highest-i arrived

	Unique    uint64 // different numbers that arrived
	Lost      uint64
	Reordered uint64
	Duplicate uint64
	Restarted uint64
}

const (
	windowWords = 16
	// windowSize is how late a report may be and still be recognised as reordered.
	windowSize = 64 * windowWords
	// A jump ahead of more than farAhead that lands below nearZero is a restart, not a loss of that many reports.
	farAhead = 1 << 16
	nearZero = 1 << 10
)

func (s *sequence) observe(n uint32) {
	mask := uint32(1)<<s.bits - 1
	if s.bits == 32 {
		mask = ^uint32(0)
	}
	if !s.started {
		s.start(n)
		s.started = true
		return
	}
	ahead := (n - s.highest) & mask
	behind := (s.highest - n) & mask
	switch {
	case ahead == 0:
		s.Duplicate++
	case ahead <= mask/2 && (ahead <= windowSize || n > 1) && (ahead <= farAhead || n >= nearZero):
		s.moved = true
		s.Lost += uint64(ahead) - 1
		s.shift(int(min(ahead, windowSize)))
		s.mark(0)
		s.highest = n
		s.Unique++
	case behind < windowSize:
		s.moved = true
		if s.arrived(int(behind)) {
			s.Duplicate++
			break
		}
		s.mark(int(behind))
		s.Unique++
		s.Reordered++
		if s.Lost > 0 { // it is 0 for a number from before the first one
			s.Lost--
		}
	case n <= 1 || s.suspects && n == s.resume:
		s.moved = true
		s.Restarted++
		unsure := s.suspects && n == s.resume
		s.start(n)
		if unsure {
			// The report before was the first of the new sequence; it had been taken for a late one.
			s.mark(1)
			s.Reordered--
		}
	default:
		// Far behind: the first report after a restart, or one that is very late. The next one tells.
		s.Unique++
		s.Reordered++
		s.suspects, s.resume = true, (n+1)&mask
		return
	}
	s.suspects = false
}

func (s *sequence) start(n uint32) {
	s.highest = n
	s.window = [windowWords]uint64{}
	s.mark(0)
	s.Unique++
}

// stuck reports whether the numbers do not count at all.
func (s *sequence) stuck() bool { return !s.moved && s.Duplicate >= 3 }

func (s *sequence) arrived(back int) bool { return s.window[back/64]&(1<<(back%64)) != 0 }

func (s *sequence) mark(back int) { s.window[back/64] |= 1 << (back % 64) }

// shift makes the window look by places further ahead.
func (s *sequence) shift(by int) {
	words, bits := by/64, by%64
	for i := windowWords - 1; i >= 0; i-- {
		var w uint64
		if i-words >= 0 {
			w = s.window[i-words] << bits
		}
		if bits > 0 && i-words-1 >= 0 {
			w |= s.window[i-words-1] >> (64 - bits)
		}
		s.window[i] = w
	}
}
