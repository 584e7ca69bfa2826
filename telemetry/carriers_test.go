package telemetry_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// about makes a v2.0 report whose fragment is an Ethernet frame.
func about(frame []byte) []byte {
	group := report.Group{NodeID: 9}
	for len(frame)%4 != 0 {
		frame = append(frame, 0)
	}
	r := report.V20{InType: report.InEthernet, F: true, ReportLength: uint8(len(frame) / 4), Inner: frame}
	return r.Append(group.Append(nil))
}

// The flow is that of the original packet, whatever INT put around it.
func TestDecodeCarriers(t *testing.T) {
	for name, want := range map[string]string{
		"int21_md_gre_ipv4":            "10.0.1.1:49152 > 10.0.2.2:80 tcp",                 // GRE came with INT
		"int21_mx_gre_key_ethernet":    "10.0.1.1:40000 > 10.0.2.2:53 udp in gre 16909060", // GRE was there
		"int21_md_vxlan_gpe":           "10.0.1.1:40000 > 10.0.2.2:53 udp in vxlan 254",    // VXLAN before INT
		"int2016_vxlan_gpe":            "10.0.1.1:40000 > 10.0.2.2:53 udp in vxlan-gpe 48879",
		"int2016_geneve":               "10.0.1.1:40000 > 10.0.2.2:53 udp in geneve 48879",
		"int21_md_new_udp_tcp":         "10.0.1.1:49152 > 10.0.2.2:80 tcp",
		"int21_md_udp_npt1_ipv6":       "[2001:db8:1::1]:40000 > [2001:db8:2::2]:4791 udp",
		"int21_md_tcp_dscp":            "10.0.1.1:49152 > 10.0.2.2:80 tcp",
		"int21_md_probe_marker":        "10.0.1.1:40000 > 10.0.2.2:53 udp",
		"int21_mx_new_udp_ipsec":       "10.0.1.1:0 > 10.0.2.2:0 ah",
		"ioam_ipv6_preallocated":       "[2001:db8:1::1]:40000 > [2001:db8:2::2]:53 udp",
		"ioam_vxlan_gpe_incremental":   "10.0.1.1:40000 > 10.0.2.2:53 udp in vxlan-gpe 49374",
		"int10_tcp_dscp":               "10.0.1.1:49152 > 10.0.2.2:80 tcp",
		"int21_md_checksum_complement": "10.0.1.1:40000 > 10.0.2.2:53 udp",
	} {
		v := test.Vectors(t, name)[0]
		h, reports := decode(t, v.Points(t), about(v.Bytes))
		if h.Outcome != telemetry.Decoded || len(reports) != 1 {
			t.Errorf("%s: outcome %v, reason %v", name, h.Outcome, h.Reason)
			continue
		}
		var w wantReport
		walk(v.Expect.([]any), &w)
		if got := reports[0].Flow.String(); got != want {
			t.Errorf("%s: flow: got %s, want %s", name, got, want)
		}
		if v.Name[:7] != "int2016" && got(&reports[0]).nodes != w.nodes { // a destination header follows there
			t.Errorf("%s: nodes: got %s, want %s", name, got(&reports[0]).nodes, w.nodes)
		}
	}
}

// INT 0.5 that the L4 destination port announces: the tail holds the port that it replaced.
func TestDecodeINT05ByPort(t *testing.T) {
	v := test.Vectors(t, "tr05_int05_tcp")[0]
	payload := payloadOf(t, &v)
	points := v.Points(t)
	points.INTDSCPMask = 0
	points.Compile()
	const tcp = 12 + 14 + 20
	binary.BigEndian.PutUint16(payload[tcp+2:], points.INTUDPPort)
	_, reports := decode(t, points, payload)
	if len(reports) != 1 || reports[0].Flow.DstPort != 22 || reports[0].Flow.Protocol != packet.ProtoTCP ||
		got(&reports[0]).nodes != "257 514" {
		t.Errorf("got %+v", reports)
	}
}

// followUp makes a report of the vector whose INT of June 2016 is in Geneve options: its header for all hops becomes
// that of a follow-up packet (INT 2016 §4.2), and copied says whether C is set.
func followUp(t testing.TB, copied bool) (payload []byte, v test.Vector) {
	t.Helper()
	v = test.Vectors(t, "int2016_geneve")[0]
	frame := bytes.Clone(v.Bytes)
	at := bytes.Index(frame, []byte{0x00, 0xab, 1})
	frame[at+2] = 2
	if copied {
		frame[at+4] |= 0x08
	}
	return about(frame), v
}

// A follow-up packet has the hops of its header, and is no copy of a packet. The contents of another destination header
// mean nothing.
func TestDecodeFollowUp(t *testing.T) {
	payload, v := followUp(t, true)
	h, reports := decode(t, v.Points(t), payload)
	if h.Outcome != telemetry.Decoded || len(reports) != 1 || !reports[0].Is(telemetry.FollowUp) ||
		!reports[0].Is(telemetry.Embedded) || reports[0].Is(telemetry.Discard|telemetry.SlowPaths) ||
		len(reports[0].Hops) != 3 {
		t.Errorf("outcome %v, reports %+v", h.Outcome, reports)
	}
	_, original := decode(t, v.Points(t), about(bytes.Clone(v.Bytes)))
	if len(original) != 1 || !original[0].Is(telemetry.SlowPaths) || original[0].Is(telemetry.FollowUp) ||
		original[0].PacketID != reports[0].PacketID || got(&original[0]).nodes != got(&reports[0]).nodes {
		t.Errorf("got %+v\nof the packet %+v", reports, original)
	}
	payload, v = followUp(t, false)
	_, reports = decode(t, v.Points(t), payload)
	if len(reports) != 1 || reports[0].Is(telemetry.FollowUp|telemetry.Embedded) {
		t.Errorf("without C: %+v", reports)
	}
}

// destinationData makes a report of the same vector, whose destination header becomes one of a source of Waybill.
func destinationData(t testing.TB) (payload []byte, v test.Vector) {
	t.Helper()
	v = test.Vectors(t, "int2016_geneve")[0]
	frame := bytes.Clone(v.Bytes)
	d := inband.Destination{HasSequence: true, HasTTL: true, TTL: 99, Sequence: 1<<31 + 7}
	copy(frame[bytes.Index(frame, []byte{0x00, 0xab, 2})+4:], d.Append(nil))
	return about(frame), v
}

// What a source tells in a destination header does not change what the header for all hops says.
func TestDecodeDestination(t *testing.T) {
	payload, v := destinationData(t)
	_, without := decode(t, v.Points(t), about(bytes.Clone(v.Bytes)))
	h, reports := decode(t, v.Points(t), payload)
	if h.Outcome != telemetry.Decoded || len(reports) != 1 || !reports[0].Is(telemetry.HasFlowSequence) ||
		reports[0].FlowSequence != 1<<31+7 || !reports[0].Is(telemetry.HasFirstTTL) || reports[0].FirstTTL != 99 {
		t.Fatalf("outcome %v, reports %+v", h.Outcome, reports)
	}
	if len(without) != 1 || without[0].Is(telemetry.HasFlowSequence|telemetry.HasFirstTTL) ||
		got(&without[0]).nodes != got(&reports[0]).nodes || without[0].Bytes != reports[0].Bytes {
		t.Errorf("got %+v\nwithout it %+v", reports[0], without)
	}
}
