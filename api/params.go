package api

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

const (
	maxLimit     = 10000
	maxFileLimit = 100_000 // of files of a time range, which nobody reads while they come
)

// params are the parameters of a query. An operation asks for those that it needs and then for the problem: the first
// value that is wrong, or a parameter that the operation does not have.
type params struct {
	*operation
	schema  *filter.Schema // of the filter; nil: there is none
	values  url.Values
	path    string // that is asked; a cursor is of one
	id      string // in it
	wrong   *types.Problem
	missing *types.Problem  // that the server does not have what the operation needs
	stop    <-chan struct{} // closed when nobody waits for the answer; may be nil
}

// newParams returns the parameters of a request for an operation.
func newParams(r *http.Request, o *operation, id string) *params {
	p := &params{operation: o, path: r.URL.Path, id: id}
	var err error
	if p.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		p.wrong = types.NewProblem(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	return p
}

// isRange reports whether records of a time range are asked for.
func (p *params) isRange() bool {
	return p.past != "" && !p.values.Has("at") && (p.values.Has("since") || p.values.Has("until"))
}

// names returns the parameters that there are.
func (p *params) names() []string {
	names := p.allParams()
	if p.isRange() {
		names = strings.Fields(p.past)
	}
	slices.Sort(names)
	return names
}

// text returns the value of a parameter and whether it was given.
func (p *params) text(name string) (string, bool) {
	values := p.values[name]
	switch len(values) {
	case 0:
		return "", false
	case 1:
		return values[0], true
	}
	p.reject(name, "once", "%s is given %d times", name, len(values))
	return "", false
}

// given returns the value of a parameter that must be there.
func (p *params) given(name string) string {
	text, given := p.text(name)
	if !given {
		o := p.parameter(name)
		p.reject(name, cmp.Or(strings.Join(o.options, ", "), o.doc), "%s is missing", name)
	}
	return text
}

// reject notes that a parameter is wrong.
func (p *params) reject(name, allowed, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = types.NewProblem(http.StatusBadRequest, format, args...)
		p.wrong.Parameter, p.wrong.Allowed = name, allowed
	}
}

// problem returns what is wrong with the query, or nil.
func (p *params) problem() *types.Problem {
	names := p.names()
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		known := slices.Contains(names, name)
		switch {
		case known && !p.isRange() && !slices.Contains(strings.Fields(p.params), name):
			p.reject(name, "together with since", "%s is about a time range, which since begins", name)
		case known, p.hasField(name):
		case notHere[name] != "":
			p.reject(name, strings.Join(names, ", "), "there is no %s here: %s", name, notHere[name])
		default:
			meant := filter.Nearest(name, names)
			if meant != "" {
				meant = "; did you mean " + meant + "?"
			}
			p.reject(name, strings.Join(names, ", "), "unknown parameter %q%s", name, meant)
		}
	}
	return cmp.Or(p.wrong, p.missing)
}

// limit returns how many items to list.
func (p *params) limit() int { return p.limitUpTo(maxLimit) }

// limitUpTo returns how many items to list, where at most the given number may be asked for.
func (p *params) limitUpTo(most int) int {
	text, given := p.text("limit")
	if !given {
		return types.DefaultLimit
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		p.reject("limit", "1 to "+strconv.Itoa(most), "limit is %q", text)
	}
	return n
}

// choice returns the value of a parameter that must be one of those that are described; the first one if it is not
// given.
func (p *params) choice(name string) string {
	options := p.parameter(name).options
	text, given := p.text(name)
	if !given {
		return options[0]
	}
	if !slices.Contains(options, text) {
		p.reject(name, strings.Join(options, ", "), "%s is %q", name, text)
	}
	return text
}

// boolean returns a parameter that is true or false; false if it is not given.
func (p *params) boolean(name string) bool {
	text, given := p.text(name)
	if given && text != "true" && text != "false" {
		p.reject(name, "true, false", "%s is %q", name, text)
	}
	return text == "true"
}

// notHere says of parameters that lists have why one does not.
var notHere = map[string]string{
	"since":    "what is answered is of now only",
	"until":    "what is answered is of now only",
	"at":       "it is not kept what this was at moments of the past",
	"group_by": "nothing is counted that could be added up for a time range",
	"interval": "nothing is counted that could be added up for pieces of a time range",
	"filter":   "there are no items with fields to select by",
	"order":    "what is answered has its order",
	"limit":    "all is answered",
	"cursor":   "all is answered at once",
	"format":   "what is answered is application/json only",
}

// listed lists the keys of m in order.
func listed[T any](m map[string]T) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }
