package api

import (
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	maxLimit     = 10000
	maxFileLimit = 100_000 // of files of a time range, which nobody reads while they come
)

// params are the parameters of a query. A resource asks for each one that it knows and then for the problem: the first
// value that is wrong, or a parameter that it did not ask for.
type params struct {
	values url.Values
	list   string // path of the list that is asked for; a cursor is of one
	asked  map[string]bool
	wrong  *types.Problem
	stop   <-chan struct{} // closed when nobody waits for the answer; may be nil
}

// newParams parses a query string.
func newParams(query string) *params {
	p := &params{asked: map[string]bool{}}
	var err error
	if p.values, err = url.ParseQuery(query); err != nil {
		p.wrong = types.NewProblem(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	return p
}

// text returns the value of a parameter and whether it was given.
func (p *params) text(name string) (string, bool) {
	p.asked[name] = true
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

// knows says that the resource has parameters of these names, which it needs not ask for.
func (p *params) knows(names ...string) {
	for _, name := range names {
		p.asked[name] = true
	}
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
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if why := notHere[name]; !p.asked[name] && why != "" {
			p.reject(name, names(p.asked), "there is no %s here: %s", name, why)
			continue
		}
		if !p.asked[name] {
			meant := filter.Nearest(name, slices.Sorted(maps.Keys(p.asked)))
			if meant != "" {
				meant = "; did you mean " + meant + "?"
			}
			p.reject(name, names(p.asked), "unknown parameter %q%s", name, meant)
		}
	}
	return p.wrong
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

// choice returns the value of a parameter that must be one of options; the first one if it is not given.
func (p *params) choice(name string, options ...string) string {
	text, given := p.text(name)
	if !given {
		return options[0]
	}
	if !slices.Contains(options, text) {
		p.reject(name, strings.Join(options, ", "), "%s is %q", name, text)
	}
	return text
}

// boolean returns a parameter that is true or false.
func (p *params) boolean(name string) (value, given bool) {
	text, given := p.text(name)
	if given && text != "true" && text != "false" {
		p.reject(name, "true, false", "%s is %q", name, text)
	}
	return text == "true", given
}

// prefix returns the addresses that a parameter selects; the zero Prefix, which is not valid, if it is not given.
func (p *params) prefix(name string) netip.Prefix {
	text, given := p.text(name)
	if !given {
		return netip.Prefix{}
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		p.reject(name, "an address or a prefix, such as 10.0.0.1 or 2001:db8::/32", "%s is %q", name, text)
	}
	return prefix.Masked()
}

// number returns a parameter that is a number up to high.
func (p *params) number(name string, high uint64) (n uint64, given bool) {
	text, given := p.text(name)
	if !given {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > high {
		p.reject(name, "0 to "+strconv.FormatUint(high, 10), "%s is %q", name, text)
	}
	return n, true
}

// protocol returns the IP protocol that a parameter names, by its number or its name in flows.
func (p *params) protocol(name string) (protocol uint8, given bool) {
	text, given := p.text(name)
	if !given {
		return 0, false
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		return uint8(n), true
	}
	for n := range 256 {
		if strings.EqualFold(text, telemetry.ProtocolName(uint8(n))) {
			return uint8(n), true
		}
	}
	p.reject(name, "0 to 255 or a name, such as tcp or udp", "%s is %q", name, text)
	return 0, true
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

// names lists the keys of m in order.
func names[T any](m map[string]T) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }
