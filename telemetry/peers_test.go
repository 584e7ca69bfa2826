package telemetry_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestDecodePeers decodes reports as the generators and tests of other projects build them (testdata/peers), with the
// dialect of each, and compares all that they say: what is null must not be known, what is absent is not asked.
func TestDecodePeers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "testdata/peers/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no packets: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				Hex    string
				Config map[string]any
				Report map[string]any
			}
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatal(err)
			}
			payload, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			c := codepoint.New()
			if err := c.Apply(v.Config); err != nil {
				t.Fatal(err)
			}
			c.Compile()
			h, reports := decode(t, c, payload)
			if h.Outcome != telemetry.Decoded || len(reports) != 1 {
				t.Fatalf("got outcome %v, reason %v, %d reports", h.Outcome, h.Reason, len(reports))
			}
			compare(t, "report", reportFacts(&reports[0]), v.Report)
			if r := &reports[0]; r.Is(telemetry.WrongChecksum | telemetry.WrongL4Checksum | telemetry.StackCut) {
				t.Errorf("flags %b", r.Flags)
			}
		})
	}
}

// compare looks for all of want in got.
func compare(t *testing.T, where string, got, want map[string]any) {
	t.Helper()
	for name, w := range want {
		g := got[name]
		switch w := w.(type) {
		case map[string]any:
			compare(t, where+"."+name, g.(map[string]any), w)
		case []any:
			list, _ := g.([]map[string]any)
			if len(list) != len(w) {
				t.Errorf("%s.%s: got %d, want %d", where, name, len(list), len(w))
				continue
			}
			for i := range w {
				compare(t, fmt.Sprintf("%s.%s[%d]", where, name, i), list[i], w[i].(map[string]any))
			}
		case float64:
			if g == nil || fmt.Sprint(g) != fmt.Sprint(uint64(w)) {
				t.Errorf("%s.%s: got %v, want %v", where, name, g, uint64(w))
			}
		default:
			if g != w {
				t.Errorf("%s.%s: got %v, want %v", where, name, g, w)
			}
		}
	}
}

func reportFacts(r *telemetry.Report) map[string]any {
	f := map[string]any{
		"sequence": r.Sequence, "dscp": r.DSCP, "bytes": r.Bytes, "drop_count": r.DropCount,
		"drop_total": r.Is(telemetry.DropTotal),
		"local":      hopFacts(&r.Local), "reason": r.DropReasons.Name(r.Local.DropReason),
	}
	if r.Is(telemetry.HasFlow) {
		f["flow"] = r.Flow.String()
	}
	if r.HasNodeID {
		f["node_id"] = r.NodeID
	}
	if r.Is(telemetry.HasFlowSequence) {
		f["flow_sequence"] = r.FlowSequence
	}
	var hops []map[string]any
	for i := range r.Hops {
		hops = append(hops, hopFacts(&r.Hops[i]))
	}
	f["hops"] = hops
	return f
}

func hopFacts(h *telemetry.Hop) map[string]any {
	f := map[string]any{"queue_id": h.QueueID}
	for _, v := range []struct {
		has   telemetry.Fields
		name  string
		value any
	}{
		{telemetry.HasNode, "node_id", h.NodeID},
		{telemetry.HasIngressPort, "ingress_port", h.IngressPort},
		{telemetry.HasEgressPort, "egress_port", h.EgressPort},
		{telemetry.HasLatency, "latency_ns", h.LatencyNs},
		{telemetry.HasQueue, "queue", h.QueueOccupancy},
		{telemetry.HasCongestion, "congestion", h.Congestion},
		{telemetry.HasIngressTime, "ingress_ns", h.IngressNs},
		{telemetry.HasEgressTime, "egress_ns", h.EgressNs},
		{telemetry.HasL2Ports, "l2_ingress", h.L2Ingress},
		{telemetry.HasL2Ports, "l2_egress", h.L2Egress},
		{telemetry.HasTxUtil, "tx_util", h.TxUtil},
	} {
		if h.Has&v.has != 0 {
			f[v.name] = v.value
		}
	}
	return f
}
