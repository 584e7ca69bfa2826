package export

import (
	"net/netip"
	"strings"
	"testing"
)

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		format Format
		change func(c *Config)
		want   string
	}{
		{TR20, func(c *Config) { c.Format = 9 }, "format: got unknown (9)"},
		{TR20, func(c *Config) { c.Source = netip.Addr{} }, "source: got invalid IP, want the address of the node"},
		{
			TR20, func(c *Config) { c.SourcePort, c.EntropyPort = 1, true },
			"source port: got a number and entropy, want one of both",
		},
		{TR05, func(c *Config) { c.SourcePort = 5 }, "source port: got 5, want 0 in format 0.5"},
		{TR10, func(c *Config) { c.SourcePort = 5 }, "source port: got 5, want 0 in format 1.0"},
		{
			TransparentSecurity, func(c *Config) { c.SourcePort = 5 },
			"source port: got 5, want 0 in format transparent-security",
		},
		{
			TransparentSecurity, func(c *Config) { c.EntropyPort = true },
			"source port: got entropy, want 0 in format transparent-security",
		},
		{TR20, func(c *Config) { c.MTU = 127 }, "mtu: got 127, want 128 to 65535"},
		{TR20, func(c *Config) { c.MTU = 65536 }, "mtu: got 65536, want 128 to 65535"},
		{TR20, func(c *Config) { c.Truncate = 63 }, "truncate: got 63, want at least 64, or 0"},
		{TR20, func(c *Config) { c.Truncate = -1 }, "truncate: got -1, want at least 64, or 0"},
		{TR05, func(c *Config) { c.CoalesceNs = 1 }, "coalescing: got 1 ns, want 0 in format 0.5"},
		{TR10, func(c *Config) { c.CoalesceNs = 1 }, "coalescing: got 1 ns, want 0 in format 1.0"},
		{TR20, func(c *Config) { c.Frame.DSCP = 64 }, "frame dscp: got 64, want 0 to 63"},
		{TR20, func(c *Config) { c.Frame.TTL = 0 }, "frame ttl: got 0, want 1 to 255"},
		{TR20, func(c *Config) { c.Destinations = nil }, "destinations: got none"},
		{
			TR20, func(c *Config) { c.Destinations = []netip.AddrPort{{}} },
			"destinations: got invalid AddrPort, want an address and a port",
		},
		{
			TR20, func(c *Config) { c.Destinations[0] = netip.MustParseAddrPort("192.0.2.9:0") },
			"destinations: got 192.0.2.9:0, want an address and a port",
		},
		{
			TR20, func(c *Config) { c.Destinations[0] = netip.MustParseAddrPort("[2001:db8::1]:9") },
			"destinations: got [2001:db8::1]:9 and source 192.0.2.1, want the same family",
		},
		{
			TR20, func(c *Config) { c.Destinations = append(c.Destinations, netip.MustParseAddrPort("192.0.2.9:9")) },
			"destinations: got ports 32766 and 9, want one port",
		},
		{
			TR20, func(c *Config) { c.Destinations = append(c.Destinations, c.Destinations[0]) },
			"destinations: got 198.51.100.1:32766 twice",
		},
		{TR20, func(c *Config) { c.INTPort = 32766 }, "destinations: got port 32766, which announces INT"},
	} {
		c := config(tc.format)
		tc.change(&c)
		if _, err := New(c, func(*Datagram) {}); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, err := New(config(TR20), nil); err == nil {
		t.Error("nobody to send: got no error")
	}
}

func TestFormatNames(t *testing.T) {
	for _, f := range formats {
		if got, err := ParseFormat(f.String()); err != nil || got != f {
			t.Errorf("%s: got %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("3.0"); err == nil ||
		!strings.Contains(err.Error(), `got "3.0", want 0.5, 1.0, 2.0 or transparent-security`) {
		t.Errorf("got %v", err)
	}
}
