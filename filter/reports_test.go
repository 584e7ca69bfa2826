package filter

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestReportRow gives each field of the schema the values of a report that has all of them, and only those that are
// always there of a datagram that says nothing.
func TestReportRow(t *testing.T) {
	const everything = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
		telemetry.HasQueue |
		telemetry.HasTxUtil | telemetry.HasDrop | telemetry.HasTTL
	hop := func(node uint32) telemetry.Hop {
		has := everything
		if node != 3 { // of which nobody knows the unit of its utilization
			has |= telemetry.InUtilizationUnit(codepoint.HundredthsOfPercent)
		}
		return telemetry.Hop{
			Has: has, NodeID: node, IngressPort: node + 10, EgressPort: node + 20, LatencyNs: uint64(node) + 30,
			QueueID:        uint8(node) + 40,
			QueueOccupancy: node + 50, TxUtil: 5000, DropReason: uint8(node) + 60, TTL: uint8(node) + 70,
		}
	}
	header := telemetry.Header{
		Source: netip.MustParseAddr("192.0.2.1"), Version: telemetry.Version20, Outcome: telemetry.Damaged,
		Reason:    wire.ErrUnknownVersion,
		HasNodeID: true, NodeID: 3, HasSequence: true, Sequence: 4, Dialect: "spec",
	}
	report := telemetry.Report{
		Flags: telemetry.HasFlow | telemetry.HasOuter | telemetry.Dropped | telemetry.Tracked,
		Hops:  []telemetry.Hop{hop(1), {Has: telemetry.HasLatency, LatencyNs: 9}, hop(2)}, Local: hop(3),
		DSCP: 5, Bytes: 6, Flow: telemetry.FlowKey{
			Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: 7,
			DstPort: 8, Protocol: 17,
			Tunnel: telemetry.TunnelVXLAN, TunnelID: 9,
		},
		Outer: telemetry.FlowKey{
			Src: telemetry.AddrFrom4([4]byte{10, 1, 0, 1}),
			Dst: telemetry.AddrFrom4([4]byte{10, 1, 0, 2}),
		},
	}
	uints := func(list ...uint64) (values []Value) {
		for _, n := range list {
			values = append(values, FromUint(n))
		}
		return values
	}
	addr := func(a ...byte) []Value { return []Value{FromAddr(telemetry.AddrFrom4([4]byte(a)))} }
	want := map[string][]Value{
		"time": {FromTime(time.Unix(0, 77))}, "exporter": addr(192, 0, 2, 1), "listener": {FromText("[::]:8555")},
		"length":  uints(100),
		"outcome": uints(1), "reason": {FromText("unknown_version")}, "version": {FromText("2.0")},
		"dialect": {FromText("spec")},
		"sender":  uints(3), "sequence": uints(4), "flow": {FromText(fmt.Sprintf("%016x", report.Flow.Hash()))},
		"src": addr(10, 0, 0, 1), "dst": addr(10, 0, 0, 2), "src_port": uints(7), "dst_port": uints(8),
		"protocol": uints(17),
		"tunnel":   uints(1), "tunnel_id": uints(9), "outer.src": addr(10, 1, 0, 1), "outer.dst": addr(10, 1, 0, 2),
		"dscp": uints(5), "bytes": uints(6),
		"dropped": {FromBool(true)}, "congested": {FromBool(false)}, "tracked": {FromBool(true)}, "hops": uints(4),
		"node":             uints(1, 2, 3),
		"hop.ingress_port": uints(11, 12, 13), "hop.egress_port": uints(21, 22, 23),
		"hop.latency": uints(31, 9, 32, 33), "hop.queue_id": uints(41, 42, 43),
		"hop.queue_occupancy": uints(51, 52, 53), "hop.tx_util": {FromFloat(0.5), FromFloat(0.5)},
		"hop.drop_reason": uints(61, 62, 63), "hop.ttl": uints(71, 72, 73),
	}
	always := map[string]bool{"time": true, "exporter": true, "listener": true, "length": true, "outcome": true}
	values := func(r *ReportRow, f *Field) (list []Value) {
		for i := range 5 {
			v, ok := ReportTable.Row(r).Value(f.Index(), i)
			if !ok || i > 0 && !f.Many {
				break
			}
			list = append(list, v)
		}
		return list
	}
	full := &ReportRow{TimeNs: 77, Listener: "[::]:8555", Length: 100, Header: &header, Report: &report}
	empty := &ReportRow{TimeNs: 77, Listener: "[::]:8555", Header: &telemetry.Header{Source: header.Source}}
	for _, f := range Reports.Fields() {
		if len(f.Any) > 0 {
			continue
		}
		if got := values(full, f); !reflect.DeepEqual(got, want[f.Name]) {
			t.Errorf("%s: got %v, want %v", f.Name, got, want[f.Name])
		}
		if got := values(empty, f); (len(got) > 0) != always[f.Name] {
			t.Errorf("%s of a datagram that says nothing: %v", f.Name, got)
		}
	}
	// A sender that is the newest hop of its stack is not there twice.
	report.Local.NodeID = 2
	if got := values(full, Reports.byName["node"]); !reflect.DeepEqual(got, uints(1, 2)) {
		t.Errorf("nodes %v", got)
	}
}
