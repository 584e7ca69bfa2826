package analyze

// A sequence follows the sequence numbers of one exporter and accounts for what did not arrive (TR 2.0 §3.2). A number that
// is skipped is lost until it arrives late, one that is seen twice is a duplicate. Numbers are compared modulo their width
// (22 or 32 bits).
//
// A number that is far from all that came before changes nothing by itself: it may be the first after a long outage or after
// a restart, or one that is very late. Until the number after it tells, it counts as a duplicate. After a restart, numbers
// of the time before it may still come; they are looked for in the run before.
//
// Sent = Unique + what is lost, and Unique + Duplicate = the numbers that were observed, at any time. All counters grow only,
// but for Duplicate: a number that is no duplicate after all is taken back, if no interval was closed in between.
type sequence struct {
	bits    uint8
	started bool
	moved   bool // a second number was taken
	current run
	before  run    // the one before the last restart
	since   uint32 // numbers that current took since then; beyond windowSize nobody looks at before any more
	hasRun  bool   // before is one
	suspect suspect
	resumed bool // nothing came since the state was restored

	Sent      uint64 // how far the numbers advanced
	Unique    uint64 // different numbers that arrived
	Late      uint64 // of these, numbers that were lost when their interval was closed
	Away      uint64 // numbers that went by while nobody received
	Reordered uint64
	Duplicate uint64
	Restarted uint64
	astray    uint64 // suspects that no further number confirmed
}

// A run is a stretch of numbers without a restart.
type run struct {
	highest uint32              // the newest number
	span    uint64              // from the lowest to the highest
	open    uint64              // of these, the newest that belong to the interval that is open
	window  [windowWords]uint64 // bit i: highest-i arrived
}

// A suspect is a number far from all others.
type suspect struct {
	number uint32
	left   uint8 // observations until it is forgotten; 0: there is none
	fresh  bool  // it was counted as a duplicate in the interval that is open
}

const (
	windowWords = 16
	// windowSize is how late a report may be and still be recognised as reordered.
	windowSize = 64 * windowWords
	// A jump ahead of more than farAhead that lands below nearZero is a restart, not a loss of that many reports.
	farAhead = 1 << 16
	nearZero = 1 << 10
	// A number that confirms a suspect must come within so many observations.
	suspectFor = 16
	// A sequence that begins anew with numbers that are still in the window shows by duplicates only: 0 or 1, at least so
	// far behind, and then another one that is at most that far from it.
	anewBehind, anewNext = 8, 4
)

func (s *sequence) observe(n uint32) {
	if !s.started {
		s.started = true
		s.begin(n, true)
		return
	}
	if s.suspect.left > 0 {
		if s.judge(n) {
			return
		}
		s.suspect.left--
	}
	mask := s.mask()
	ahead, behind := (n-s.current.highest)&mask, (s.current.highest-n)&mask
	switch {
	case ahead == 1: // nearly always
		s.advance(&s.current, n, 1)
	case ahead == 0:
		s.Duplicate++
	case s.isBefore(n, ahead, behind):
		s.current, s.before = s.before, s.current
		s.since = 0
		s.take(&s.current, n)
	case ahead <= windowSize || behind < windowSize:
		duplicates := s.Duplicate
		s.take(&s.current, n)
		if s.Duplicate > duplicates && n <= 1 && behind >= anewBehind && s.suspect.left == 0 {
			s.suspect = suspect{number: n, left: 1, fresh: true}
		}
	case n <= 1:
		s.restart(n, true)
	default:
		s.Duplicate++
		s.astray++
		s.suspect = suspect{number: n, left: suspectFor, fresh: true}
	}
}

func (s *sequence) mask() uint32 { return ^uint32(0) >> (32 - s.bits) }

// isBefore reports whether n, which is not the next number, goes on with the run before the last restart.
func (s *sequence) isBefore(n, ahead, behind uint32) bool {
	if !s.hasRun || s.since > windowSize {
		return false
	}
	next := (n - s.before.highest) & s.mask()
	if ahead <= windowSize || behind < windowSize {
		return next == 1 && ahead > anewBehind && behind > anewBehind
	}
	return next <= windowSize || (s.before.highest-n)&s.mask() < windowSize
}

// judge decides what the suspect was if n tells, and takes n then.
func (s *sequence) judge(n uint32) bool {
	mask := s.mask()
	x := s.suspect
	ahead, behind := (n-s.current.highest)&mask, (s.current.highest-n)&mask
	jump := (x.number - s.current.highest) & mask
	if away := -jump & mask; away < windowSize { // two duplicates, of the first numbers
		if after := (n - x.number) & mask; after == 0 || after > anewNext || behind >= windowSize || !s.current.arrived(behind) {
			return false
		}
		s.trust()
		s.restart(x.number, x.fresh)
		s.take(&s.current, n)
		return true
	}
	near := (n-x.number)&mask < windowSize || (x.number-n)&mask < windowSize
	if !near || n == x.number || ahead <= windowSize || behind < windowSize {
		return false
	}
	s.trust()
	s.astray--
	switch {
	case jump > mask/2 || jump > farAhead && x.number < nearZero:
		s.restart(x.number, x.fresh)
	case x.fresh:
		s.advance(&s.current, x.number, jump)
	default:
		s.skip(&s.current, x.number, jump)
	}
	s.take(&s.current, n)
	return true
}

// trust ends the suspicion: the number was no duplicate.
func (s *sequence) trust() {
	if s.suspect.fresh {
		s.Duplicate--
	}
	s.suspect = suspect{}
}

// restart begins a new run with n, which is new, or was counted as a duplicate in an interval that is closed.
func (s *sequence) restart(n uint32, isNew bool) {
	s.Restarted++
	s.moved = true
	s.before, s.hasRun, s.since = s.current, true, 0
	s.begin(n, isNew)
}

// begin makes n the first number of the current run.
func (s *sequence) begin(n uint32, isNew bool) {
	s.resumed = false
	s.current = run{highest: n, span: 1}
	s.current.mark(0)
	if isNew {
		s.current.open = 1
		s.Sent++
		s.Unique++
	}
}

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
	case r.arrived(behind):
		s.Duplicate++
		return
	case uint64(behind) >= r.span: // from before the first
		more := uint64(behind) + 1 - r.span
		s.Sent += more
		if r.open == r.span {
			r.open += more
		}
		r.span += more
	case uint64(behind) >= r.open:
		s.Late++
	}
	s.moved = true
	r.mark(behind)
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
	r.shift(int(min(ahead, windowSize)))
	r.mark(0)
	r.highest = n
	if s.since <= windowSize {
		s.since++
	}
}

// skip is advance for a number that was counted as a duplicate in an interval that is closed: it stays one, and is neither
// sent nor lost.
func (s *sequence) skip(r *run, n, ahead uint32) {
	s.advance(r, n, ahead)
	s.Sent--
	s.Unique--
}

// lost returns how many numbers are missing. It falls when one of them arrives late.
func (s *sequence) lost() uint64 { return s.Sent - s.Unique }

// close ends the interval that is open: what it counted stays as it is.
func (s *sequence) close() {
	s.current.open, s.before.open = 0, 0
	s.suspect.fresh = false
}

// stuck reports whether the numbers do not count at all.
func (s *sequence) stuck() bool { return !s.moved && s.astray == 0 && s.Duplicate >= 3 }

// wild reports whether the numbers follow no order: most are far from all that came before.
func (s *sequence) wild() bool { return s.astray >= 8 && s.astray > s.Unique }

func (r *run) arrived(back uint32) bool { return r.window[back/64]&(1<<(back%64)) != 0 }

func (r *run) mark(back uint32) { r.window[back/64] |= 1 << (back % 64) }

// shift makes the window look by places further ahead.
func (r *run) shift(by int) {
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
