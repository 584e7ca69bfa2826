package filter

import (
	"math/big"
	"strconv"
	"strings"
)

// A unit is what may stand behind a number. Others are accepted but not written: "bps".
type unit struct {
	name   string
	factor uint64
	other  bool
}

// units of the kinds that have any. A number without a unit is of the first one, but not of Duration: 50 could be
// anything there.
var units = map[Kind][]unit{
	Duration: {
		{"ns", 1, false},
		{"us", 1e3, false},
		{"µs", 1e3, true},
		{"μs", 1e3, true},
		{"ms", 1e6, false},
		{"s", 1e9, false},
		{"m", 60e9, false},
		{"h", 3600e9, false},
		{"d", 86400e9, false},
		{"w", 7 * 86400e9, true},
	},
	Size: {
		{"B", 1, false},
		{"kB", 1e3, false},
		{"MB", 1e6, false},
		{"GB", 1e9, false},
		{"TB", 1e12, false},
		{"KiB", 1 << 10, false},
		{"MiB", 1 << 20, false},
		{"GiB", 1 << 30, false},
		{"TiB", 1 << 40, false},
	},
	Rate: {
		{"bit/s", 1, false},
		{"kbit/s", 1e3, false},
		{"Mbit/s", 1e6, false},
		{"Gbit/s", 1e9, false},
		{"Tbit/s", 1e12, false},
		{"b/s", 1, true},
		{"kb/s", 1e3, true},
		{"Mb/s", 1e6, true},
		{"Gb/s", 1e9, true},
		{"Tb/s", 1e12, true},
		{"bps", 1, true},
		{"kbps", 1e3, true},
		{"Mbps", 1e6, true},
		{"Gbps", 1e9, true},
		{"Tbps", 1e12, true},
		{"B/s", 8, true},
		{"kB/s", 8e3, true},
		{"MB/s", 8e6, true},
		{"GB/s", 8e9, true},
		{"TB/s", 8e12, true},
	},
}

// unitNames returns the units of k that are written, in their order.
func (k Kind) unitNames() []string {
	var names []string
	for _, u := range units[k] {
		if !u.other {
			names = append(names, u.name)
		}
	}
	return names
}

// parseQuantity reads numbers with units, such as 1.5ms or 1h30m, exactly. Otherwise it returns what is wrong, and what
// may have been meant.
func parseQuantity(k Kind, word string) (n uint64, wrong, meant string) {
	var total, part, factor big.Rat
	for rest := word; rest != ""; {
		var number, name string
		number, rest = cutPrefix(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		name, rest = cutPrefix(rest, func(r rune) bool { return r < '0' || r > '9' })
		if _, ok := part.SetString(number); !ok || number[0] == '.' {
			return 0, expected(k, word), ""
		}
		f, wrong, meant := unitFactor(k, number, name)
		if wrong != "" {
			if number+name != word {
				meant = "" // it would replace the word only in part
			}
			return 0, wrong, meant
		}
		total.Add(&total, part.Mul(&part, factor.SetUint64(f)))
	}
	switch {
	case !total.IsInt():
		return 0, shorten(word) + " is not a whole number of " + units[k][0].name, ""
	case !total.Num().IsUint64():
		return 0, shorten(word) + " is too large", ""
	}
	return total.Num().Uint64(), "", ""
}

// expected says that word is not a literal of k.
func expected(k Kind, word string) string {
	return "expected " + kinds[k].indefinite + " such as " + kinds[k].example + ", found " + shorten(word)
}

// cutPrefix divides s behind the first characters that are in a set.
func cutPrefix(s string, in func(r rune) bool) (prefix, rest string) {
	n := strings.IndexFunc(s, func(r rune) bool { return !in(r) })
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

func unitFactor(k Kind, number, name string) (factor uint64, wrong, meant string) {
	if name == "" && (k != Duration || strings.Trim(number, "0.") == "") {
		return 1, "", ""
	}
	for _, u := range units[k] {
		if u.name == name {
			return u.factor, "", ""
		}
	}
	names := k.unitNames()
	if name == "" {
		return 0, shorten(number) + " has no unit: " + orList(names), ""
	}
	if near := nearestUnit(name, names); near != "" {
		meant = number + near
	}
	return 0, "there is no unit " + shorten(name) + " of " + kinds[k].indefinite + " (" + orList(names) + ")", meant
}

// nearestUnit is nearest, but also finds us in usec and kbit/s in kbit.
func nearestUnit(name string, names []string) string {
	near := Nearest(name, names)
	for _, n := range names {
		if near == "" && len(name) > 1 && strings.HasPrefix(n, name) || strings.HasPrefix(name, n) &&
			len(n) > len(near) {
			near = n
		}
	}
	return near
}

// printQuantity writes n with the largest unit of which it is a whole number.
func printQuantity(k Kind, n uint64) string {
	best := units[k][0]
	for _, u := range units[k] {
		if !u.other && n > 0 && n%u.factor == 0 && u.factor > best.factor {
			best = u
		}
	}
	return strconv.FormatUint(n/best.factor, 10) + best.name
}

// orList returns "a", "a or b" or "a, b, or c".
func orList(names []string) string {
	last := len(names) - 1
	switch {
	case last < 0:
		return ""
	case last < 2:
		return strings.Join(names, " or ")
	}
	return strings.Join(names[:last], ", ") + ", or " + names[last]
}
