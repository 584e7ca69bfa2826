package scenario

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Values with a unit are written as people write them and kept as numbers. Each type reads itself, so that an error names
// its line and says what is wanted.

// scalar returns the text of a value that is neither a list nor a map.
func scalar(n ast.Node, want string) (string, error) {
	if _, ok := n.(ast.ScalarNode); !ok {
		return "", at(n, "got a %s, want %s", strings.ToLower(n.Type().String()), want)
	}
	return n.GetToken().Value, nil
}

// scaled reads a number with one of the suffixes of units behind it.
func scaled(text string, units map[string]float64) (float64, bool) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%/")
	unit, known := units[text[len(digits):]]
	number, err := strconv.ParseFloat(digits, 64)
	return number * unit, known && err == nil && number >= 0
}

// A Rate is a number of bits in a second: 10G, 2.5G, 100M, 64k.
type Rate uint64

var rateUnits = map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// UnmarshalYAML reads a Rate.
func (r *Rate) UnmarshalYAML(n ast.Node) error {
	const want = "a rate in bit/s, for example 10G or 100M"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	v, ok := scaled(text, rateUnits)
	if !ok || v < 1000 || v > 10e12 {
		return at(n, "got %q, want %s, from 1k to 10T", text, want)
	}
	*r = Rate(v)
	return nil
}

// Bytes is a number of bytes: 1500, 64kB, 2MiB.
type Bytes uint64

var byteUnits = map[string]float64{
	"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

// UnmarshalYAML reads a number of Bytes.
func (v *Bytes) UnmarshalYAML(n ast.Node) error {
	const want = "a number of bytes, for example 1500, 64kB or 2MiB"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	size, ok := scaled(text, byteUnits)
	if !ok || size > 1<<40 {
		return at(n, "got %q, want %s, at most 1 TiB", text, want)
	}
	*v = Bytes(size)
	return nil
}

// A Duration is a time in nanoseconds: 500ns, 20us, 1.5ms, 1m30s.
type Duration int64

// UnmarshalYAML reads a Duration. It may be negative.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	const want = "a duration with its unit, for example 20us, 1.5ms or 1m30s"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return at(n, "got %q, want %s", text, want)
	}
	*d = Duration(v)
	return nil
}

// A Share is a part of a whole: 2% or 0.02.
type Share float64

// UnmarshalYAML reads a Share.
func (s *Share) UnmarshalYAML(n ast.Node) error {
	const want = "a share from 0% to 100%, for example 2% or 0.02"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	v, ok := scaled(text, map[string]float64{"": 1, "%": 0.01})
	if !ok || v > 1 {
		return at(n, "got %q, want %s", text, want)
	}
	*s = Share(v)
	return nil
}

// A Count is a whole number from 0.
type Count uint64

// UnmarshalYAML reads a Count.
func (c *Count) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "a whole number")
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return at(n, "got %q, want a whole number from 0", text)
	}
	*c = Count(v)
	return nil
}

// A Number is any finite number.
type Number float64

// UnmarshalYAML reads a Number.
func (v *Number) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "a number")
	if err != nil {
		return err
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || number-number != 0 {
		return at(n, "got %q, want a number", text)
	}
	*v = Number(number)
	return nil
}

// An Address is an IPv4 or IPv6 address.
type Address struct{ netip.Addr }

// UnmarshalYAML reads an Address.
func (a *Address) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "an IP address")
	if err != nil {
		return err
	}
	if a.Addr, err = netip.ParseAddr(text); err != nil || a.Zone() != "" {
		return at(n, "got %q, want an IP address", text)
	}
	return nil
}

// A Prefix is an IPv4 or IPv6 prefix. An address alone is a prefix of its full length.
type Prefix struct{ netip.Prefix }

// UnmarshalYAML reads a Prefix.
func (p *Prefix) UnmarshalYAML(n ast.Node) error {
	const want = "an IP prefix, for example 10.0.3.0/24"
	text, err := scalar(n, want)
	if err != nil {
		return err
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		p.Prefix = netip.PrefixFrom(addr, addr.BitLen())
		return nil
	}
	if p.Prefix, err = netip.ParsePrefix(text); err != nil {
		return at(n, "got %q, want %s", text, want)
	}
	if p.Prefix != p.Masked() {
		return at(n, "%s has bits behind its length; %s is the prefix", text, p.Masked())
	}
	return nil
}

// A MAC is an Ethernet address.
type MAC [6]byte

// UnmarshalYAML reads a MAC.
func (m *MAC) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "a MAC address")
	if err != nil {
		return err
	}
	v, err := net.ParseMAC(text)
	if err != nil || len(v) != len(m) {
		return at(n, "got %q, want a MAC address, for example a6:1a:f6:b1:64:7d", text)
	}
	*m = MAC(v)
	return nil
}

// A Moment is a wall time, in nanoseconds since 1970.
type Moment uint64

// UnmarshalYAML reads a Moment.
func (m *Moment) UnmarshalYAML(n ast.Node) error {
	text, err := scalar(n, "a time")
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return at(n, "got %q, want a time as in RFC 3339, for example 2026-01-01T00:00:00Z", text)
	}
	*m = Moment(t.UnixNano())
	return nil
}
