package telemetry_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// The tests of this file are one for each rule about what a collector reads, in the order of
// docs/reference/conformance.md. Offsets are those of the reports of package internal/test.

const (
	flags20   = 8 + 3                   // D, Q, F, I of the first report in TR 2.0
	fragment  = 8 + 4                   // of a report with Inner Only
	header20  = fragment + 14 + 20 + 12 // INT header behind Ethernet, IPv4, UDP and shim
	records20 = header20 + 12
	record20  = 32 // node id, interfaces, latency, queue, two timestamps of 64 bits
)

func points(t *testing.T) *codepoint.Config {
	t.Helper()
	c := codepoint.New()
	err := c.Apply(map[string]any{"int_udp_port": test.INTPort, "int_dscp": 0x17, "int_format_for_version_0": "v0.5"})
	if err != nil {
		t.Fatal(err)
	}
	c.Compile()
	return c
}

// one decodes a datagram that is well-formed and holds one report.
func one(t *testing.T, payload []byte) *telemetry.Report {
	t.Helper()
	h, reports := decode(t, points(t), payload)
	if h.Outcome != telemetry.Decoded || len(reports) != 1 {
		t.Fatalf("outcome %v, reason %v, %d reports", h.Outcome, h.Reason, len(reports))
	}
	return &reports[0]
}

// One decoder, one port: the first nibble says the version.
func TestR083AllVersionsOnOnePort(t *testing.T) {
	decoder := telemetry.NewDecoder(points(t))
	var batch telemetry.Batch
	var h telemetry.Header
	for range 2 {
		for _, c := range []struct {
			form test.Form
			want telemetry.Version
		}{
			{test.Form05MD, telemetry.Version05},
			{test.Form20MD, telemetry.Version20},
			{test.Form10MD, telemetry.Version10},
			{test.Form05Local, telemetry.Version05},
			{test.Form20XD, telemetry.Version20},
		} {
			decoder.Decode(test.Report(c.form, 1, 2, 3), anySource, 6000, &batch, &h)
			if h.Outcome != telemetry.Decoded || h.Version != c.want || h.Reports != 1 {
				t.Errorf("%s: got %+v", c.form, h)
			}
		}
	}
}

// Without F the fragment is an ordinary packet, whatever its port or DSCP (TR 2.0 §3.4).
func TestR084NoStackWithoutF(t *testing.T) {
	for form, f := range map[test.Form]struct {
		at   int
		mask byte
	}{
		test.Form05MD: {1, 0x20}, test.Form10MD: {3, 0x40}, test.Form20MD: {flags20, 0x20},
		test.Form20MX: {flags20, 0x20},
	} {
		payload := test.Report(form, 1, 2, 3)
		with := one(t, payload)
		if !with.Is(telemetry.Tracked) || !with.Is(telemetry.Embedded|telemetry.Instructed) {
			t.Fatalf("%s: F is not where this test looks: %+v", form, with)
		}
		payload[f.at] &^= f.mask
		r := one(t, payload)
		if r.Is(telemetry.Tracked|telemetry.Embedded|telemetry.Instructed) || len(r.Hops) > 0 ||
			!r.Is(telemetry.HasFlow) {
			t.Errorf("%s: got %+v", form, r)
		}
	}
}

// Reserved bits mean nothing, set or not.
func TestR087ReservedBitsAreIgnored(t *testing.T) {
	for form, reserved := range map[test.Form]map[int]uint32{ // words by offset
		test.Form05MD: {0: 0x001FFFC0},
		test.Form10MD: {0: 0x00007E00},
		test.Form20MD: {8: 0x0000000F, header20: 0x01FFE000},
		test.Form20XD: {8: 0x0000000F},
	} {
		payload := test.Report(form, 1, 2, 3)
		want := *one(t, payload)
		for at, bits := range reserved {
			word := binary.BigEndian.Uint32(payload[at:])
			if word&bits != 0 {
				t.Fatalf("%s: bits at %d are not zero: %08x", form, at, word)
			}
			binary.BigEndian.PutUint32(payload[at:], word|bits)
		}
		if r := one(t, payload); !reflect.DeepEqual(*r, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", form, r, want)
		}
	}
}

// contents returns a report without the datagram that it came in.
func contents(r telemetry.Report) telemetry.Report {
	r.Datagram = nil
	return r
}

// A datagram that breaks off, or whose second report is wrong, yields what stood before the place.
func TestR088KeepsWhatCameBefore(t *testing.T) {
	c, payload := points(t), test.Report(test.Form20Three, 1, 2, 3)
	_, whole := decode(t, c, payload)
	if len(whole) != 3 {
		t.Fatalf("got %d reports, want 3", len(whole))
	}
	size := (len(payload) - 8) / 3
	for n := range payload {
		h, reports := decode(t, c, payload[:n:n])
		if h.Outcome == telemetry.Decoded && (n < 8 || (n-8)%size >= 4) { // less than a word is padding
			t.Fatalf("%d bytes: got no reason", n)
		}
		for i := range max(0, n-8) / size { // those that are all there
			if i >= len(reports) || !reflect.DeepEqual(contents(reports[i]), contents(whole[i])) {
				t.Fatalf("%d bytes: report %d is lost", n, i)
			}
		}
	}
	payload[8+size+1] = 0xFE // Report Length of the second one
	h, reports := decode(t, c, payload)
	if h.Outcome != telemetry.Damaged || len(reports) == 0 ||
		!reflect.DeepEqual(contents(reports[0]), contents(whole[0])) {
		t.Errorf("got %v, %v, %d reports", h.Outcome, h.Reason, len(reports))
	}
}

// The stack tells of the hops before a drop, the report of the node that dropped (TR 2.0 §2.5).
func TestR089StackOfADroppedPacket(t *testing.T) {
	payload := test.Report(test.Form20MD, 1, 2, 3)
	payload[flags20] |= 0x80 // D
	payload[7] = 9           // Node ID
	r := one(t, payload)
	var nodes []uint32
	for _, h := range r.Hops {
		nodes = append(nodes, h.NodeID)
		if h.Has&telemetry.HasDrop != 0 {
			t.Errorf("a hop of the stack dropped: %+v", h)
		}
	}
	if fmt.Sprint(nodes) != "[1 2 3]" || !r.Is(telemetry.Dropped) || r.Local.NodeID != 9 ||
		r.Local.Has&telemetry.HasDrop == 0 {
		t.Errorf("got nodes %v, %+v", nodes, r.Local)
	}
}

// All ones are no number.
func TestR092AllOnesAreNotAvailable(t *testing.T) {
	payload := test.Report(test.Form20MD, 1, 2, 3)
	for at := records20 + 4; at < records20+record20; at++ { // the newest record, but for its node id
		payload[at] = 0xFF
	}
	r := one(t, payload)
	last := r.Hops[len(r.Hops)-1]
	if last.NodeID != 3 || last.Has&^telemetry.HasWideTimes != telemetry.HasNode {
		t.Errorf("newest: got %+v", last)
	}
	if first := r.Hops[0]; first.Has&telemetry.HasLatency == 0 || first.LatencyNs != 1001 {
		t.Errorf("oldest: got %+v", first)
	}
}

// The timestamps of one node are 32 bits wide and wrap between ingress and egress.
func TestR093TimestampsWrap(t *testing.T) {
	payload := test.Report(test.Form05Local, 1, 2, 3)
	binary.BigEndian.PutUint32(payload[8:], 0xFFFFFF00) // ingress
	binary.BigEndian.PutUint32(payload[24:], 0x100)     // egress
	if r := one(t, payload); r.Local.Has&telemetry.HasLatency == 0 || r.Local.LatencyNs != 0x200 {
		t.Errorf("got %+v, want 512 ns", r.Local)
	}
}

// The layout of a program that departs from the specification is read for the source that is configured so, and for no
// other; the header says which it was.
func TestR094DialectOfConfiguredSourceOnly(t *testing.T) {
	c := codepoint.New()
	if err := c.Set("dialects", map[string]any{"192.0.2.11": "onos-int10-ver0"}); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	// Flags before the reserved bits: F. In TR 1.0 the same bit is reserved.
	payload := append([]byte{0x14, 0x00, 0x10, 0x01, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0},
		test.Report(test.Form10MD, 1, 2, 3)[16:]...)
	decoder := telemetry.NewDecoder(c)
	for source, want := range map[string]bool{"192.0.2.11:1": true, "192.0.2.12:1": false} {
		var batch telemetry.Batch
		var h telemetry.Header
		decoder.Decode(payload, netip.MustParseAddrPort(source), 6000, &batch, &h)
		if len(batch.Reports) != 1 || batch.Reports[0].Is(telemetry.Tracked) != want ||
			(h.Dialect == "onos-int10-ver0") != want {
			t.Errorf("%s: got %+v, %+v", source, h, batch.Reports)
		}
	}
}

// vectorReport decodes the report in a vector that begins with Ethernet, of IPv4 without options.
func vectorReport(t *testing.T, c *codepoint.Config, name string) *telemetry.Report {
	t.Helper()
	_, reports := decode(t, c, test.Vectors(t, name)[0].Bytes[14+20+8:])
	if len(reports) != 1 {
		t.Fatalf("%s: got %d reports", name, len(reports))
	}
	return &reports[0]
}

// The source-only metadata of Transparent Security name the device: in the vector it is a6:1a:f6:b1:64:7d,
// behind three records.
func TestR102DeviceOfATrackedFlow(t *testing.T) {
	c := codepoint.New()
	if err := c.Set("int_udp_port", 555); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	r := vectorReport(t, c, "ts_tracked_flow_profile")
	if !r.Is(telemetry.HasDevice) || r.Device != 0xa61af6b1647d_0000 || len(r.Hops) != 3 {
		t.Errorf("got device %#x, %d hops", r.Device, len(r.Hops))
	}
}

// A drop report has the hash of the rule and how many packets it dropped: 250, by the rule b9790778025c16af. It tells
// of no packet.
func TestR103DropReport(t *testing.T) {
	r := vectorReport(t, test.Dialect(t, "tps"), "ts_drop_report")
	if !r.Is(telemetry.Dropped) || !r.Is(telemetry.DropSummary) || r.DropKey != 0xb9790778025c16af ||
		r.DropCount != 250 ||
		r.Is(telemetry.HasFlow|telemetry.Tracked) || r.Bytes != 0 || len(r.Hops) > 0 {
		t.Errorf("got %+v", r)
	}
}

// A report of 0.5 without a local header says by its source address alone which node sent it (TR 0.5 §3.1). With
// another header it has the switch id, which counts.
func TestR063SourceNodes(t *testing.T) {
	for name, want := range map[string]uint32{"tr05_int05_tcp": 77, "tr05_switch_local": 0} {
		v := test.Vectors(t, name)[0]
		c := codepoint.New()
		if err := c.Apply(v.Config); err != nil {
			t.Fatal(err)
		}
		c.Compile()
		before := vectorReport(t, c, name)
		if want == 0 {
			want = before.NodeID
		} else if before.HasNodeID {
			t.Fatalf("%s names node %d", name, before.NodeID)
		}
		if err := c.Set("source_nodes", map[string]any{anySource.Addr().String(): 77, "192.0.2.99": 78}); err != nil {
			t.Fatal(err)
		}
		r := vectorReport(t, c, name)
		if !r.HasNodeID || r.NodeID != want || r.Local.Has&telemetry.HasNode == 0 || r.Local.NodeID != want {
			t.Errorf("%s: got %+v, want node %d", name, r, want)
		}
	}
}

// Some leave the copy of the destination port in the tail of INT 0.5 empty: then that of the L4 header counts.
func TestEmptyPortInTail(t *testing.T) {
	v := test.Vectors(t, "tr05_int05_tcp")[0]
	c := codepoint.New()
	if err := c.Apply(v.Config); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	payload := bytes.Clone(payloadOf(t, &v))
	tail := bytes.Index(payload, []byte{6, 0, 22, 0})
	if tail < 0 {
		t.Fatal("no tail")
	}
	payload[tail+2] = 0
	if _, reports := decode(t, c, payload); len(reports) != 1 || reports[0].Flow.DstPort != 22 {
		t.Errorf("got %+v", reports)
	}
}
