package ledger

// A sequence follows the sequence numbers of one exporter and accounts for what did not arrive (TR 2.0 §3.2). A number
// that is skipped is lost until it arrives late, one that is seen twice is a duplicate. Numbers are compared modulo
// their width (22 or 32 bits).
//
// A number that is far from all that came before changes nothing by itself. It may be the first after a long outage or
// after a restart, or an old one that somebody sends again. So it counts as a duplicate, and begins a rival of the
// current run. A rival takes over when it advances in order while the current run has stopped, and all of it is counted
// then. If the run before goes on after all, that was an error, and all of it is duplicates again. See
// sequence_rival.go.
//
// Sent = Unique + what is lost, and Unique + Duplicate = the numbers that were observed, at any time. What intervals
// that are closed have counted is not changed: what is known better now is in revised, and to be added.
type sequence struct {
	bits      uint8
	started   bool
	moved     bool // a second number was taken
	hasRun    bool // before is one
	resumed   bool // nothing came since the state was restored
	latest    uint8
	alive     bool  // numbers of before came since
	continued uint8 // numbers by which before went on since
	current   run
	before    run    // the one before the last takeover
	ended     uint32 // the highest number of before then
	rivals    [2]rival

	Sent      uint64 // how far the numbers advanced
	Unique    uint64 // different numbers that arrived
	Late      uint64 // of these, numbers that were lost when their interval was closed
	Away      uint64 // numbers that went by while nobody received
	Reordered uint64
	Duplicate uint64
	Restarted uint64
	revised   revision
	astray    uint64 // far numbers that no further number confirmed
}

// A revision is what has to be added to what closed intervals have counted. What was taken for a duplicate and arrived
// is in arrived, and is to be taken off the duplicates.
type revision struct{ sent, arrived, away, restarted int64 }

func (r revision) plus(b revision) revision {
	return revision{r.sent + b.sent, r.arrived + b.arrived, r.away + b.away, r.restarted + b.restarted}
}

func (r revision) minus(b revision) revision {
	return revision{r.sent - b.sent, r.arrived - b.arrived, r.away - b.away, r.restarted - b.restarted}
}

// A run is a stretch of numbers without a restart.
type run struct {
	highest   uint32 // the newest number
	restarted bool   // it was a restart that began it
	away      bool   // gap went by while nobody received
	gap       uint64 // of span, the numbers lost before its first
	span      uint64 // from the lowest to the highest
	sent      uint64 // span, and the numbers from before it that came later
	arrived   uint64
	earlier   uint64              // of these, those that closed intervals have as duplicates
	open      uint64              // of span, the newest that belong to the interval that is open
	window    [windowWords]uint64 // bit i: highest-i arrived
}

const (
	windowWords = 16
	// windowSize is how late a report may be and still be recognised as reordered.
	windowSize = 64 * windowWords
	// A jump ahead of more than farAhead that lands below nearZero is a restart, not a loss of that many reports.
	farAhead = 1 << 16
	nearZero = 1 << 10
)

// observe takes the next number. It returns true for one that came before, or is far from all others and goes on with
// none: but the first ones after a start are of the time in which nobody received.
func (s *sequence) observe(n uint32) bool {
	if !s.started {
		s.started = true
		s.current = run{highest: n, span: 1, sent: 1, arrived: 1, open: 1}
		s.current.mark(0)
		s.Sent, s.Unique = 1, 1
		return false
	}
	ahead := (n - s.current.highest) & s.mask()
	if ahead == 1 { // nearly always
		s.advance(&s.current, n, 1)
		return false
	}
	before, resumed := s.Duplicate, s.resumed
	s.place(n, ahead)
	r := &s.rivals[s.latest]
	return s.Duplicate > before && !resumed && !(r.highest == n && r.tight > 1)
}

// place takes a number that is not the next one.
func (s *sequence) place(n, ahead uint32) {
	behind := -ahead & s.mask()
	near := ahead <= windowSize || behind < windowSize
	switch {
	case ahead == 0:
		s.Duplicate++
	case s.hasRun && s.goesOn(n, ahead, behind, near):
		s.takeBefore(n)
	case !near || s.isOld(n, ahead):
		s.rival(n)
	case behind < windowSize && s.beginsAnew(n, behind):
	default:
		s.take(&s.current, n)
	}
}

func (s *sequence) mask() uint32 { return ^uint32(0) >> (32 - s.bits) }

// take accounts for a number in the window of r or up to windowSize ahead of it.
func (s *sequence) take(r *run, n uint32) {
	mask := s.mask()
	ahead := (n - r.highest) & mask
	if ahead != 0 && ahead <= windowSize {
		s.advance(r, n, ahead)
		return
	}
	behind := (r.highest - n) & mask
	switch {
	case r.has(behind):
		s.Duplicate++
		return
	case uint64(behind) >= r.span: // from before the first: what else there was before it, nobody knows
		s.Sent++
		r.sent++
	case uint64(behind) >= r.open:
		s.Late++
	}
	s.moved = true
	r.mark(behind)
	r.arrived++
	s.Unique++
	s.Reordered++
}

// advance makes n, ahead by so much, the newest number of r.
func (s *sequence) advance(r *run, n, ahead uint32) {
	s.moved = true
	if s.resumed {
		s.resumed = false
		s.Away += uint64(ahead) - 1
	}
	s.Sent += uint64(ahead)
	s.Unique++
	r.open += uint64(ahead)
	r.span += uint64(ahead)
	r.sent += uint64(ahead)
	r.arrived++
	r.shift(int(min(ahead, windowSize)))
	r.mark(0)
	r.highest = n
}

// orderly reports whether numbers are seldom the same, so that one that is says that the report came before.
func (s *sequence) orderly() bool { return s.Unique >= windowSize && s.Duplicate < s.Unique/8 }

// lost returns how many numbers are missing. It falls when one of them arrives late, or was none after all.
func (s *sequence) lost() uint64 {
	return s.Sent + uint64(s.revised.sent) - s.Unique - uint64(s.revised.arrived)
}

// close ends the interval that is open: what it counted stays as it is.
func (s *sequence) close() {
	s.current.open, s.before.open = 0, 0
	for i := range s.rivals {
		s.rivals[i].fresh = 0
	}
}

// stuck reports whether the numbers do not count at all.
func (s *sequence) stuck() bool { return !s.moved && s.astray == 0 && s.Duplicate >= 3 }

// wild reports whether the numbers follow no order: most are far from all that came before.
func (s *sequence) wild() bool {
	return s.astray >= 8 && s.astray > s.Unique+uint64(s.revised.arrived)
}

func (r *run) has(back uint32) bool { return r.window[back/64]&(1<<(back%64)) != 0 }

func (r *run) mark(back uint32) { r.window[back/64] |= 1 << (back % 64) }

// shift makes the window look by places further ahead.
func (r *run) shift(by int) {
	if by == 1 {
		carry := uint64(0)
		for i := range r.window {
			r.window[i], carry = r.window[i]<<1|carry, r.window[i]>>63
		}
		return
	}
	words, bits := by/64, by%64
	for i := windowWords - 1; i >= 0; i-- {
		var w uint64
		if i-words >= 0 {
			w = r.window[i-words] << bits
		}
		if bits > 0 && i-words-1 >= 0 {
			w |= r.window[i-words-1] >> (64 - bits)
		}
		r.window[i] = w
	}
}
