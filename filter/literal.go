package filter

import (
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A literal is a value that the user wrote.
type literal struct {
	value   Value
	text    string // canonical
	fromNow bool   // value is a duration to add to now
}

// at returns the value, now being in nanoseconds since 1970.
func (l *literal) at(now int64) Value {
	if l.fromNow {
		return Value{lo: uint64(now) + l.value.lo}
	}
	return l.value
}

// A reader reads a word as a value of a field. Otherwise it returns what is wrong, and what may have been meant.
type reader func(word string) (l literal, wrong, meant string)

// reader returns the reader for f. Texts, choices and nodes are not among them.
func (f *Field) reader() reader {
	switch f.Kind {
	case Uint:
		return readUint
	case Float:
		return readFloat
	case Ratio:
		return readRatio
	case Duration:
		return readDuration
	case Size, Rate:
		return func(word string) (literal, string, string) {
			n, wrong, meant := parseQuantity(f.Kind, word)
			return literal{value: FromUint(n), text: printQuantity(f.Kind, n)}, wrong, meant
		}
	case Time:
		return readTime
	case MAC:
		return readMAC
	case Bool:
		return readBool
	}
	return nil
}

func readUint(word string) (literal, string, string) {
	n, ok := parseUint(word, 64)
	if !ok {
		return literal{}, expected(Uint, word), ""
	}
	return literal{value: FromUint(n), text: strconv.FormatUint(n, 10)}, "", ""
}

// parseUint reads a number in decimal or, after 0x, in hexadecimal.
func parseUint(word string, size int) (uint64, bool) {
	base := 10
	digits, ok := strings.CutPrefix(strings.ToLower(word), "0x")
	if ok {
		base = 16
	}
	n, err := strconv.ParseUint(digits, base, size)
	return n, err == nil
}

func readFloat(word string) (literal, string, string) {
	n, ok := parseFloat(word)
	if !ok {
		return literal{}, expected(Float, word), ""
	}
	return literal{value: FromFloat(n), text: strconv.FormatFloat(n, 'g', -1, 64)}, "", ""
}

// parseFloat takes no infinity, no hexadecimal and nothing that is not a number, as strconv does.
func parseFloat(word string) (float64, bool) {
	n, err := strconv.ParseFloat(word, 64)
	return n + 0, err == nil && strings.Trim(word, "0123456789.eE+-") == "" // -0 + 0 is 0
}

func readRatio(word string) (literal, string, string) {
	number, percent := strings.CutSuffix(word, "%")
	n, ok := parseFloat(number)
	switch {
	case !ok:
		return literal{}, expected(Ratio, word), ""
	case !percent && n != 0:
		return literal{}, "a percentage needs %", word + "%"
	}
	return literal{value: FromFloat(n / 100), text: strconv.FormatFloat(n, 'g', -1, 64) + "%"}, "", ""
}

func readDuration(word string) (literal, string, string) {
	digits, negative := strings.CutPrefix(word, "-")
	n, wrong, meant := parseQuantity(Duration, digits)
	switch {
	case digits == "":
		return literal{}, expected(Duration, word), ""
	case wrong != "":
		if negative && meant != "" {
			meant = "-" + meant
		}
		return literal{}, wrong, meant
	case n > math.MaxInt64:
		return literal{}, shorten(word) + " is too large", ""
	}
	l := literal{value: FromDuration(time.Duration(n)), text: printQuantity(Duration, n)}
	if negative && n > 0 {
		l = literal{value: FromDuration(-time.Duration(n)), text: "-" + l.text}
	}
	return l, "", ""
}

func readMAC(word string) (literal, string, string) {
	m, err := net.ParseMAC(word)
	if err != nil || len(m) != 6 {
		return literal{}, expected(MAC, word), ""
	}
	return literal{value: FromMAC([6]byte(m)), text: m.String()}, "", ""
}

func readBool(word string) (literal, string, string) {
	b := strings.EqualFold(word, "true")
	if !b && !strings.EqualFold(word, "false") {
		return literal{}, "expected true or false, found " + shorten(word), Nearest(word, []string{"true", "false"})
	}
	return literal{value: FromBool(b), text: strconv.FormatBool(b)}, "", ""
}

// readPrefix reads a prefix, or an address as one of full length.
func readPrefix(word string) (p netip.Prefix, text, wrong string) {
	a, err := netip.ParseAddr(word)
	if err == nil && a.Zone() == "" {
		p = netip.PrefixFrom(a, a.BitLen())
	} else if p, err = netip.ParsePrefix(word); err != nil {
		return p, "", "expected an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32, found " + shorten(word)
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	p = p.Masked()
	if p.IsSingleIP() {
		return p, p.Addr().String(), ""
	}
	return p, p.String(), ""
}
