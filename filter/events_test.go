package filter

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestEventChoices holds the choices to the kinds and severities of telemetry: each once, in the order of their
// numbers.
func TestEventChoices(t *testing.T) {
	if len(eventKinds) != telemetry.NumEventKinds-1 || len(severities) != int(telemetry.Critical)+1 {
		t.Fatalf("%d kinds and %d severities", len(eventKinds), len(severities))
	}
	for i, c := range eventKinds {
		k := telemetry.EventKind(i + 1)
		var read telemetry.EventKind
		if err := read.UnmarshalText([]byte(c.Name)); err != nil || read != k || c.Number != uint64(k) ||
			c.Name != k.String() {
			t.Errorf("kind %d is %+v", k, c)
		}
	}
	for i, c := range severities {
		if s := telemetry.Severity(i); c.Number != uint64(s) || c.Name != s.String() {
			t.Errorf("severity %d is %+v", s, c)
		}
	}
}

// TestEventRow gives each field of the schema a value of an event that has all of them, and none of one that has
// nothing.
func TestEventRow(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	end := start.Add(time.Second)
	node, port, toNode, toPort, id := uint32(1), uint32(2), uint32(3), uint32(4), uint32(5)
	queue, reason := uint8(6), uint8(7)
	full := telemetry.Event{
		ID: "a", Kind: telemetry.EventLoop, Severity: telemetry.Critical, Start: start, End: &end, Count: 8, Text: "b",
		Node: &node, Name: "c", Port: &port, Queue: &queue, ToNode: &toNode, ToName: "d", ToPort: &toPort,
		Reason: &reason, ReasonName: "e",
		Acknowledged: &telemetry.Acknowledgement{By: "g"},
		Source:       "192.0.2.1", Path: "f", Flow: &telemetry.Endpoints{
			Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("2001:db8::1"), SrcPort: 9, DstPort: 10,
			Protocol: "99", Tunnel: "geneve", TunnelID: &id,
		},
	}
	want := map[string][]Value{
		"id": {FromText("a")}, "kind": {FromUint(12)}, "severity": {FromUint(2)}, "start": {FromTime(start)},
		"end": {FromTime(end)}, "duration": {FromDuration(time.Second)}, "count": {FromUint(8)},
		"text": {FromText("b")},
		"node": {FromUint(1), FromUint(3)}, "name": {FromText("c"), FromText("d")}, "egress_port": {FromUint(2)},
		"queue_id": {FromUint(6)}, "to_node": {FromUint(3)}, "to_port": {FromUint(4)}, "reason": {FromUint(7)},
		"reason_name": {FromText("e")}, "source": {FromAddr(telemetry.AddrFrom4([4]byte{192, 0, 2, 1}))},
		"path":     {FromText("f")},
		"src":      {FromAddr(telemetry.AddrFrom4([4]byte{10, 0, 0, 1}))},
		"dst":      {FromAddr(telemetry.AddrFrom(full.Flow.Dst))},
		"src_port": {FromUint(9)}, "dst_port": {FromUint(10)}, "protocol": {FromUint(99)}, "tunnel": {FromUint(3)},
		"tunnel_id": {FromUint(5)}, "acknowledged": {FromBool(true)},
	}
	always := map[string]bool{"kind": true, "severity": true, "count": true, "acknowledged": true}
	values := func(e *telemetry.Event, f *Field) (list []Value) {
		for i := range 3 {
			v, ok := EventRow{e}.Value(f.Index(), i)
			if !ok || i > 0 && !f.Many {
				break
			}
			list = append(list, v)
		}
		return list
	}
	for _, f := range Events.Fields() {
		if len(f.Any) > 0 {
			continue
		}
		if got := values(&full, f); !reflect.DeepEqual(got, want[f.Name]) {
			t.Errorf("%s: got %v, want %v", f.Name, got, want[f.Name])
		}
		if got := values(&telemetry.Event{}, f); (len(got) > 0) != always[f.Name] {
			t.Errorf("%s of nothing: got %v", f.Name, got)
		}
	}
	far := telemetry.Event{ToNode: &toNode, ToName: "d"}
	for _, name := range []string{"node", "name"} {
		f, _ := Events.Find(name)
		if got := values(&far, f); !reflect.DeepEqual(got, want[name][1:]) {
			t.Errorf("%s of the far end alone: got %v", name, got)
		}
	}
	if _, ok := (EventRow{&telemetry.Event{Flow: &telemetry.Endpoints{Protocol: "other"}}}).Value(
		indexOf(t, "protocol"), 0); ok {
		t.Error("a protocol without a number has one")
	}
}

func indexOf(t *testing.T, name string) int {
	f, ok := Events.Find(name)
	if !ok {
		t.Fatalf("no field %s", name)
	}
	return f.Index()
}
