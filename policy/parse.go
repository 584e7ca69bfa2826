package policy

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// nodeName is what names look like: not like numbers and wildcards.
var nodeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// number parses a number up to limit; hexadecimal ones begin with 0x.
func number[T uint8 | uint16 | uint32](text string, limit T) (T, error) {
	digits, base := text, 10
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > uint64(limit) {
		return 0, fmt.Errorf("got %q, want a number from 0 to %d", text, limit)
	}
	return T(n), nil
}

// parseSpan parses "80" and "80-443".
func parseSpan[T uint8 | uint16 | uint32](text string, limit T) (s span[T], err error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	if s.low, err = number(low, limit); err != nil {
		return s, err
	}
	if s.high, err = number(high, limit); err != nil {
		return s, err
	}
	if s.low > s.high {
		return s, fmt.Errorf("got %q, want the lower end first", text)
	}
	return s, nil
}

// parsePrefix parses a prefix, or an address as a prefix of its full length.
func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return p, fmt.Errorf("got %q, want an address or a prefix, for example 10.0.0.0/8", text)
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	switch {
	case p.Addr().Is4In6():
		return p, fmt.Errorf("got %s, want it in IPv4 notation", text)
	case p != p.Masked():
		return p, fmt.Errorf("got %s, which has bits behind the prefix; want %s", p, p.Masked())
	}
	return p, nil
}

// parseProtocol parses the name of an IP protocol as telemetry.ProtocolName has it, or its number.
func parseProtocol(text string) (span[uint8], error) {
	for n := range 256 {
		if telemetry.ProtocolName(uint8(n)) == text {
			return span[uint8]{uint8(n), uint8(n)}, nil
		}
	}
	if n, err := number[uint8](text, 255); err == nil {
		return span[uint8]{n, n}, nil
	}
	return span[uint8]{}, fmt.Errorf("got %q, want tcp, udp, another protocol or its number", text)
}
