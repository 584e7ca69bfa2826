package detect

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// maxPoints is how many values of a code point are tried.
const maxPoints = 8

// pointsOf returns the code points that packets allow: DSCP values in front of what could be a shim, UDP ports of what
// could be INT 2.x, and what VXLAN-GPE, Geneve and GRE announce that nothing knows.
func pointsOf(packets []Packet) []Point {
	cfg := codepoint.New()
	cfg.Compile()
	seen := map[Point]int{}
	for i := range packets {
		p := &packets[i]
		layers := dissect.Packet(p.Bytes, p.Start, cfg)
		allowed(p.Bytes, layers, seen)
		for _, fragment := range dissect.Fragments(layers) {
			allowed(p.Bytes, fragment, seen)
		}
	}
	points := slices.SortedFunc(maps.Keys(seen), func(a, b Point) int { return seen[b] - seen[a] })
	perKey := map[string]int{}
	points = slices.DeleteFunc(points, func(p Point) bool {
		perKey[p.Key]++
		return perKey[p.Key] > maxPoints
	})
	if perKey["int_dscp"] > 0 {
		for _, layout := range []string{"v0.5", "v1.0"} {
			points = append(points, Point{"int_format_for_version_0", "--int-version-0", layout})
		}
		points = append(points, Point{"int_before_tcp_options", "--int-before-tcp-options", "true"})
	}
	return points
}

// allowed counts in seen the code points that would make telemetry of what is behind the layers.
func allowed(b []byte, layers []dissect.Layer, seen map[Point]int) {
	dscp := uint64(0)
	for i := range layers {
		l := &layers[i]
		rest := b[min((l.Bit+l.Width)/8, len(b)):]
		switch l.Name {
		case "ipv4", "ipv6":
			dscp = l.Find("dscp").Number()
		case "udp", "tcp":
			family := inband.DetectL4(rest)
			if port := l.Find("dst_port").Number(); l.Name == "udp" && family == inband.Family2x && len(rest) > 8 &&
				rest[4]>>4 == 2 {
				seen[Point{"int_udp_port", "--int-port", fmt.Sprint(port)}]++
			}
			if dscp != 0 &&
				(family == inband.Family2x || family == inband.FamilyOld && len(rest) > 12 && rest[0] > 0 &&
					rest[0] <= 2) {
				seen[Point{"int_dscp", "--dscp", fmt.Sprintf("%#x/0x3f", dscp)}]++
			}
		case "vxlan_gpe":
			if l.Find("next_protocol").Number() == 5 {
				for _, meaning := range []string{"int-2016", "int-0.5", "ioam"} {
					seen[Point{"vxlan_gpe_next_protocol_5", "--gpe-next-protocol-5", meaning}]++
				}
			}
		case "geneve_option":
			if class := l.Find("class").Number(); l.Find("hex") != nil && class != 0x0103 {
				seen[Point{"geneve_int_class", "--geneve-class", fmt.Sprintf("%#04x", class)}]++
			}
		case "gre":
			kind := l.Find("protocol").Number()
			known := kind == packet.EtherTypeIPv4 || kind == packet.EtherTypeIPv6 || kind == packet.EtherTypeTEB ||
				kind == packet.EtherTypeMPLS
			if !known && len(rest) > 8 && inband.DetectL4(rest) == inband.Family2x &&
				binary.BigEndian.Uint16(rest[4:])>>12 == 2 {
				seen[Point{"gre_int_protocol", "--gre-protocol", fmt.Sprintf("%#04x", kind)}]++
			}
		}
	}
}
