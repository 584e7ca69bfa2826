package api

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// order says by what records come: what the parameter order names, which may be all that they have, or else the first
// of their numbers. Like lists of now, numbers and times come from the largest, texts and addresses from the smallest,
// unless ":asc" or ":desc" says otherwise.
func (y *history) order(p *params, q *store.Query) {
	text, given := p.text("order")
	if !given {
		if q.Step == 0 && len(q.Group) > 0 {
			q.Order = q.Values[0]
		}
		return
	}
	wanted, direction, directed := strings.Cut(text, ":")
	wanted = apiName(y.record, wanted)
	var allowed []string
	for i := range y.record.NumField() {
		f := y.record.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		columns := f.Tag.Get("store")
		first, _, _ := strings.Cut(columns, ",")
		switch {
		case columns == "", columns == "start" && q.Step == 0:
			continue
		case f.Tag.Get("group") != "" && !slices.Contains(q.Group, first):
			continue // it is not in the answer
		}
		allowed = append(allowed, name)
		if name == wanted && (!directed || direction == "asc" || direction == "desc") {
			q.Order, q.Ascending = columns, direction == "asc" || !directed && isText(f.Type)
			return
		}
	}
	p.reject("order", strings.Join(allowed, ", ")+"; :asc or :desc may follow", "order is %q", text)
}

// apiName returns the name in the API of a field of a type, however it is written; name itself if there is none.
func apiName(of reflect.Type, name string) string {
	if f := catalogue.Named(catalogue.Of(of), name); f != nil {
		return f.Name
	}
	return name
}

// isText reports whether one reads the values of a field of a record from the smallest.
func isText(of reflect.Type) bool {
	switch of = of.Elem(); of {
	case reflect.TypeFor[netip.Addr](), reflect.TypeFor[types.Protocol](), reflect.TypeFor[types.PathID]():
		return true
	}
	return of.Kind() == reflect.String
}

// eventColumns are the columns of the store by what events of a time range can be ordered by.
var eventColumns = map[string]string{
	"start": "start", "end": `"end"`, "severity": "severity", "kind": "kind",
	"count": `"count"`, "id": "id",
}

// eventOrder says by what events of a time range come: the latest first, unless the parameter order says otherwise.
func (p *params) eventOrder(q *store.Query) {
	column, ascending := p.columnOrder(eventColumns, "start")
	q.Order, q.Ascending = column, ascending
	if !slices.Contains(q.Group, column) {
		q.Group = append(q.Group, column)
	}
}

// columnOrder returns the column that the parameter order names, of those that there are by name; the largest come
// first unless ":asc" follows, and ids from a.
func (p *params) columnOrder(columns map[string]string, usual string) (column string, ascending bool) {
	text, given := p.text("order")
	if !given {
		return usual, false
	}
	name, direction, directed := strings.Cut(text, ":")
	for known := range columns {
		if catalogue.Alike(known) == catalogue.Alike(name) {
			name = known
		}
	}
	if columns[name] == "" || directed && direction != "asc" && direction != "desc" {
		p.reject("order", listed(columns)+"; :asc or :desc may follow", "order is %q", text)
	}
	return columns[name], direction == "asc" || !directed && name == "id"
}
