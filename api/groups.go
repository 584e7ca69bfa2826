package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// Groups are what is counted of events, bursts and the ledger of exporters that have something in common: what the
// parameter group_by names. What was not asked for is nil. The tags are those of records; they are also for lists of
// now.

// isGrouped reports whether p asks for groups rather than for items.
func (p *params) isGrouped() bool { return p.values.Has("group_by") || p.values.Has("interval") }

// A groupKey is a field of a group that can be grouped by.
type groupKey struct {
	name  string
	usual bool
	index int
}

// groupKeys are those of a type.
func groupKeys(of reflect.Type) []groupKey {
	var keys []groupKey
	for i := range of.NumField() {
		tag := of.Field(i).Tag
		if tag.Get("group") != "" {
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			keys = append(keys, groupKey{name, tag.Get("group") == "default", i})
		}
	}
	return keys
}

// groupBy returns the keys that the parameter group_by names; the usual ones without it, none if it is empty.
func (p *params) groupBy(of reflect.Type) []groupKey {
	keys := groupKeys(of)
	text, given := p.text("group_by")
	if !given {
		return slices.DeleteFunc(slices.Clone(keys), func(k groupKey) bool { return !k.usual })
	}
	var by []groupKey
	if text == "" {
		return by
	}
	for given := range strings.SplitSeq(text, ",") {
		name := apiName(of, strings.TrimSpace(given))
		i := slices.IndexFunc(keys, func(k groupKey) bool { return k.name == name })
		if i < 0 || slices.ContainsFunc(by, func(k groupKey) bool { return k.name == name }) {
			all := make([]string, len(keys))
			for i, k := range keys {
				all[i] = k.name
			}
			p.reject("group_by", strings.Join(all, ", ")+", with commas between them", "group_by has %q", given)
			return nil
		}
		by = append(by, keys[i])
	}
	return by
}

// grouped lists the groups of items of now, those with the most items first. begin makes the group of an item with all
// its keys, and add counts the item; items are asked for when the query has no problem.
func grouped[T, G any](h *handler, p *params, items func() []T, begin func(*T) G, add func(*G, *T)) (answer,
	*types.Problem,
) {
	of := reflect.TypeFor[G]()
	s := &selection[G]{name: p.list, limit: p.limit(), order: p.ordering(of), at: p.place(h.cfg.Now())}
	by := p.groupBy(of)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	type group struct {
		key string
		of  G
		n   int
	}
	found := map[string]*group{}
	all := items()
	for i := range all {
		g := begin(&all[i])
		onlyKeys(reflect.ValueOf(&g).Elem(), by)
		text, err := json.Marshal(g)
		if err != nil {
			return answer{},
				types.NewProblem(http.StatusInternalServerError, "what items have in common cannot be read: %v", err)
		}
		key := string(text)
		if found[key] == nil {
			found[key] = &group{key: key, of: g}
		}
		found[key].n++
		add(&found[key].of, &all[i])
	}
	list := make([]*group, 0, len(found))
	for _, g := range found {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.key, b.key)) })
	groups := make([]G, len(list))
	for i, g := range list {
		groups[i] = g.of
	}
	return s.answer(groups), nil
}

// onlyKeys forgets the keys of a group that are not asked for, and names of nodes that are not.
func onlyKeys(group reflect.Value, by []groupKey) {
	of := group.Type()
	asked := map[string]bool{}
	for _, k := range by {
		asked[of.Field(k.index).Name] = true
	}
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Tag.Get("group") != "" && !asked[f.Name] || f.Tag.Get("node") != "" && !asked[f.Tag.Get("node")] {
			group.Field(i).SetZero()
		}
	}
}

// more adds to a counter of a group, which is nil before the first.
func more[N int64 | uint64](to **N, n N) {
	if *to == nil {
		*to = new(N)
	}
	**to += n
}

// most keeps the largest.
func most[N int64 | uint64](to **N, n N) {
	if *to == nil || **to < n {
		*to = &n
	}
}

// between keeps the first and the latest time.
func between(first, last **time.Time, at time.Time) {
	at = at.UTC()
	if *first == nil || at.Before(**first) {
		*first = &at
	}
	if *last == nil || at.After(**last) {
		*last = &at
	}
}

func newEventGroup(e *telemetry.Event) types.EventGroup {
	return types.EventGroup{Node: e.Node, Name: e.Name, Kind: &e.Kind, Severity: &e.Severity}
}

func addEvent(g *types.EventGroup, e *telemetry.Event) {
	more(&g.Events, 1)
	more(&g.Count, e.Count)
	more(&g.Open, map[bool]uint64{true: 1}[e.End == nil])
	between(&g.First, &g.Last, e.Start)
}

func newBurstGroup(b *telemetry.Burst) types.BurstGroup {
	return types.BurstGroup{Node: &b.Node, Name: b.Name, Port: &b.Port, Queue: &b.Queue, Incast: &b.Incast}
}

func addBurst(g *types.BurstGroup, b *telemetry.Burst) {
	more(&g.Bursts, 1)
	more(&g.Packets, b.Packets)
	more(&g.Bytes, b.Bytes)
	more(&g.Drops, b.Drops)
	if b.PeakBytes != nil {
		most(&g.PeakBytes, *b.PeakBytes)
	}
	most(&g.PeakDelay, int64(b.PeakDelayNs))
	most(&g.Duration, int64(b.DurationNs))
	between(&g.First, &g.Last, b.Start)
}

func newLossGroup(l *telemetry.Loss) types.LossGroup {
	return types.LossGroup{Source: &l.Source, Node: l.Node, Name: l.Name, HWID: l.HWID, Version: &l.Version}
}

func addLoss(g *types.LossGroup, l *telemetry.Loss) {
	first := g.Exporters == nil
	more(&g.Exporters, 1)
	for _, c := range []struct {
		to **uint64
		n  *uint64
	}{
		{&g.Sent, l.Sent},
		{&g.Arrived, l.Arrived},
		{&g.Lost, l.Lost},
		{&g.Away, l.Away},
		{&g.Late, l.Late},
		{&g.Duplicate, l.Duplicate},
		{&g.Reordered, l.Reordered},
	} {
		switch {
		case c.n == nil:
			*c.to = nil
		case first || *c.to != nil: // else it is not known of one before
			more(c.to, *c.n)
		}
	}
	more(&g.Restarted, l.Restarted)
	more(&g.Received, l.Received)
	more(&g.Decoded, l.Decoded)
	more(&g.Damaged, sumOf(l.Damaged))
	more(&g.Malformed, sumOf(l.Malformed))
	more(&g.Reports, l.Reports)
}

func sumOf(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// storedGroups lists groups of items of a time range.
func (h *handler) storedGroups(ctx context.Context, name string, q *store.Query, at *cursor) (answer, *types.Problem) {
	found, problem := h.ask(ctx, q)
	if problem != nil {
		return answer{}, problem
	}
	a, err := h.answerOf(name, history{record: types.Records[name]}, found)
	if err != nil {
		return answer{}, unreadable(err)
	}
	return a.stored(at, found.More, encode.Member{Name: "resolution_ns", Value: found.Resolution.Nanoseconds()}), nil
}
