// Package unit holds the values with a unit that configuration files, flags and scenarios have. Each type reads itself
// from text, so that all of them accept the same spellings and refuse the others in the same words.
//
// To add a unit: 1. a type here with UnmarshalText, whose error is a Want, and with String if it is printed, 2. its row
// in the tests.
package unit

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A Want is the error of a text that is no value: what would be one.
type Want string

func (w Want) Error() string { return "want " + string(w) }

// A Duration is a time that is not negative, with its units: 500ns, 20us, 1.5ms, 1m30s, 7d, 2w.
type Duration time.Duration

const wantDuration = Want("a duration with its unit, for example 20us, 1m30s or 7d")

// ParseDuration reads a Duration.
func ParseDuration(text string) (Duration, error) {
	total, rest := time.Duration(0), text
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) || n*float64(unit.length)+float64(total) > math.MaxInt64/2 {
			return 0, wantDuration
		}
		total, rest = total+time.Duration(n*float64(unit.length)), after
	}
	if rest == "" && text != "" {
		return Duration(total), nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || strings.ContainsAny(text, "+-") || d > math.MaxInt64-total {
		return 0, wantDuration
	}
	return Duration(total + d), nil
}

// UnmarshalText reads what ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDuration(string(text))
	return err
}

// String returns what ParseDuration reads, without units that are 0: 2d, 1h30m.
func (d Duration) String() string {
	text := ""
	if days := d / Duration(24*time.Hour); days > 0 {
		text = strconv.FormatInt(int64(days), 10) + "d"
		if d %= Duration(24 * time.Hour); d == 0 {
			return text
		}
	}
	rest := time.Duration(d).String()
	if short, ok := strings.CutSuffix(rest, "m0s"); ok {
		rest = short + "m"
	}
	if short, ok := strings.CutSuffix(rest, "h0m"); ok {
		rest = short + "h"
	}
	return text + rest
}

// MarshalText returns what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// An Offset is a Duration either way: -1.5ms.
type Offset time.Duration

// UnmarshalText reads an Offset.
func (o *Offset) UnmarshalText(text []byte) error {
	digits, negative := strings.CutPrefix(string(text), "-")
	d, err := ParseDuration(digits)
	if *o = Offset(d); negative {
		*o = -*o
	}
	return err
}

// Bytes is a number of bytes: 1500, 64kB, 2MiB. K, M and G alone are KiB, MiB and GiB.
type Bytes uint64

var byteUnits = map[string]float64{
	"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// ParseBytes reads a number of Bytes.
func ParseBytes(text string) (Bytes, error) {
	n, ok := scaled(text, byteUnits)
	if !ok || n > 1<<60 {
		return 0, Want("a number of bytes, for example 1500, 64kB or 512MiB")
	}
	return Bytes(n), nil
}

// UnmarshalText reads what ParseBytes does.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBytes(string(text))
	return err
}

// String returns b in the largest unit that it is a whole number of.
func (b Bytes) String() string {
	for _, unit := range []struct {
		name string
		size Bytes
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}} {
		if b >= unit.size && b%unit.size == 0 {
			return strconv.FormatUint(uint64(b/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatUint(uint64(b), 10)
}

// MarshalText returns what String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// A Rate is a number of bits in a second: 10G, 2.5G, 100M, 64k.
type Rate uint64

// UnmarshalText reads a Rate.
func (r *Rate) UnmarshalText(text []byte) error {
	n, ok := scaled(string(text), map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12})
	if *r = Rate(n); !ok || n < 1e3 || n > 10e12 {
		return Want("a rate in bit/s from 1k to 10T, for example 10G or 100M")
	}
	return nil
}

// RateText returns a rate in bit/s with three digits, and with a gap in front of its unit: 16.1 Mbit/s.
func RateText(bps uint64, gap string) string {
	v, prefix := float64(bps), ""
	for _, next := range []string{"k", "M", "G", "T", "P", "E"} {
		if v < 999.5 { // more would have four digits
			break
		}
		v, prefix = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + gap + prefix + "bit/s"
}

// A Count is how many of something there are: 500, 20k, 1.5M, 10G.
type Count uint64

var countUnits = map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// UnmarshalText reads a Count.
func (c *Count) UnmarshalText(text []byte) error {
	n, ok := scaled(string(text), countUnits)
	if *c = Count(n); !ok || n > 1e15 {
		return Want("a number up to 1000T, for example 500, 20k or 1.5M")
	}
	return nil
}

// MarshalText writes a Count as it is read.
func (c Count) MarshalText() ([]byte, error) {
	prefixes := []string{"", "k", "M", "G", "T"}
	at := 0
	for ; c != 0 && c%1000 == 0 && at < len(prefixes)-1; at++ {
		c /= 1000
	}
	return append(strconv.AppendUint(nil, uint64(c), 10), prefixes[at]...), nil
}

// A Share is a part of a whole: 2% or 0.02.
type Share float64

// UnmarshalText reads a Share.
func (s *Share) UnmarshalText(text []byte) error {
	n, ok := scaled(string(text), map[string]float64{"": 1, "%": 0.01})
	if *s = Share(n); !ok || n > 1 {
		return Want("a share from 0% to 100%, for example 2% or 0.02")
	}
	return nil
}

// scaled reads a number with one of the suffixes of units behind it.
func scaled(text string, units map[string]float64) (float64, bool) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%")
	factor, known := units[text[len(digits):]]
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return n * factor, known && err == nil && n >= 0
}

// A Prefix is an IPv4 or IPv6 prefix. An address alone is a prefix of its full length.
type Prefix struct{ netip.Prefix }

// ParsePrefix reads a Prefix.
func ParsePrefix(text string) (Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if addr, ofAddr := netip.ParseAddr(text); ofAddr == nil && addr.Zone() == "" {
		p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	switch {
	case err != nil:
		return Prefix{}, Want("an address or a prefix, for example 10.0.0.0/8")
	case p.Addr().Is4In6():
		return Prefix{}, Want("an IPv4 prefix in IPv4 notation")
	case p != p.Masked():
		return Prefix{}, Want(p.Masked().String() + ", without bits behind the prefix")
	}
	return Prefix{p}, nil
}

// UnmarshalText reads what ParsePrefix does.
func (p *Prefix) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePrefix(string(text))
	return err
}

// IsZero reports whether p is no prefix at all, which files leave out.
func (p Prefix) IsZero() bool { return p == Prefix{} }

// A Range is the numbers from Low to High, both included: 443, 8000-8999, 0x10-0x1f.
type Range[T uint8 | uint16 | uint32] struct{ Low, High T }

// UnmarshalText reads a Range.
func (r *Range[T]) UnmarshalText(text []byte) (err error) {
	low, high, isRange := strings.Cut(string(text), "-")
	if !isRange {
		high = low
	}
	if r.Low, err = ParseNumber[T](low); err == nil {
		r.High, err = ParseNumber[T](high)
	}
	switch most := strconv.FormatUint(uint64(^T(0)), 10); {
	case err != nil:
		return Want("a number from 0 to " + most + " or a range of them, for example 16 or 16-31")
	case r.Low > r.High:
		return Want("the lower end of a range first")
	}
	return nil
}

// Has reports whether v is in the range.
func (r Range[T]) Has(v T) bool { return r.Low <= v && v <= r.High }

// String returns what UnmarshalText reads.
func (r Range[T]) String() string {
	text := strconv.FormatUint(uint64(r.Low), 10)
	if r.Low != r.High {
		text += "-" + strconv.FormatUint(uint64(r.High), 10)
	}
	return text
}

// MarshalText returns what String does.
func (r Range[T]) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseNumber reads a whole number; hexadecimal ones begin with 0x.
func ParseNumber[T uint8 | uint16 | uint32 | uint64](text string) (T, error) {
	digits, base := text, 10
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n > uint64(^T(0)) {
		return 0, Want("a whole number from 0 to " + strconv.FormatUint(uint64(^T(0)), 10))
	}
	return T(n), nil
}
