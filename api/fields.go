package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/filter"
)

// fieldParameters are the parameters that lists had for some of their fields, and what a filter has for them: $ is the
// value. They are deprecated: clients of before send them, and nothing describes them. A second term is for a value
// that is no number, or false.
var fieldParameters = map[string][2]string{
	"node": {"node = $"}, "address": {"address = $"}, "source": {"source = $"}, "exporter": {"exporter = $"},
	"src": {"src = $"}, "dst": {"dst = $"}, "outer_src": {"outer.src = $"}, "outer_dst": {"outer.dst = $"},
	"port": {"port = $"}, "outer_port": {"outer.port = $"}, "protocol": {"protocol = $"},
	"id": {"id = $"}, "path": {"id = $"}, "flow": {"flow = $"}, "reason": {"reason = $", "reason_name = $"},
	"kind": {"kind in ($)"}, "severity": {"severity >= $"}, "state": {"state = $"},
	"incast": {"incast", "not incast"}, "open": {"end is null", "end is not null"},
	"silenced":     {"silenced", "not silenced"},
	"acknowledged": {"acknowledged", "not acknowledged"},
}

// fieldTerm returns what a filter has for a parameter that stands for a field of the list.
func (p *params) fieldTerm(name string) string {
	value := strings.Join(p.values[name], ",") // kinds may be given several times
	if name != "kind" {
		value, _ = p.text(name)
	}
	_, err := strconv.ParseUint(value, 0, 64)
	term := fieldParameters[name][0]
	switch other := fieldParameters[name][1]; {
	case name == "state" && value == "all":
		return ""
	case !strings.Contains(term, "$") && value != "true" && value != "false":
		p.reject(name, "true, false", "%s is %q", name, value)
	case other != "" && value != "true" && err != nil:
		term = other
	}
	word, _, _ := strings.Cut(term, " ")
	field, ok := p.schema.Find(word)
	switch {
	case strings.Contains(value, "/") && ok && field.Kind == filter.Address:
		term = word + " in $"
	case value == "", ok && field.Kind == filter.Text, ok && field.Kind == filter.Node && err != nil:
		value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return strings.ReplaceAll(term, "$", value)
}

// hasField reports whether a parameter stands for a field of the list.
func (p *params) hasField(name string) bool {
	if p.schema == nil {
		return false
	}
	word, _, _ := strings.Cut(fieldParameters[name][0], " ")
	_, known := p.schema.Find(word)
	return known
}

// filter returns what the parameter filter says, and those that stand for fields; it holds for everything if there are
// none.
func (p *params) filter() *filter.Expr {
	text, _ := p.text("filter")
	e, err := filter.Parse(p.schema, text)
	if err != nil {
		p.reject("filter", "", "filter: %v", err)
		if p.wrong.Parameter == "filter" && p.wrong.Filter == nil {
			p.wrong.Filter = filter.Validate(p.schema, text)
		}
		return nil
	}
	var terms []string
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !p.hasField(name) {
			continue
		}
		term := p.fieldTerm(name)
		if term == "" {
			continue
		}
		if _, err := filter.Parse(p.schema, term); err != nil {
			p.reject(name, "filter="+term, "%s: %v", name, err)
			return nil
		}
		terms = append(terms, "("+term+")")
	}
	if len(terms) == 0 {
		return e
	}
	if strings.TrimSpace(text) != "" {
		terms = append(terms, "("+text+")")
	}
	e, err = filter.Parse(p.schema, strings.Join(terms, " and "))
	if err != nil {
		p.reject("filter", "", "filter: %v", err)
	}
	return e
}
