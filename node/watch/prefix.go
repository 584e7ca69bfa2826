package watch

import (
	"errors"
	"net/netip"
	"strings"
)

// A Prefix is a set of IP addresses. The zero Prefix is every address, of either family; 0.0.0.0/0 is every IPv4 address
// and ::/0 every IPv6 address.
type Prefix struct{ netip.Prefix }

var errPrefix = errors.New("want a prefix or an address, for example 10.0.0.0/8")

// ParsePrefix reads "10.0.0.0/8", "2001:db8::/32", or a single address.
func ParsePrefix(text string) (Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return Prefix{}, errPrefix
		}
		return Prefix{p}, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return Prefix{}, errPrefix
	}
	return Prefix{netip.PrefixFrom(addr, addr.BitLen())}, nil
}

// IsZero says whether p is the zero Prefix, which YAML leaves out.
func (p Prefix) IsZero() bool { return p == Prefix{} }
