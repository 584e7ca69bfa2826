package scenario

import (
	"net"
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// The values of a scenario. Those with a unit are written as people write them and kept as numbers.
type (
	Duration = unit.Duration
	Bytes    = unit.Bytes
	Rate     = unit.Rate
	Share    = unit.Share
	Prefix   = unit.Prefix
	Count    = uint64
	Number   = float64
	Ends     = [2]string // the names of the two nodes that a link joins
	Raw      = conf.Raw

	checker = conf.Document // collects what is wrong with a scenario that could be read
)

// An Address is an IPv4 or IPv6 address.
type Address struct{ netip.Addr }

// UnmarshalText reads an Address.
func (a *Address) UnmarshalText(text []byte) (err error) {
	if a.Addr, err = netip.ParseAddr(string(text)); err != nil || a.Zone() != "" {
		return unit.Want("an IP address")
	}
	return nil
}

// A MAC is an Ethernet address.
type MAC [6]byte

// UnmarshalText reads a MAC.
func (m *MAC) UnmarshalText(text []byte) error {
	v, err := net.ParseMAC(string(text))
	if err != nil || len(v) != len(m) {
		return unit.Want("a MAC address, for example a6:1a:f6:b1:64:7d")
	}
	*m = MAC(v)
	return nil
}

// A Moment is a wall time, in nanoseconds since 1970.
type Moment uint64

// UnmarshalText reads a Moment.
func (m *Moment) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return unit.Want("a time as in RFC 3339, for example 2026-01-01T00:00:00Z")
	}
	*m = Moment(t.UnixNano())
	return nil
}
