package watch

import (
	"cmp"
	"errors"
	"slices"
)

// A List is a compiled watchlist. It does not change and may be used by many goroutines.
type List struct {
	ipv4, ipv6 []table
	actions    []*Action // by rank; nil: ignore the packet
}

// Compile checks the entries and makes a List of them. It keeps no reference to them. The error joins
// an EntryError for each entry that breaks a rule. 10,000 entries take a second or less.
func Compile(entries []Entry) (*List, error) {
	var errs []error
	order := make([]int, len(entries))
	for i := range entries {
		order[i] = i
		if err := entries[i].check(); err != nil {
			errs = append(errs, &EntryError{i, entries[i].Name, err})
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(entries[b].Priority, entries[a].Priority) })

	l := &List{actions: make([]*Action, len(entries))}
	var rules4, rules6 []rule
	for rank, i := range order {
		e := &entries[i]
		if !e.Ignore {
			l.actions[rank] = &Action{
				Entry: i, Instructions: e.Instructions, Mode: e.Mode,
				Sample: max(e.Sample, 1), Sampling: e.Sampling, ReportAll: e.ReportAll,
			}
		}
		r, ipv4, ipv6 := newRule(e, uint32(rank))
		if ipv4 {
			rules4 = append(rules4, r)
		}
		if ipv6 {
			rules6 = append(rules6, r)
		}
	}
	l.ipv4, l.ipv6 = tables(rules4, false), tables(rules6, true)
	return l, nil
}

// Len returns the number of entries.
func (l *List) Len() int { return len(l.actions) }

// Match returns the action of the entry that counts for k, and whether there is one that does not say to ignore it. The
// Action is part of l: it must not be changed.
func (l *List) Match(k *Key) (*Action, bool) {
	var w words
	ipv4 := k.pack(&w)
	tables := l.ipv6
	if ipv4 {
		tables = l.ipv4
	}
	best := noRank
	for i := range tables {
		if tables[i].best >= best {
			break // and so are all that follow
		}
		best = tables[i].find(&w, !ipv4, best)
	}
	if best == noRank || l.actions[best] == nil {
		return nil, false
	}
	return l.actions[best], true
}
