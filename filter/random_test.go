package filter

import (
	"math"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// pools are literals of each kind. Rows have the same values, so that comparisons are often true.
var pools = map[Kind][]string{
	Uint:     {"0", "1", "2", "3", "4294967296", "18446744073709551615"},
	Float:    {"0", "-0", "0.1", "-1.5", "3e300"},
	Ratio:    {"0%", "12.5%", "100%", "99.9%"},
	Duration: {"0", "50us", "-50us", "1h30m", "1ns"},
	Size:     {"0", "64B", "1KiB", "1kB", "16TiB"},
	Rate:     {"0", "10Gbit/s", "1MB/s", "9600"},
	Time:     {"2026-11-21T08:00:00Z", "2026-11-21T08:00:00.000000001Z", "now", "now-5m", "now + 1h"},
	Address: {
		"10.0.0.1", "10.200.0.1", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::1",
		"ffff::ffff",
	},
	MAC:  {"00:00:00:00:00:00", "02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff"},
	Text: {"''", "'leaf1'", `"leaf2"`, `"it's"`, `"50%"`, `'a_b\c'`, `"Ünï"`, `"name"`},
	Bool: {"true", "FALSE"},
	Enum: {"1", "2"}, // the names are those of each field
	Node: {"1", "2", "leaf1", `"n"`, "'spine 1'"},
}

var (
	prefixes = []string{
		"10.0.0.0/8", "0.0.0.0/0", "::/0", "::/64", "::/96", "::fffe:0:0/95", "::ffff:0:0/96",
		"fe80::/10", "2001:db8::/32", "10.0.0.1/32", "::1/128", "::/1",
	}
	patterns = []string{
		"'leaf%'", "'%f_'", "''", "'%'", "'__'", "'%a%'", `'50\%'`, `'a\_b\\c'`, "'_n_'", "'%%1'",
		"'LEAF1'",
	}
	regexes = []string{`'^leaf\d$'`, "''", "'.'", "'a|n'", `'\pL{3}'`, "'(?i)LEAF'", "'^.{3}$'"}
	testNow = time.Date(2026, 11, 21, 8, 5, 0, 0, time.UTC)
)

// A generator makes expressions and rows of everything.
type generator struct{ *rand.Rand }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

// literal returns a random value of f.
func (g generator) literal(f *Field) string {
	if f.Kind == Enum && g.IntN(2) == 0 {
		return quoted(pick(g, f.Choices).Name)
	}
	return pick(g, pools[f.Kind])
}

// expression returns a random filter.
func (g generator) expression(depth int) string {
	if depth > 0 {
		switch g.IntN(6) {
		case 0, 1:
			return g.expression(depth-1) + " and " + g.expression(depth-1)
		case 2:
			return g.expression(depth-1) + " || " + g.expression(depth-1)
		case 3:
			return "not " + g.expression(depth-1)
		case 4:
			return "(" + g.expression(depth-1) + ")"
		}
	}
	f := pick(g, everything.fields)
	op := pick(g, f.operators())
	switch op {
	case "is null", "is not null":
		return f.Name + " " + op
	case "in", "not in":
		return f.Name + " " + op + " " + g.list(f)
	case "like", "not like":
		return f.Name + " " + op + " " + pick(g, patterns)
	case "~", "!~":
		return f.Name + " " + op + " " + pick(g, regexes)
	}
	if other := pick(g, everything.fields); f.comparable(other) && !f.several() && !other.several() {
		return f.Name + " " + op + " " + other.Name
	}
	return f.Name + op + g.literal(f)
}

func (g generator) list(f *Field) string {
	var list []string
	for range 1 + g.IntN(longList+4) {
		if f.Kind == Address && g.IntN(2) == 0 {
			list = append(list, pick(g, prefixes))
		} else {
			list = append(list, g.literal(f))
		}
	}
	if f.Kind == Address && g.IntN(2) == 0 {
		return list[0]
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// value returns a random value of f.
func (g generator) value(f *Field) Value {
	if f.Kind == Address {
		a := telemetry.AddrFrom(netip.MustParseAddr(pick(g, pools[Address])))
		if g.IntN(3) == 0 {
			a.Lo ^= 1 << g.IntN(64)
		}
		return FromAddr(a)
	}
	p := parser{schema: everything, tokens: []token{{kind: tokenEnd}}}
	tokens, _ := lex(g.literal(f))
	p.tokens = tokens
	l, err := p.literal(f)
	if err != nil {
		panic(err)
	}
	return l.at(testNow.UnixNano())
}

// row returns a random row, in which some fields are absent.
func (g generator) row() testRow {
	row := make(testRow, len(everything.fields))
	for i, f := range everything.fields {
		n := min(g.IntN(5), 1)
		if f.Many {
			n = g.IntN(4)
		}
		for range n {
			row[i] = append(row[i], g.value(f))
		}
	}
	return row
}

// columns returns the row as the columns of a table.
func (r testRow) columns() map[string]any {
	columns := map[string]any{}
	for i, f := range everything.fields {
		var list []any
		for _, v := range r[i] {
			list = append(list, sqlColumn(f.Kind, v))
		}
		switch {
		case len(f.Any) > 0:
		case f.Kind == Address && len(list) == 0:
			columns[f.Column+"_hi"], columns[f.Column+"_lo"] = nil, nil
		case f.Kind == Address:
			columns[f.Column+"_hi"], columns[f.Column+"_lo"] = new(big.Int).SetUint64(r[i][0].hi), list[0]
		case len(list) == 0:
			columns[f.Column] = nil
		case f.Many:
			columns[f.Column] = list
		default:
			columns[f.Column] = list[0]
		}
	}
	return columns
}

// sqlColumn is what a column holds for a value.
func sqlColumn(k Kind, v Value) any {
	switch k {
	case Float, Ratio:
		return math.Float64frombits(v.lo)
	case Duration, Time:
		return big.NewInt(int64(v.lo))
	case Text:
		return v.text
	case Bool:
		return v.lo == 1
	}
	return new(big.Int).SetUint64(v.lo)
}
