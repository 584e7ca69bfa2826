package api

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// storeOf returns a question to a store that has these records.
func storeOf(t *testing.T, v *telemetry.Intervals) History {
	t.Helper()
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
	return s.Query
}

// Groups of events count what the list has, by hand here, of now and of the past.
func TestEventGroups(t *testing.T) {
	collector, log := happened(t)
	cfg := testConfig(collector)
	cfg.Events = log
	events, _ := log.Events(nil, 1000)
	if len(events) < 3 {
		t.Fatalf("%d events", len(events))
	}
	later := begin.Add(time.Hour) // one of another kind, between nodes, and one about no node
	node, to := uint32(1), uint32(2)
	ended := later.Add(time.Second)
	stored := append(slices.Clone(events),
		telemetry.Event{
			ID: "00000000000000a1", Kind: telemetry.EventLinkLost, Severity: telemetry.Warning,
			Start: later, Node: &node, ToNode: &to, Count: 5,
		},
		telemetry.Event{
			ID: "00000000000000a2", Kind: telemetry.EventLinkLost, Severity: telemetry.Warning,
			Start: later.Add(time.Minute), End: &ended, ToNode: &to, Count: 7,
		},
	)
	cfg.History = storeOf(t, &telemetry.Intervals{Events: stored})
	h := New(cfg)
	for _, c := range []struct {
		query string
		of    []telemetry.Event
		key   func(*telemetry.Event) string
	}{
		{"?group_by=kind", events, func(e *telemetry.Event) string { return e.Kind.String() }},
		{
			"?group_by=kind&since=20000h&until=2100-01-01T00:00:00Z", stored,
			func(e *telemetry.Event) string { return e.Kind.String() },
		},
		{"?group_by=severity,node", events, severityAndNode},
		{"?group_by=severity,node&since=20000h&until=2100-01-01T00:00:00Z", stored, severityAndNode},
		{"?group_by=", events, func(*telemetry.Event) string { return "" }},
		{"?group_by=&since=20000h&until=2100-01-01T00:00:00Z", stored, func(*telemetry.Event) string { return "" }},
	} {
		want := map[string]types.EventGroup{}
		for i := range c.of {
			e := &c.of[i]
			g := want[c.key(e)]
			if g.Events == nil {
				g = types.EventGroup{Events: new(uint64), Count: new(uint64), Open: new(uint64)}
			}
			*g.Events++
			*g.Count += e.Count
			if e.End == nil {
				*g.Open++
			}
			want[c.key(e)] = g
		}
		w := ask(h, "GET", "/api/v1/events"+c.query)
		var got types.EventGroups
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Events) != len(want) ||
			got.Total != len(want) {
			t.Errorf("%s: got %d %s, want %d groups", c.query, w.Code, w.Body, len(want))
			continue
		}
		for i, g := range got.Events {
			var e telemetry.Event
			if g.Kind != nil {
				e.Kind = *g.Kind
			}
			if g.Severity != nil {
				e.Severity = *g.Severity
			}
			e.Node = g.Node
			of := want[c.key(&e)]
			if of.Events == nil || *of.Events != *g.Events || *of.Count != *g.Count || *of.Open != *g.Open ||
				g.First == nil || g.Last.Before(*g.First) {
				t.Errorf("%s: got %s, want %+v", c.query, must(json.Marshal(g)), of)
			}
			if i > 0 && *g.Events > *got.Events[i-1].Events {
				t.Errorf("%s: %d after %d events", c.query, *g.Events, *got.Events[i-1].Events)
			}
		}
	}
	// Orders, and pieces of a time range.
	var got types.EventGroups
	json.Unmarshal(ask(h, "GET", "/api/v1/events?group_by=kind&order=events:asc").Body.Bytes(), &got)
	if !slices.IsSortedFunc(got.Events, func(a, b types.EventGroup) int { return int(*a.Events) - int(*b.Events) }) {
		t.Errorf("not in order: %s", must(json.Marshal(got)))
	}
	at := later.Truncate(time.Minute)
	got = types.EventGroups{}
	json.Unmarshal(
		ask(h, "GET", fmt.Sprintf("/api/v1/events?interval=1m&order=start&since=%s&until=%s", at.Format(time.RFC3339),
			at.Add(time.Hour).Format(time.RFC3339))).Body.Bytes(), &got)
	if len(got.Events) != 2 || !got.Events[0].Start.Equal(at.Add(time.Minute)) || !got.Events[1].Start.Equal(at) ||
		*got.Events[1].Count != 5 || !got.Events[1].First.Equal(later) {
		t.Errorf("pieces: got %s", must(json.Marshal(got)))
	}
}

func severityAndNode(e *telemetry.Event) string {
	if e.Node == nil {
		return e.Severity.String()
	}
	return fmt.Sprint(e.Severity, *e.Node)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Groups of bursts add up those of the list, and the past says what now says.
func TestBurstGroups(t *testing.T) {
	cfg := queuedAt(t, 4, 5)
	bursts, _ := cfg.Bursts.Bursts(nil, burst.ByLast, 100)
	cfg = keepBursts(t, cfg, bursts)
	h := New(cfg)
	for _, by := range []string{"", "node", "port", "node,port,queue", "incast,queue"} {
		want := map[string]uint64{}
		var drops, packets, peak uint64
		key := func(node, port *uint32, queue *uint8, incast *bool) string {
			parts := map[string]string{
				"": "", "node": deref(node), "port": deref(port),
				"node,port,queue": deref(node) + "," + deref(port) + "," + deref(queue),
				"incast,queue":    deref(incast) + "," + deref(queue),
			}
			return parts[by]
		}
		for _, b := range bursts {
			want[key(&b.Node, &b.Port, &b.Queue, &b.Incast)]++
			drops, packets, peak = drops+b.Drops, packets+b.Packets, max(peak, *b.PeakBytes)
		}
		for _, span := range []string{"", "&since=20000h&until=0s"} {
			w := ask(h, "GET", "/api/v1/bursts?group_by="+by+span)
			var got types.BurstGroups
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 ||
				len(got.Bursts) != len(want) {
				t.Errorf("%s%s: got %d %s, want %v", by, span, w.Code, w.Body, want)
				continue
			}
			var sumDrops, sumPackets, highest uint64
			for _, g := range got.Bursts {
				if n := want[key(g.Node, g.Port, g.Queue, g.Incast)]; n != *g.Bursts {
					t.Errorf("%s%s: got %s, want %d", by, span, must(json.Marshal(g)), n)
				}
				sumDrops, sumPackets, highest = sumDrops+*g.Drops, sumPackets+*g.Packets, max(highest, *g.PeakBytes)
			}
			if sumDrops != drops || sumPackets != packets || highest != peak {
				t.Errorf("%s%s: got %d, %d, %d, want %d, %d, %d", by, span, sumDrops, sumPackets, highest, drops,
					packets, peak)
			}
		}
	}
	if len(bursts) < 2 {
		t.Errorf("%d bursts", len(bursts))
	}
}

func deref[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

// What is not known of one exporter is not known of the group.
func TestLossGroup(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	a := telemetry.Loss{Source: netip.MustParseAddr("192.0.2.1")}
	a.Sent, a.Lost, a.Received = n(10), n(2), 8
	a.Malformed = map[string]uint64{"truncated": 1, "version": 2}
	unknown := telemetry.Loss{Source: netip.MustParseAddr("192.0.2.2")}
	unknown.Received = 5
	for _, order := range [][]*telemetry.Loss{{&a, &a}, {&a, &unknown, &a}, {&unknown, &a}} {
		var g types.LossGroup
		var received uint64
		known := true
		for _, l := range order {
			addLoss(&g, l)
			received += l.Received
			known = known && l.Lost != nil
		}
		if *g.Exporters != uint64(len(order)) || *g.Received != received || (g.Lost != nil) != known || known &&
			(*g.Lost != 4 || *g.Sent != 20 || *g.Malformed != 6) {
			t.Errorf("got %s", must(json.Marshal(g)))
		}
	}
	collector, log := happened(t)
	cfg := testConfig(collector)
	cfg.Events = log
	h := New(cfg)
	var list types.LossList
	json.Unmarshal(ask(h, "GET", "/api/v1/loss").Body.Bytes(), &list)
	for _, query := range []string{"?group_by=", "?group_by=source,node", "?group_by=version&since=1h"} {
		var got types.LossGroups
		w := ask(h, "GET", "/api/v1/loss"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: %v, %s", query, err, w.Body)
		}
		var exporters uint64
		for _, g := range got.Loss {
			exporters += *g.Exporters
		}
		if exporters != uint64(len(list.Loss)) || len(got.Sockets) != len(list.Sockets) {
			t.Errorf("%s: got %s, want %d exporters", query, w.Body, len(list.Loss))
		}
	}
}
