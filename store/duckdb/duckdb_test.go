package duckdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

var _ store.Backend = (*Store)(nil)

// epoch is when the records of tests begin: 20 minutes before an hour, so that they cross it.
var epoch = time.Date(2026, 11, 21, 9, 40, 0, 0, time.UTC)

func open(t testing.TB, change func(*Config)) *Store {
	t.Helper()
	c := DefaultConfig(filepath.Join(t.TempDir(), "store"))
	c.MinFree = 1 << 20
	if change != nil {
		change(&c)
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t testing.TB, s *Store, v *telemetry.Intervals) {
	t.Helper()
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
}

// flowRecords are those of n flows in count intervals, with numbers of g.
func flowRecords(g *rand.Rand, from time.Time, count, n int) *telemetry.Intervals {
	v := &telemetry.Intervals{}
	for i := range count {
		for f := range n {
			key := telemetry.FlowKey{
				Src:     telemetry.AddrFrom4([4]byte{10, 0, 0, byte(f)}),
				Dst:     telemetry.AddrFrom4([4]byte{10, 1, 0, byte(f % 3)}),
				SrcPort: uint16(1000 + f), DstPort: 443, Protocol: 6,
			}
			r := telemetry.FlowInterval{
				StartNs: from.UnixNano() + int64(i)*telemetry.FlowIntervalNs, Key: key, Path: uint64(1 + f%2), DSCP: 8,
				Reports: 1 + g.Uint64N(100), Packets: 1 + g.Uint64N(100), Bytes: g.Uint64N(1e6), Drops: g.Uint64N(3),
			}
			m := &r.Residence
			m.Count, m.Min, m.Max = 1+g.Uint64N(10), 1000+g.Uint64N(100), 2000+g.Uint64N(1000)
			m.Sum, m.P50, m.P99 = m.Count*1500, 1500, m.Max
			v.Flows = append(v.Flows, r)
		}
	}
	return v
}

func ask(t testing.TB, s *Store, q store.Query) *store.Answer {
	t.Helper()
	a, err := s.Query(context.Background(), &q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sqlOf(t testing.TB, s *Store, text string) [][]any {
	t.Helper()
	a, err := s.Select(context.Background(), text, 1000)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a.Rows
}

// everyRecord are records of each kind, with and without what may be unknown.
func everyRecord() *telemetry.Intervals {
	at := epoch.UnixNano()
	node, port, queue := uint32(3), uint32(7), uint8(2)
	end := epoch.Add(time.Second)
	place := telemetry.Place{
		Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort, Node: 3,
		IngressPort: 6, EgressPort: 7,
	}
	flow := telemetry.FlowKey{
		Src: telemetry.AddrFrom(netip.MustParseAddr("2001:db8::1")),
		Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}), Protocol: 17, Tunnel: telemetry.TunnelVXLAN, TunnelID: 77,
	}
	endpoints := telemetry.EndpointsOf(&flow)
	h := telemetry.Histogram{
		Count: 3, Sum: 700, Min: 100, Max: 400, Scale: 1, Start: 13,
		Counts: []uint64{2, 0, 0, 0, 1},
	}
	return &telemetry.Intervals{
		Flows: []telemetry.FlowInterval{
			{
				StartNs: at, Key: flow, Path: 5, Packets: 9, HasDevice: true, Device: 0x0200000000010000,
				OuterSrc: telemetry.AddrFrom4([4]byte{1, 2, 3, 4}),
			},
			{StartNs: at, Key: telemetry.FlowKey{Protocol: 6}},
		},
		Paths:  []telemetry.PathInterval{{StartNs: at, Path: 5, Packets: 9, Residence: h}},
		Hops:   []telemetry.HopInterval{{StartNs: at, Place: place, Packets: 9, Latency: h}, {StartNs: at, Packets: 1}},
		Queues: []telemetry.QueueInterval{{StartNs: at, Place: place, Queue: 2, Samples: 4, Sum: 100, Max: 60}},
		Links: []telemetry.LinkInterval{
			{
				StartNs: at, From: place, To: place, Packets: 9,
				Utilization: telemetry.UtilizationSum{Samples: 4, Sum: 100, Max: 60},
			},
			{StartNs: at, From: place, To: place, Packets: 1},
		},
		Drops: []telemetry.DropInterval{{
			StartNs: at, Place: place, Reason: 5, Packets: 2, Flow: flow, HasFlow: true,
			DropKey: 0xabc,
		}, {StartNs: at, Packets: 1}},
		Exporters: []telemetry.ExporterInterval{
			{
				StartNs: at, Source: netip.MustParseAddr("10.0.0.9"), Node: 3, HasNode: true, Version: "2.0",
				Received: 10,
				Lost:     -1, LossKnown: "yes",
			},
			{StartNs: at, Source: netip.MustParseAddr("10.0.0.8"), Received: 1, LossKnown: "no: why"},
		},
		Events: []telemetry.Event{
			{
				ID: "e1", Kind: telemetry.EventLoop, Start: epoch, Count: 1, Node: &node, Port: &port, Queue: &queue,
				Flow: &endpoints, Source: "10.0.0.9",
			},
			{
				ID: "e1", Kind: telemetry.EventLoop, Start: epoch, Count: 4, End: &end, Node: &node, Port: &port,
				Queue: &queue, Flow: &endpoints, Source: "10.0.0.9",
			},
			{ID: "e2", Kind: telemetry.EventNewFlow, Start: epoch},
		},
		Routes: []telemetry.Route{{
			StartNs: at, Path: 5,
			Elements: []telemetry.PathElement{
				{Place: place},
				{Missing: 2},
				{Place: telemetry.Place{Has: telemetry.HasNode | telemetry.HasDrop, Node: 4}},
			},
		}},
	}
}

// TestEveryTable writes a record of each kind, with and without what may be unknown, and reads it back after the store
// was closed and opened again.
func TestEveryTable(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(DefaultConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, everyRecord())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(DefaultConfig(dir)); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for text, want := range map[string]string{
		"SELECT address(src_hi, src_lo), address(dst_hi, dst_lo), protocol, tunnel, tunnel_id, path_id, packets, device, residence_min FROM flows_10s ORDER BY packets DESC":                "[[2001:db8::1 10.0.0.1 17 1 77 5 9 02:00:00:00:00:01 <nil>] [:: :: 6 <nil> <nil> <nil> 0 <nil> <nil>]]",
		"SELECT path_id, packets, residence_count, residence_sum, residence_scale, residence_buckets, residence_counts, end_to_end_count, end_to_end_scale FROM paths_10s":                  "[[5 9 3 700 1 [13 17] [2 1] 0 <nil>]]",
		"SELECT node, ingress_port, egress_port, packets, dropped, latency_max FROM hops_1s ORDER BY packets DESC":                                                                          "[[3 6 7 9 false 400] [<nil> <nil> <nil> 1 false <nil>]]",
		"SELECT node, egress_port, queue_id, samples, occupancy_sum, occupancy_max FROM queues_1s":                                                                                          "[[3 7 2 4 100 60]]",
		"SELECT from_node, from_port, to_node, to_port, packets, utilization_samples, utilization_sum, utilization_max FROM links_10s":                                                      "[[3 7 3 6 9 4 100 60] [3 7 3 6 1 0 0 <nil>]]",
		"SELECT node, reason, reason_name, drop_key, protocol, packets FROM drops_10s ORDER BY packets DESC":                                                                                "[[3 5 reason_5 0000000000000abc 17 2] [<nil> 0 reason_0 <nil> <nil> 1]]",
		"SELECT address(source_hi, source_lo), node, hw_id, version, received, lost FROM exporters_10s ORDER BY received DESC":                                                              "[[10.0.0.9 3 <nil> 2.0 10 -1] [10.0.0.8 <nil> <nil> <nil> 1 <nil>]]",
		`SELECT id, kind, "end", duration, "count", node, egress_port, queue_id, protocol, tunnel_id, source_lo, json_extract(json, '$.count') FROM events ORDER BY id`:                     "[[e1 12 2026-11-21 09:40:01 +0000 UTC 1000000000 4 [3] 7 2 17 77 281470849515529 4] [e2 1 <nil> <nil> 0 [] <nil> <nil> <nil> <nil> <nil> 0]]",
		"SELECT path_id, hops, node, dropped, stations FROM routes":                                                                                                                         "[[5 4 [3 4] true 3[6,7] > ?(2) > 4[?,?]!]]",
		"SELECT histogram_quantile(latency_scale, latency_buckets, latency_counts, 0.5), histogram_quantile(latency_scale, latency_buckets, latency_counts, 1) FROM hops_1s WHERE node = 3": "[[117 511]]",
	} {
		if got := fmt.Sprint(sqlOf(t, s, text)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	h := everyRecord().Hops[0].Latency
	a := ask(t, s, store.Query{
		Table: store.Hops, From: epoch, To: epoch.Add(time.Hour), Group: []string{"node"},
		Values: []string{"packets", "latency"}, Order: "packets",
	})
	if got := fmt.Sprint(a.Columns, a.Rows[0][:2], *a.Rows[0][2].(*telemetry.Histogram)); got !=
		fmt.Sprint([]string{"node", "packets", "latency"}, []any{3, 9}, h) {
		t.Errorf("got %s", got)
	}
}

// TestStatements: only what reads the tables is executed.
func TestStatements(t *testing.T) {
	s := open(t, nil)
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 1, 3))
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"INSERT INTO flows_10s SELECT * FROM flows_10s": "want one SELECT statement",
		"DROP VIEW flows_10s":                           "want one SELECT statement",
		"SELECT 1; SELECT 2":                            "want one SELECT statement",
		"":                                              "want one SELECT statement",
		"SELECT 1; DROP VIEW flows_10s":                 "want one SELECT statement",
		"COPY (SELECT 1) TO '/tmp/x'":                   "want one SELECT statement",
		"ATTACH '/tmp/x'":                               "want one SELECT statement",
		"SET threads = 64":                              "want one SELECT statement",
		"INSTALL httpfs":                                "want one SELECT statement",
		"PRAGMA database_list":                          "want one SELECT statement",
		"SELECT * FROM read_csv('" + secret + "')":      "Permission Error",
		"SELECT * FROM read_text('" + secret + "')":     "Permission Error",
		"SELECT (SELECT count(*) FROM glob('/*'))":      "Permission Error",
		"WITH a AS (SELECT * FROM force_checkpoint()) SELECT 1 FROM a": "Cannot FORCE CHECKPOINT",
		"SELECT * FROM '" + secret + "'":                               "Permission Error",
		"SELECT nothing FROM flows_10s":                                "Binder Error",
		"SELEC 1":                                                      "syntax error",
	} {
		if _, err := s.SQL(context.Background(), text, 10); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	a, err := s.SQL(context.Background(), "SELECT flow, 0.0/0 FROM flows_10s", 2)
	if err != nil || len(a.Rows) != 2 || !a.More || a.Rows[0][1] != nil {
		t.Errorf("got %v, %v", a, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.SQL(ctx, "SELECT count(*) FROM range(1000000000) a, range(1000000000) b", 1); err == nil ||
		!strings.Contains(err.Error(), "took too long") {
		t.Errorf("got %v", err)
	}
	if got := sqlOf(t, s, "SELECT count(*) FROM flows_10s"); fmt.Sprint(got) != "[[3]]" {
		t.Errorf("got %v", got)
	}
}
