package flowsample

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A rule is what the sequence numbers of a domain may count. Exporters of IPFIX differ in it, and some of NetFlow 9.
type rule uint8

const (
	recordsBefore rule = iota // data records before the message, as it should be in IPFIX (RFC 7011 §3.1)
	flowsBefore               // the same without those of options
	recordsUpTo               // data records up to its end
	flowsUpTo                 // the same without those of options, as softflowd does
	messages                  // as it should be in NetFlow 9 (RFC 3954 §5.1)
	noRule                    // that is not known
)

const (
	// known is how many messages in a row must fit a rule, and not another one, before it is believed.
	known = 8
	// doubted is after how many in a row that fit another rule, and not the one that is believed, that is in doubt. One
	// that is alike is believed then: options are rare.
	doubted = 3
	// alien is after how many in a row that fit no rule the one that was believed is given up.
	alien = 256

	maxGaps   = 64 // ranges of missing records that are remembered, to take late messages for what they are
	maxRecent = 64 // messages that are remembered, to know those that come again

	// near is how many records may be missing in front of a message that is believed by itself. Where there are more,
	// it begins anew unless confirmed messages in a row say so, and of more than far it does anyway.
	near, far = 1 << 16, 1 << 24
	confirmed = 3
)

// A tally is what the account of a domain needs of a message.
type tally struct {
	number         uint32
	timeS          uint32 // of the export
	records, flows uint32 // data records; of these, those that are not of options
	uncounted      bool   // there may be more of them: a template was missing, or the message is damaged
}

// fits reports whether a message with the number of b is what follows a.
func (r rule) fits(a, b *tally) bool {
	step := b.number - a.number
	switch r {
	case recordsBefore:
		return step == a.records
	case flowsBefore:
		return step == a.flows
	case recordsUpTo:
		return step == b.records
	case flowsUpTo:
		return step == b.flows
	case messages:
		return step == 1
	}
	return false
}

// span returns the numbers of the records in a message, from first to in front of end. Of one whose records could not
// be counted, the end says nothing where numbers count what was before, and else first says nothing.
func (r rule) span(t *tally) (first, end uint32) {
	switch r {
	case recordsBefore:
		return t.number, t.number + t.records
	case flowsBefore:
		return t.number, t.number + t.flows
	case recordsUpTo:
		return t.number - t.records, t.number
	}
	return t.number - t.flows, t.number
}

func (r rule) upTo() bool { return r == recordsUpTo || r == flowsUpTo }

// alike reports whether both rules give records the same numbers, but for those behind options.
func (r rule) alike(b rule) bool { return r < messages && b < messages && r.upTo() == b.upTo() }

// An account of a domain finds out what its sequence numbers count, and if that is records, how many are missing.
//
// What follows a message whose records could not be counted, for want of a template, says how many records it had, if
// nothing was lost in between; so nothing is said to be lost there.
type account struct {
	rule    rule
	lost    bool // a rule was believed, and numbers do not fit it any more
	heard   bool
	last    tally       // the message with the highest number
	stray   tally       // the latest with a lower one, to see a restart
	strays  int         // such messages that follow each other
	fit     [noRule]int // how many messages in a row fit a rule, and not that which is believed, or not all
	aliens  int         // how many in a row fit none
	since   int64       // records that were said to be missing since the rule did fit
	records recordSpans
}

// newAccount returns the account of a domain. The numbers of NetFlow 9 are taken for what they should be.
func newAccount(version uint16) *account {
	if version == 9 {
		return &account{rule: messages}
	}
	return &account{rule: noRule}
}

// observe takes a message. It returns how many records are missing beyond those that were already, and whether it came
// before; restarted says that the numbers began anew.
func (a *account) observe(t *tally) (missing int64, repeated, restarted bool) {
	missing = a.learn(t)
	if a.rule < messages {
		var more int64
		more, repeated, restarted = a.records.take(a.rule, t)
		missing += more
		a.since += more
	}
	return missing, repeated, restarted
}

// counting says what is known of the numbers.
func (a *account) counting() telemetry.Counting {
	switch {
	case a.rule == noRule && a.lost || a.rule != noRule && slices.Max(a.fit[:]) >= doubted:
		return telemetry.CountsChanged
	case a.rule == noRule:
		return telemetry.CountsUnsettled
	case a.rule == messages:
		return telemetry.CountsDatagrams
	}
	return telemetry.CountsRecords
}

// learn compares the number of a message with that of the one before. If another rule is believed now, it returns what
// is to be taken back of what is missing.
func (a *account) learn(t *tally) (missing int64) {
	if !a.heard {
		a.heard, a.last = true, *t
		return 0
	}
	last := a.last
	switch step := int32(t.number - last.number); {
	case step < 0: // late, again, or anew
		if a.strays > 0 && follows(&a.stray, t) {
			a.strays++
		} else {
			a.strays = 1
		}
		if a.stray = *t; a.strays >= confirmed {
			a.strays, a.last = 0, *t
		}
		return 0
	case step == 0 && t.records == last.records && t.timeS == last.timeS && t.flows > 0: // again
		return 0
	}
	a.strays, a.last = 0, *t
	if last.uncounted || t.uncounted {
		return 0
	}
	var fits [noRule]bool
	n := 0
	for r := range noRule {
		if fits[r] = r.fits(&last, t); fits[r] {
			n++
		}
	}
	switch n {
	case 0:
		a.aliens++
		if a.aliens >= alien && a.rule < messages { // of messages the ledger judges
			a.rule, a.lost = noRule, true
		}
		for r := range noRule {
			if !a.rule.alike(r) {
				a.fit[r] = 0
			}
		}
		return 0
	case int(noRule):
		a.since, a.aliens = 0, 0
		return 0
	}
	a.aliens = 0
	is := a.rule != noRule && fits[a.rule] // the one that is believed
	if is {
		a.since = 0
	}
	best := recordsBefore
	for r := range noRule {
		switch {
		case !fits[r]:
			a.fit[r] = 0
		case !is:
			a.fit[r]++
		}
		if a.fit[r] > a.fit[best] {
			best = r
		}
	}
	if a.fit[best] >= known || a.fit[best] >= doubted && a.rule.alike(best) {
		return a.believe(best, &last)
	}
	return 0
}

// follows reports whether b may be what follows a, whatever is counted.
func follows(a, b *tally) bool {
	for r := range noRule {
		if r.fits(a, b) {
			return true
		}
	}
	return false
}

// believe begins to count by a rule; last is the message before. It returns what is to be taken back of what was
// missing.
func (a *account) believe(r rule, last *tally) (missing int64) {
	if a.rule.alike(r) {
		_, a.records.next = r.span(last) // all that came and is missing has the same numbers
	} else {
		missing = -a.since
		a.records = recordSpans{}
		if r < messages {
			a.records.take(r, last)
		}
	}
	a.rule, a.lost, a.since, a.fit = r, false, 0, [noRule]int{}
	return missing
}

// recordSpans is which records of a domain came. Records have numbers, modulo 2^32; a span of them is from first to in
// front of end.
type recordSpans struct {
	begun  bool
	open   bool   // the latest message has the number next, and nobody knows how many records
	next   uint32 // of the record behind the latest one
	gaps   []span // missing, the oldest first
	recent [maxRecent]recentMessage
	seen   int // messages, those that are in recent too

	rival       span // records of the latest messages, which are far from all others
	rivals      int  // messages of it
	before      uint32
	beforeUntil int // of seen: until then, a message with the number before says that nothing began anew
}

type span struct{ first, end uint32 }

type recentMessage struct{ number, timeS, records, flows uint32 }

// take takes a message; see account.observe.
func (s *recordSpans) take(r rule, t *tally) (missing int64, repeated, restarted bool) {
	first, end := r.span(t)
	if !s.begun {
		s.begun, s.next = true, end
		if t.uncounted {
			s.next, s.open = t.number, !r.upTo()
		}
		s.note(t)
		return 0, false, false
	}
	if t.uncounted {
		missing, repeated = s.takeUncounted(r, t)
		return missing, repeated, false
	}
	switch ahead := first - s.next; {
	case ahead == 0: // nearly always
		s.next, s.open, s.rivals = end, s.open && first == end, 0 // an empty one may be of before
	case s.seen < s.beforeUntil && first == s.before:
		s.next, s.open, s.rivals, s.beforeUntil = end, false, 0, 0
	case ahead <= near:
		missing = s.miss(first)
		s.next, s.open, s.rivals = end, false, 0
	case first == end: // an empty one tells of nothing behind
		return 0, false, false
	case s.found(first, end):
		missing = -int64(end - first)
	case s.again(t):
		return 0, true, false
	case s.isLate(first):
		if int32(end-s.next) > 0 { // what was behind options counts as it should not
			s.next, s.rivals = end, 0
		}
	default:
		if missing, restarted = s.stray(first, end); s.rivals > 0 {
			return 0, false, false
		}
	}
	s.note(t)
	return missing, false, restarted
}

// takeUncounted takes a message with more records than were counted.
func (s *recordSpans) takeUncounted(r rule, t *tally) (missing int64, repeated bool) {
	if s.again(t) {
		return 0, true
	}
	switch ahead := t.number - s.next; {
	case ahead > near:
		if missing = s.shrink(r, t.number); missing == 0 && !s.isLate(t.number) {
			return 0, false
		}
	case r.upTo() && ahead == 0:
		missing = s.shrink(r, t.number)
	case r.upTo():
		s.next, s.rivals = t.number, 0
	default:
		missing = s.miss(t.number)
		s.next, s.open, s.rivals = t.number, true, 0
	}
	s.note(t)
	return missing, false
}

// miss notes that the records in front of first are missing, unless they may be those of the message before.
func (s *recordSpans) miss(first uint32) int64 {
	if s.open || first == s.next {
		return 0
	}
	s.insert(len(s.gaps), span{s.next, first})
	return int64(first - s.next)
}

// insert adds a gap at a place; the oldest gives way.
func (s *recordSpans) insert(i int, g span) {
	if len(s.gaps) == maxGaps {
		s.gaps = slices.Delete(s.gaps, 0, 1)
		i--
	}
	s.gaps = slices.Insert(s.gaps, i, g)
}

// found takes records that were missing out of the gaps.
func (s *recordSpans) found(first, end uint32) bool {
	for i, g := range s.gaps {
		if first-g.first >= g.end-g.first || end-g.first > g.end-g.first {
			continue
		}
		switch {
		case first == g.first && end == g.end:
			s.gaps = slices.Delete(s.gaps, i, i+1)
		case first == g.first:
			s.gaps[i].first = end
		default:
			if s.gaps[i].end = first; end != g.end {
				s.insert(i+1, span{end, g.end})
			}
		}
		return true
	}
	return false
}

// shrink takes out of a gap what a late message with so many records as nobody knows may have had.
func (s *recordSpans) shrink(r rule, number uint32) int64 {
	for i, g := range s.gaps {
		switch in := number - g.first; {
		case in > g.end-g.first: // it is not in there
		case r.upTo() && in > 0:
			s.gaps[i].first = number
			return -int64(in)
		case !r.upTo() && number != g.end:
			s.gaps[i].end = number
			return -int64(g.end - number)
		}
	}
	return 0
}

// note remembers a message.
func (s *recordSpans) note(t *tally) {
	s.recent[s.seen%maxRecent] = recentMessage{t.number, t.timeS, t.records, t.flows}
	s.seen++
}

// again reports whether a message came before. One without flows does no harm, and may have the number of others.
func (s *recordSpans) again(t *tally) bool {
	if t.flows == 0 {
		return false
	}
	for i := range min(s.seen, maxRecent) {
		if s.recent[i] == (recentMessage{t.number, t.timeS, t.records, t.flows}) {
			return true
		}
	}
	return false
}

// isLate reports whether a message that is missing nowhere has its place among those that are remembered, so that the
// numbers did not begin anew with it.
func (s *recordSpans) isLate(first uint32) bool {
	oldest := s.recent[0]
	if s.seen >= maxRecent {
		oldest = s.recent[s.seen%maxRecent]
	}
	return first != 0 && s.next-first <= s.next-oldest.number
}

// stray takes a message that is far from the others. It may be an old one. If others follow it, or its records are the
// first ones, the numbers began anew; or so many were lost.
func (s *recordSpans) stray(first, end uint32) (missing int64, restarted bool) {
	if s.rivals > 0 && first == s.rival.end {
		s.rivals++
		s.rival.end = end
	} else {
		s.rivals, s.rival = 1, span{first, end}
	}
	switch {
	case s.rivals < confirmed && first != 0:
		return 0, false
	case s.rival.first-s.next < far && first != 0:
		missing = s.miss(s.rival.first)
	default:
		s.gaps, s.seen, restarted = s.gaps[:0], 0, true
		s.before, s.beforeUntil = s.next, maxRecent
	}
	s.next, s.open, s.rivals = s.rival.end, false, 0
	return missing, restarted
}
