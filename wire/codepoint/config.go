package codepoint

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Profile is everything that decides how the packets of one source are read: a dialect, and the code points with
// those of the dialect in them.
type Profile struct {
	Points
	Dialect *Dialect
}

// NewProfile lays the dialect's own code points over p.
func NewProfile(p *Points, d *Dialect) *Profile {
	profile := &Profile{Points: p.Clone(), Dialect: d}
	if d.points != nil {
		d.points(&profile.Points)
	}
	return profile
}

// A Rule gives a dialect to the packets of a source.
type Rule struct {
	Prefix  netip.Prefix
	Port    uint16 // the UDP port that the packet came from or was sent to; 0: any
	Dialect *Dialect
}

// ParseRule reads "PREFIX[:PORT]" ("10.0.0.0/24", "10.0.0.3:32766", "[2001:db8::/32]:556", ":6000", "any") and the name
// of a dialect.
func ParseRule(source, dialect string) (Rule, error) {
	d, err := FindDialect(dialect)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Dialect: d}
	prefix, port := source, ""
	if rest, ok := strings.CutPrefix(source, "["); ok {
		prefix, port, ok = strings.Cut(rest, "]")
		if !ok {
			return Rule{}, fmt.Errorf("source %q: missing ]", source)
		}
		port = strings.TrimPrefix(port, ":")
	} else if strings.Count(source, ":") == 1 {
		prefix, port, _ = strings.Cut(source, ":")
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return Rule{}, fmt.Errorf("source %q: bad port %q", source, port)
		}
		r.Port = uint16(n)
	}
	if prefix == "" || prefix == "any" || prefix == "*" {
		return r, nil
	}
	if strings.Contains(prefix, "/") {
		r.Prefix, err = netip.ParsePrefix(prefix)
	} else {
		var addr netip.Addr
		if addr, err = netip.ParseAddr(prefix); err == nil {
			r.Prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
	}
	if err != nil {
		return Rule{},
			fmt.Errorf(
				"source %q: want PREFIX[:PORT], for example 10.0.0.0/24, 10.0.0.3:32766, [2001:db8::/32]:556 or any",
				source)
	}
	return r, nil
}

// source spells the source of r as ParseRule reads it.
func (r *Rule) source() string {
	text := "any"
	if r.Prefix.IsValid() {
		text = r.Prefix.String()
		if r.Port != 0 && r.Prefix.Addr().Is6() {
			text = "[" + text + "]"
		}
	}
	if r.Port != 0 {
		text += ":" + strconv.Itoa(int(r.Port))
	}
	return text
}

func (r *Rule) matches(src netip.Addr, srcPort, dstPort uint16) bool {
	return (!r.Prefix.IsValid() || r.Prefix.Contains(src)) && (r.Port == 0 || r.Port == srcPort || r.Port == dstPort)
}

// A Config is the code points of a deployment and the dialects of its sources. Use New, Set or Apply, then Compile.
type Config struct {
	Points
	Rules []Rule
	// SourceNodes are the nodes that reports from an address are of which do not say it (TR 0.5 §3.1, TR 2.0 §3.1).
	SourceNodes map[netip.Addr]uint32

	base     *Profile
	profiles []*Profile // of Rules
}

// New returns the configuration of a deployment that configured nothing.
func New() *Config { return &Config{Points: Default()} }

// Compile makes c ready for For. It must be called after the last change.
func (c *Config) Compile() {
	// The most specific rule decides: longest prefix first, then rules with a port; among equals the first.
	slices.SortStableFunc(c.Rules, func(a, b Rule) int {
		if n := prefixBits(b.Prefix) - prefixBits(a.Prefix); n != 0 {
			return n
		}
		return min(int(b.Port), 1) - min(int(a.Port), 1)
	})
	c.base = NewProfile(&c.Points, Specification)
	c.profiles = make([]*Profile, len(c.Rules))
	for i, r := range c.Rules {
		c.profiles[i] = NewProfile(&c.Points, r.Dialect)
	}
}

func prefixBits(p netip.Prefix) int {
	if !p.IsValid() {
		return -1
	}
	return p.Bits()
}

// For returns the profile of packets from src, sent from srcPort to dstPort. It does not allocate.
func (c *Config) For(src netip.Addr, srcPort, dstPort uint16) *Profile {
	for i := range c.Rules {
		if c.Rules[i].matches(src, srcPort, dstPort) {
			return c.profiles[i]
		}
	}
	return c.base
}

// Names reports whether a rule gives a dialect to packets from src, sent from srcPort to dstPort.
func (c *Config) Names(src netip.Addr, srcPort, dstPort uint16) bool {
	return slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.matches(src, srcPort, dstPort) })
}
