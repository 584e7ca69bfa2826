package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6RoutingHeader = header{
	name:  "IPv6Routing",
	fresh: func() wiretest.Codec { return new(IPv6Routing) },
	examples: []example{{
		name: "segment routing",
		hex: `
			11 02                            // NextHeader UDP, HdrExtLen 2
			04 01                            // Type, SegmentsLeft
			00000000                         // Data: Last Entry, Flags, Tag
			20010db8000200000000000000000002 //       Segment List[0]
		`,
		want: &IPv6Routing{
			NextHeader: ProtoUDP, HdrExtLen: 2, Type: 4, SegmentsLeft: 1,
			Data: []byte{0, 0, 0, 0, 0x20, 1, 0xd, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
		},
	}, {
		name: "shortest",
		hex: `
			3b 00    // NextHeader none, HdrExtLen 0
			fd 00    // Type, SegmentsLeft
			01020304 // Data
		`,
		want: &IPv6Routing{NextHeader: ProtoNone, Type: 253, Data: []byte{1, 2, 3, 4}},
	}},
}

func TestIPv6Routing(t *testing.T) { ipv6RoutingHeader.check(t) }

func TestIPv6RoutingTruncated(t *testing.T) {
	t.Run("shorter than 4", func(t *testing.T) {
		ipv6RoutingHeader.refused(t, `11 00 04`, 0, wire.ErrTruncatedIPv6Extension, &IPv6Routing{})
	})
	t.Run("data cut", func(t *testing.T) {
		ipv6RoutingHeader.refused(t, `11 01 04 02 00000000`, 0, wire.ErrTruncatedIPv6Extension,
			&IPv6Routing{NextHeader: ProtoUDP, HdrExtLen: 1, Type: 4, SegmentsLeft: 2})
	})
}
