package ledger

import "math/bits"

// A rival is a run of numbers that is far from the current one: what comes after a restart or a long outage, or old
// reports that somebody sends again. Its numbers count as duplicates as long as it is one.
//
// Three things tell them apart. A restart goes on in order; old reports at random do not. After a restart the run
// before does not go on, but for a few reports that were overtaken. And what goes on beside the current run for a while
// is another sender, or the contents of a capture; then the current run must be silent for long before it is replaced.
type rival struct {
	highest uint32
	seen    uint64 // numbers that the runs had when this one took its latest
	window  uint64 // bit i: highest-i arrived
	span    uint64 // from the lowest to the highest
	arrived uint64 // different numbers; 0: there is no rival here
	fresh   uint64 // of these, those that were counted as duplicates in the interval that is open
	beside  uint32 // how often one of the runs went on in between, up to besideMost
	row     uint32 // different numbers since then
	tight   uint32 // the latest of these that are in order, with little missing in between
	length  uint32 // how far these lead
	split   bool   // they do not begin where the rival does
}

const (
	rivalWindow = 64
	// A rival takes over after so many numbers in order between which at most tightNext are missing, else after
	// looseRow; and after besideRow if the current run went on besideMost times in between, or more often.
	tightRow, looseRow, besideRow = 4, 16, windowSize
	tightNext, besideMost         = 4, 4
	// A takeover was an error if the run before goes on by so many new numbers.
	goneOn = 4
	// A sequence that begins anew with numbers that are still in the window shows by duplicates only: 0 or 1, at least
	// so far behind, and then others that are at most that far from each other.
	anewBehind, anewNext = 8, 4
	// soon is how many numbers a run has of which nobody knows yet that it goes on.
	soon = 64
)

// goesOn reports whether n, which is not the next number of the current run, belongs to the run before it.
func (s *sequence) goesOn(n, ahead, behind uint32, near bool) bool {
	next := (n - s.before.highest) & s.mask()
	if near { // a number of both: only right after a takeover, and only one that is just next
		return s.current.arrived < soon && next-1 < anewNext &&
			(ahead <= windowSize && ahead > anewBehind || behind < windowSize && uint64(behind) >= s.current.span)
	}
	if uint64(behind) < s.current.span-s.current.gap {
		return false // the current run has passed there by now
	}
	back := -next & s.mask()
	return next <= windowSize && (n > 1 || next <= anewBehind) || // 0 and 1 begin something
		back < windowSize && !s.before.has(back) && !s.isAwaited(n)
}

// isAwaited reports whether n is next of a rival that goes on while the runs do not.
func (s *sequence) isAwaited(n uint32) bool {
	for i := range s.rivals {
		r := &s.rivals[i]
		if r.tight > 2 && (n-r.highest-1)&s.mask() < tightNext && r.seen == s.runsHave() {
			return true
		}
	}
	return false
}

// isOld reports whether n, which is ahead of the current run by so much, was a number of the run before as well.
func (s *sequence) isOld(n, ahead uint32) bool {
	return s.hasRun && ahead > rivalWindow && ahead <= windowSize &&
		uint64((s.before.highest-n)&s.mask()) < s.before.span
}

// takeBefore takes a number of the run before the current one.
func (s *sequence) takeBefore(n uint32) {
	arrived := s.before.arrived
	s.take(&s.before, n)
	if s.before.arrived == arrived {
		return
	}
	s.alive = true
	if (n-s.ended-1)&s.mask() > s.mask()/2 { // overtaken
		return
	}
	if s.continued++; s.continued >= goneOn {
		s.revoke()
	}
}

// beginsAnew lets a rival have a number that is in the window of the current run, if it seems to begin anew there.
func (s *sequence) beginsAnew(n, behind uint32) bool {
	if behind < anewBehind {
		return false
	}
	old := s.current.has(behind) || uint64(behind) >= s.current.span && s.current.span >= rivalWindow
	for i := range s.rivals {
		r := &s.rivals[i]
		if r.arrived > 0 && (n-r.highest-1)&s.mask() < anewNext && (old || r.tight > 1 && r.seen == s.runsHave()) {
			s.join(i, n)
			return true
		}
	}
	if old && n <= 1 && s.current.arrived >= anewBehind {
		s.newRival(n)
		return true
	}
	return false
}

// rival takes a number that is far from the runs.
func (s *sequence) rival(n uint32) {
	at, nearest := -1, uint32(rivalWindow)
	for i := range s.rivals {
		r := &s.rivals[i]
		next := (n - r.highest - 1) & s.mask()
		switch {
		case r.arrived == 0:
		case next < nearest: // of two, the one that it follows
			at, nearest = i, next
		// 0 and 1 begin something
		case at < 0 && (r.highest-n)&s.mask() < rivalWindow && (n > 1 || r.seen == s.runsHave()):
			at = i
		}
	}
	if at >= 0 {
		s.join(at, n)
		return
	}
	s.astray++
	s.newRival(n)
}

// newRival begins a rival with n, in the place of the one that got least far.
func (s *sequence) newRival(n uint32) {
	i := 1 - s.latest // what took a number last stays
	if other := &s.rivals[s.latest]; other.row < s.rivals[i].row {
		i = s.latest
	}
	s.latest = i
	s.Duplicate++
	s.rivals[i] = rival{seen: s.runsHave()}
	s.rivals[i].begin(n)
}

// join takes a number for a rival, which may take over then.
func (s *sequence) join(i int, n uint32) {
	s.Duplicate++
	s.latest = uint8(i)
	r := &s.rivals[i]
	r.take(n, s.runsHave(), s.mask())
	if r.row >= besideRow || r.beside < besideMost && (r.tight >= tightRow || r.row >= looseRow) {
		s.takeOver(r)
	}
}

func (r *rival) begin(n uint32) {
	*r = rival{
		highest: n, seen: r.seen, beside: r.beside, window: 1, span: 1, arrived: 1, fresh: 1, row: 1, tight: 1,
		length: 1,
	}
}

// runsHave returns how many numbers arrived of the current run and the one before: it changes when one of them goes on.
func (s *sequence) runsHave() uint64 { return s.current.arrived + s.before.arrived }

// take notes a number near the rival; have are the numbers that the runs have.
func (r *rival) take(n uint32, have uint64, mask uint32) {
	ahead, behind := (n-r.highest)&mask, (r.highest-n)&mask
	if between := have - r.seen; between > 0 {
		if behind < rivalWindow && between > besideMost {
			r.beside = 0 // it ended long ago: this is another one
		} else {
			r.beside = min(r.beside+1, besideMost)
		}
		r.seen, r.row, r.tight, r.length, r.split = have, 0, 0, 0, false
		if between > besideMost || r.beside >= besideMost && behind >= rivalWindow {
			r.begin(n) // what came before is no part of a restart, and remains duplicates
			return
		}
	}
	switch {
	case ahead == 0:
	case ahead <= rivalWindow:
		if ahead > tightNext {
			r.tight, r.length, r.split = 0, 1-ahead, true // n is the first of a new stretch
		}
		r.window = r.window<<ahead | 1
		r.highest = n
		r.span += uint64(ahead)
		r.arrived++
		r.fresh++
		r.row++
		r.tight++
		r.length += ahead
	case r.window&(1<<behind) == 0:
		r.window |= 1 << behind
		r.arrived++
		r.row++
		r.span = max(r.span, uint64(behind)+1, r.arrived)
		r.fresh++
	}
}

// cut forgets one or two numbers with which the rival began, if what made it one is somewhere else.
func (r *rival) cut() {
	if !r.split || r.length >= rivalWindow {
		return
	}
	window := r.window & (1<<r.length - 1)
	if n := uint64(bits.OnesCount64(window)); r.arrived <= n+2 {
		r.span, r.window, r.arrived, r.fresh = uint64(r.length), window, n, min(r.fresh, n)
	}
}

// takeOver makes a rival the current run. All its numbers were new ones; those before it are lost, unless it is a
// restart.
func (s *sequence) takeOver(r *rival) {
	mask := s.mask()
	r.cut()
	lowest := (r.highest - uint32(r.span-1)) & mask
	if s.hasRun && (s.alive || s.current.arrived < soon && lowest >= nearZero) {
		s.revoke() // two in a row: the first was an error, or nobody would know the run that goes on
	}
	jump := (lowest - s.current.highest) & mask
	if s.astray > 0 {
		s.astray--
	}
	if jump != 0 && jump <= windowSize {
		s.follow(r, jump)
		return
	}
	s.before, s.hasRun, s.alive, s.continued, s.ended = s.current, true, false, 0, s.current.highest
	s.current = run{highest: r.highest, span: r.span, arrived: r.arrived}
	if s.current.restarted = jump == 0 || jump > mask/2 || jump > farAhead && lowest < nearZero; s.current.restarted {
		s.Restarted++
	} else {
		s.current.gap = uint64(jump - 1)
		s.current.span += s.current.gap
		if s.current.away = s.resumed; s.resumed {
			s.Away += s.current.gap
		}
	}
	s.resumed = false
	s.moved = true
	s.current.sent, s.current.open = s.current.span, s.current.span
	s.current.window[0] = r.window
	for back := uint64(rivalWindow); back < min(r.span, windowSize); back++ {
		s.current.mark(uint32(back)) // nobody knows any more: what is lost there stays lost
	}
	earlier := r.arrived - r.fresh // duplicates of intervals that are closed
	s.current.earlier = earlier
	s.Sent += s.current.sent - earlier
	s.Unique += r.fresh
	s.Duplicate -= r.fresh
	s.revised.sent += int64(earlier)
	s.revised.arrived += int64(earlier)
	*r = rival{}
}

// follow lets the current run go on with a rival that begins ahead by so much.
func (s *sequence) follow(r *rival, ahead uint32) {
	c := &s.current
	if s.resumed {
		s.resumed = false
		s.Away += uint64(ahead) - 1
	}
	earlier := r.arrived - r.fresh
	more := uint64(ahead) - 1 + r.span
	s.Sent += more - earlier
	s.Unique += r.fresh
	s.Duplicate -= r.fresh
	s.revised.sent += int64(earlier)
	s.revised.arrived += int64(earlier)
	c.highest = r.highest
	c.span += more
	c.sent += more
	c.open += more - earlier
	c.arrived += r.arrived
	c.shift(int(min(more, windowSize)))
	c.window[0] |= r.window
	*r = rival{}
}

// revoke undoes the last takeover: the run before goes on, and what took over is a rival, whose numbers are duplicates.
func (s *sequence) revoke() {
	c := &s.current
	undo := revision{sent: int64(c.sent), arrived: int64(c.arrived)}
	if c.restarted {
		undo.restarted = 1
	}
	if c.away {
		undo.away = int64(c.gap)
	}
	i := 1 - s.latest
	r := &s.rivals[i]
	*r = rival{
		highest: c.highest, window: c.window[0], span: max(c.sent-c.gap, c.arrived), arrived: c.arrived,
		seen: s.before.arrived, beside: besideMost,
	}
	s.latest = i
	if c.open == c.span { // it took over in the interval that is open
		r.fresh = c.arrived - c.earlier
		s.Sent -= c.sent - c.earlier
		s.Unique -= r.fresh
		s.Duplicate += r.fresh
		s.Away -= uint64(undo.away)
		s.Restarted -= uint64(undo.restarted)
		undo = revision{sent: int64(c.earlier), arrived: int64(c.earlier)}
	}
	s.revised = s.revised.minus(undo)
	s.current, s.before, s.hasRun = s.before, run{}, false
}
