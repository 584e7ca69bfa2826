package api

import (
	"cmp"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// A selection is what filter, order, cursor and limit say of a list of now.
type selection[T any] struct {
	name  string
	match func(*T) bool // nil: all
	order *ordering     // nil: as the list is

	at    *cursor
	limit int
}

// An ordering is what the parameter order says.
type ordering struct {
	field     catalogue.Field
	ascending bool
}

// selectFrom returns what the parameters of a list say, for it to ask for before it asks for the problem. row makes a
// row for filters of an item.
func selectFrom[T any](h *handler, p *params, row func(*T) filter.Row) *selection[T] {
	s := &selection[T]{name: p.list, limit: p.limit(), match: filtered(h, p.filter(), row)}
	s.order = p.ordering(reflect.TypeFor[T]())
	s.at = p.place(h.cfg.Now())
	return s
}

// filtered returns what the filter selects of a list; nil if that is everything.
func filtered[T any](h *handler, e *filter.Expr, row func(*T) filter.Row) func(*T) bool {
	if e == nil || e.String() == "" {
		return nil
	}
	matcher := e.Matcher(h.cfg.Now)
	return func(item *T) bool { return matcher.Match(row(item)) }
}

// place returns the place in a list of now that the parameter cursor names.
func (p *params) place(now time.Time) *cursor {
	return p.cursor(span{now.Add(-time.Nanosecond), now}) // the times mean nothing
}

// ordering returns what the parameter order says: the name of a field of items, with ":asc" or ":desc" behind it if
// numbers and times should not come from the largest, or texts not from a. Beside them it may be one of others, which
// the caller looks at.
func (p *params) ordering(items reflect.Type, others ...string) *ordering {
	text, given := p.text("order")
	if !given {
		return nil
	}
	name, direction, directed := strings.Cut(text, ":")
	var sortable []string
	fields := encode.Columns(items)
	if f := catalogue.Named(fields, name); f != nil {
		name = f.Name
	}
	for _, f := range fields {
		switch kind := f.Type.Kind(); {
		case f.Named, kind == reflect.Slice, kind == reflect.Map, kind == reflect.Array:
			continue // they have no order
		}
		sortable = append(sortable, f.Name)
		if f.Name == name && (!directed || direction == "asc" || direction == "desc") {
			textual := f.Type.Kind() == reflect.String || f.Type == addressType
			return &ordering{f, direction == "asc" || !directed && textual}
		}
	}
	p.reject("order", strings.Join(slices.Concat(others, sortable), ", ")+"; :asc or :desc may follow", "order is %q",
		text)
	return nil
}

var addressType = reflect.TypeFor[netip.Addr]()

// answer lists what is selected of items, which it may change.
func (s *selection[T]) answer(items []T) answer {
	if s.match != nil {
		items = slices.DeleteFunc(items, func(item T) bool { return !s.match(&item) })
	}
	if s.order != nil {
		items = sorted(items, s.order)
	}
	total := len(items)
	return s.page(items[min(s.at.Offset, total):], total)
}

// answerOf is answer for items that are as many of total as first says.
func (s *selection[T]) answerOf(items []T, total int) answer {
	if s.first() == math.MaxInt {
		return s.answer(items)
	}
	return s.page(items[min(s.at.Offset, len(items)):], total)
}

// page lists the first of items, which are those that follow the cursor, of total.
func (s *selection[T]) page(items []T, total int) answer {
	items = items[:min(s.limit, len(items))]
	a := newAnswer(s.name, items, total)
	if next := s.at.Offset + len(items); next < total && len(items) > 0 {
		at := *s.at
		at.Offset = next
		a.next = at.String()
	}
	return a
}

// first returns how many of the first items of a list are enough to answer.
func (s *selection[T]) first() int {
	if s.match != nil || s.order != nil {
		return math.MaxInt
	}
	return s.at.Offset + s.limit
}

// sorted returns items in an order; what is not known comes last.
func sorted[T any](items []T, by *ordering) []T {
	type keyed struct {
		item T
		key  reflect.Value
	}
	all := make([]keyed, len(items))
	for i := range items {
		all[i] = keyed{items[i], by.field.Value(&items[i])}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		switch {
		case !a.key.IsValid() || !b.key.IsValid():
			return compareBools(!a.key.IsValid(), !b.key.IsValid())
		case by.ascending:
			return compareFields(a.key, b.key)
		}
		return compareFields(b.key, a.key)
	})
	found := make([]T, len(all)) // not items, to which the keys point
	for i := range all {
		found[i] = all[i].item
	}
	return found
}

// compareFields orders two values of a field.
func compareFields(a, b reflect.Value) int {
	switch v := a.Interface().(type) {
	case netip.Addr:
		return v.Compare(b.Interface().(netip.Addr))
	case time.Time:
		return v.Compare(b.Interface().(time.Time))
	}
	switch {
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.Bool:
		return compareBools(a.Bool(), b.Bool())
	}
	return cmp.Compare(a.String(), b.String())
}

// compareBools puts false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
