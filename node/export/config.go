package export

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Config says how a node sends its reports. Begin with DefaultConfig.
type Config struct {
	Format Format
	NodeID uint32 // unique within the management domain

	// Source is the address of the node. A collector tells nodes apart by it (TR 2.0 §3.1).
	Source netip.Addr

	// Destinations are the collectors. All have the same port (TR 2.0 §3.1.1). A flow belongs to one of them: nodes
	// with the same Destinations in the same order send their reports about it to the same one.
	Destinations []netip.AddrPort

	// SourcePort is the UDP source port; TR 2.0 allows another than 0. With EntropyPort it is made of the hash of the
	// flow instead, 49152 to 65535, so that reports spread over equal paths (TR 2.0 §3.1.1).
	SourcePort  uint16
	EntropyPort bool

	// DontFragment sets DF. Without it, every datagram to a destination has an IPv4 identification that does not repeat
	// for two minutes, and where there is none left, DF after all (TR 2.0 §3.1, RFC 6864 §4).
	DontFragment bool

	// MTU is the length in bytes that no datagram exceeds, IP header included: that of the path to the collectors. In
	// the Transparent Security profile it is the size that the profile sets.
	MTU int

	// Truncate is how many bytes of a packet a report keeps, 0 for as many as there is room for. A packet is cut at a
	// multiple of 4 bytes.
	Truncate int

	// CoalesceNs is how long a report may wait for others to share its datagram (TR 2.0 §2.7). 0: not at all.
	CoalesceNs uint64

	// Domains are the domains whose metadata the node knows; see codepoint.Points. Reports of other domains get no
	// domain specific metadata.
	Domains map[uint16]*codepoint.Domain

	// INTPort is the UDP port that announces INT, 0 if none does. Reports must not go there.
	INTPort uint16

	// Seed decides which IPv4 identification is the first, so that a node that starts again need not repeat the last
	// ones.
	Seed uint64

	Frame FrameConfig // for AppendFrame only
}

// A FrameConfig says what AppendFrame puts around a datagram.
type FrameConfig struct {
	SrcMAC, DstMAC [6]byte
	DSCP           uint8 // 6 bits
	TTL            uint8 // or hop limit
	// compute the UDP checksum; over IPv4 it may be 0, over IPv6 it is always computed (RFC 8200 §8.1)
	Checksum bool
}

// DefaultConfig returns what is usual for a format; NodeID, Source and Destinations are missing.
func DefaultConfig(f Format) Config {
	c := Config{Format: f, DontFragment: true, MTU: 1500, Frame: FrameConfig{TTL: 64, Checksum: true}}
	if f == TransparentSecurity {
		c.MTU = 200
	}
	return c
}

const (
	minMTU      = 128
	maxMTU      = 65535
	minTruncate = 64 // the first headers
)

// check returns the first rule that c breaks.
func (c *Config) check() error {
	switch {
	case c.Format > TransparentSecurity:
		return fmt.Errorf("format: got %s", c.Format)
	case !c.Source.IsValid() || c.Source.IsUnspecified() || c.Source.IsMulticast() || c.Source.Is4In6():
		return fmt.Errorf("source: got %s, want the address of the node", c.Source)
	case c.SourcePort != 0 && c.EntropyPort:
		return errors.New("source port: got a number and entropy, want one of both")
	case c.SourcePort != 0 && c.Format != TR20:
		return fmt.Errorf("source port: got %d, want 0 in format %s", c.SourcePort, c.Format)
	case c.EntropyPort && c.Format == TransparentSecurity:
		return fmt.Errorf("source port: got entropy, want 0 in format %s", c.Format)
	case c.MTU < minMTU || c.MTU > maxMTU:
		return fmt.Errorf("mtu: got %d, want %d to %d", c.MTU, minMTU, maxMTU)
	case c.Truncate != 0 && c.Truncate < minTruncate:
		return fmt.Errorf("truncate: got %d, want at least %d, or 0", c.Truncate, minTruncate)
	case c.CoalesceNs != 0 && !c.Format.groups():
		return fmt.Errorf("coalescing: got %d ns, want 0 in format %s", c.CoalesceNs, c.Format)
	case c.Frame.DSCP > 63:
		return fmt.Errorf("frame dscp: got %d, want 0 to 63", c.Frame.DSCP)
	case c.Frame.TTL == 0:
		return errors.New("frame ttl: got 0, want 1 to 255")
	}
	return c.checkDestinations()
}

func (c *Config) checkDestinations() error {
	if len(c.Destinations) == 0 {
		return errors.New("destinations: got none")
	}
	for i, d := range c.Destinations {
		switch {
		case !d.Addr().IsValid() || d.Addr().IsUnspecified() || d.Addr().Is4In6() || d.Port() == 0:
			return fmt.Errorf("destinations: got %s, want an address and a port", d)
		case d.Addr().Is4() != c.Source.Is4():
			return fmt.Errorf("destinations: got %s and source %s, want the same family", d, c.Source)
		case d.Port() != c.Destinations[0].Port():
			return fmt.Errorf("destinations: got ports %d and %d, want one port", c.Destinations[0].Port(), d.Port())
		case d.Port() == c.INTPort:
			return fmt.Errorf("destinations: got port %d, which announces INT", d.Port())
		}
		for _, other := range c.Destinations[:i] {
			if other == d {
				return fmt.Errorf("destinations: got %s twice", d)
			}
		}
	}
	return nil
}
