package otlp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A receiver reads requests with the library of the collector.
type receiver struct {
	*httptest.Server
	status  int // of the answers; 0: 200
	metrics []pmetric.Metrics
	traces  []ptrace.Traces
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || q.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%v, %v", err, q.Header)
		}
		if r.status != 0 {
			w.WriteHeader(r.status)
			return
		}
		var answer []byte
		switch q.URL.Path {
		case "/v1/metrics":
			request := pmetricotlp.NewExportRequest()
			if err = request.UnmarshalProto(body); err == nil {
				r.metrics = append(r.metrics, request.Metrics())
				answer, err = pmetricotlp.NewExportResponse().MarshalProto()
			}
		case "/v1/traces":
			request := ptraceotlp.NewExportRequest()
			if err = request.UnmarshalProto(body); err == nil {
				r.traces = append(r.traces, request.Traces())
				answer, err = ptraceotlp.NewExportResponse().MarshalProto()
			}
		default:
			t.Errorf("nothing is at %s", q.URL.Path)
		}
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func open(t *testing.T, url string, links ...telemetry.Link) export.Output {
	t.Helper()
	c := &Config{HTTP: export.HTTP{URL: url}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o, err := c.Open(export.Deps{
		Version: "v1", Links: func() []telemetry.Link { return links },
		Names:  func() map[uint32]string { return nil },
		Traced: func() func(*telemetry.Flow) bool { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// scrape is what a registry has, with values in two ranges of buckets that are far apart.
func scrape(t *testing.T, values []float64) *export.Scrape {
	t.Helper()
	registry := prometheus.NewRegistry()
	about := prometheus.CounterOpts{Name: "waybill_network_packets_total", Help: "Packets."}
	packets := prometheus.NewCounterVec(about, []string{"node"})
	depth := prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybill_network_depth_bytes", Help: "Depth."})
	latency := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "waybill_network_latency_seconds", Help: "Latency.", NativeHistogramBucketFactor: 1.1,
	})
	registry.MustRegister(packets, depth, latency)
	packets.WithLabelValues("leaf1").Add(42)
	depth.Set(1500)
	for _, v := range values {
		latency.Observe(v)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return &export.Scrape{At: time.Unix(2000, 0), Since: time.Unix(1000, 0), Families: families}
}

// TestMetrics: the collector's library reads the same numbers, and each value is in a bucket that it fits into.
func TestMetrics(t *testing.T) {
	r := receive(t)
	values := []float64{1e-6, 1.1e-6, 5e-6, 5e-6, 1e-3, 0.2, 0.26, 0.26, 0}
	refused, err := open(t, r.URL).Send(t.Context(), []export.Record{{Kind: export.Metrics, Of: scrape(t, values)}})
	if err != nil || len(refused) > 0 || len(r.metrics) != 1 {
		t.Fatalf("got %v, %v and %d requests", refused, err, len(r.metrics))
	}
	of := r.metrics[0].ResourceMetrics().At(0)
	if name, _ := of.Resource().Attributes().Get("service.name"); name.Str() != "waybill" {
		t.Errorf("service.name is %v", name.AsString())
	}
	seen := map[string]pmetric.Metric{}
	for i := range of.ScopeMetrics().At(0).Metrics().Len() {
		m := of.ScopeMetrics().At(0).Metrics().At(i)
		seen[m.Name()] = m
	}
	counter := seen["waybill_network_packets_total"]
	point := counter.Sum().DataPoints().At(0)
	node, _ := point.Attributes().Get("node")
	if point.DoubleValue() != 42 || node.Str() != "leaf1" || !counter.Sum().IsMonotonic() ||
		counter.Unit() != "{packet}" ||
		counter.Sum().AggregationTemporality() != pmetric.AggregationTemporalityCumulative ||
		point.StartTimestamp().AsTime().Unix() != 1000 || point.Timestamp().AsTime().Unix() != 2000 {
		t.Errorf("got %v of %v from %v to %v", point.DoubleValue(), node.Str(), point.StartTimestamp(),
			point.Timestamp())
	}
	gauge := seen["waybill_network_depth_bytes"]
	if v := gauge.Gauge().DataPoints().At(0).DoubleValue(); v != 1500 || gauge.Unit() != "By" {
		t.Errorf("got %v %s", v, gauge.Unit())
	}
	h := seen["waybill_network_latency_seconds"].ExponentialHistogram().DataPoints().At(0)
	if h.Count() != 9 || h.ZeroCount() != 1 || math.Abs(h.Sum()-0.7210121) > 1e-9 {
		t.Errorf("got %d values, %d of them 0, sum %v", h.Count(), h.ZeroCount(), h.Sum())
	}
	base := math.Pow(2, math.Pow(2, -float64(h.Scale())))
	want := map[int]uint64{}
	for _, v := range values[:8] { // (base^i, base^(i+1)], as the protocol says
		want[int(math.Ceil(math.Log(v)/math.Log(base)))-1]++
	}
	got := map[int]uint64{}
	for i, n := range h.Positive().BucketCounts().AsRaw() {
		if n > 0 {
			got[int(h.Positive().Offset())+i] = n
		}
	}
	for i, n := range want {
		if got[i] != n || len(got) != len(want) {
			t.Errorf("buckets: got %v, want %v", got, want)
			break
		}
	}
}

// flow took three hops, of which the second tells no times and the last dropped a packet.
func flow() *telemetry.Flow {
	n := func(v uint32) *uint32 { return &v }
	took := func(ns uint64) *telemetry.Distribution {
		return &telemetry.Distribution{Count: 7, Min: ns / 2, Mean: float64(ns), Max: 2 * ns}
	}
	return &telemetry.Flow{
		ID: "00000000000000ab", Packets: 7, Drops: 1, Last: time.Unix(5000, 0),
		Endpoints: telemetry.Endpoints{
			Src: netip.MustParseAddr("10.0.1.1"), Dst: netip.MustParseAddr("10.0.2.2"), Protocol: "tcp",
		},
		Paths: []telemetry.FlowPath{{ID: "cd", Hops: []telemetry.PathHop{
			{Node: n(1), Name: "leaf1", EgressPort: n(6), LatencyNs: took(1000)},
			{Node: n(11), Name: "spine1", IngressPort: n(1), EgressPort: n(2)},
			{
				Node: n(2), IngressPort: n(3), LatencyNs: took(4000), Dropped: true,
				Queue: &telemetry.Queue{ID: 5, Max: 90, Unit: "cells"},
			},
		}}},
	}
}

// TestTraces: a flow is a waybill: its hops and links one after the other, as long as they take.
func TestTraces(t *testing.T) {
	r := receive(t)
	port := uint32(6)
	delay := &telemetry.Delay{NS: &telemetry.Distribution{Mean: 500}}
	link := telemetry.Link{From: 1, To: 11, FromPort: &port, Delay: delay}
	records := []export.Record{
		{Kind: export.Traces, Of: flow()},
		{Kind: export.Traces, Of: flow()},
		{Kind: export.Traces, Of: &telemetry.Flow{}},
	}
	records[1].Of.(*telemetry.Flow).Last = time.Unix(5015, 0)
	refused, err := open(t, r.URL, link).Send(t.Context(), records)
	if err != nil || len(refused) > 0 || len(r.traces) != 1 {
		t.Fatalf("got %v, %v and %d requests", refused, err, len(r.traces))
	}
	spans := r.traces[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	if spans.Len() != 12 {
		t.Fatalf("got %d spans of two flows, want 12", spans.Len())
	}
	end := time.Unix(5000, 0)
	type span struct {
		name      string
		beginNs   int64 // before the end
		endNs     int64
		unknown   bool
		kind      string
		eventsSum string
	}
	var got []span
	ids := map[string]bool{}
	for i := range 6 {
		s := spans.At(i)
		kind := ""
		if v, ok := s.Attributes().Get("waybill.span"); ok {
			kind = v.Str()
		}
		_, unknown := s.Attributes().Get("waybill.time")
		var events []string
		for j := range s.Events().Len() {
			events = append(events, s.Events().At(j).Name())
		}
		got = append(got, span{
			s.Name(), end.Sub(s.StartTimestamp().AsTime()).Nanoseconds(),
			end.Sub(s.EndTimestamp().AsTime()).Nanoseconds(),
			unknown, kind, strings.Join(events, " "),
		})
		ids[s.SpanID().String()] = true
		if s.TraceID() != spans.At(0).TraceID() || (i > 0) != (s.ParentSpanID() == spans.At(0).SpanID()) {
			t.Errorf("%s is not part of the trace", s.Name())
		}
	}
	want := []span{
		{"10.0.1.1 > 10.0.2.2", 5500, 0, false, "", ""},
		{"leaf1", 5500, 4500, false, "hop", ""},
		{"leaf1 > spine1", 4500, 4000, false, "link", ""},
		{"spine1", 4000, 4000, true, "hop", ""},
		{"spine1 > node 2", 4000, 4000, true, "link", ""},
		{"node 2", 4000, 0, false, "hop", "queue drop"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	last := spans.At(5)
	queue, _ := last.Attributes().Get("waybill.queue.max")
	mean, _ := last.Attributes().Get("waybill.residence.mean_ns")
	if queue.Int() != 90 || mean.Double() != 4000 || last.Status().Code() != ptrace.StatusCodeError ||
		spans.At(0).Status().Code() != ptrace.StatusCodeError {
		t.Errorf("got queue %d, mean %v, %v", queue.Int(), mean.Double(), last.Status().Code())
	}
	if len(ids) != 6 || !strings.HasPrefix(spans.At(0).TraceID().String(), "00000000000000ab") ||
		spans.At(6).TraceID() == spans.At(0).TraceID() {
		t.Errorf("got %d ids, traces %v and %v", len(ids), spans.At(0).TraceID(), spans.At(6).TraceID())
	}
}

// datagram returns what a vector has of a telemetry report, which begins at a byte of it.
func datagram(t *testing.T, vector string, begin int) *export.Datagram {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(test.Root(), "testdata/vectors", vector+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Config map[string]any
		Hex    string
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	points := codepoint.New()
	if err := points.Apply(v.Config); err != nil {
		t.Fatal(err)
	}
	points.Compile()
	payload, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return &export.Datagram{
		TimeNs: 5000e9, Source: netip.MustParseAddrPort("192.0.2.11:4000"), Port: 6000, Payload: payload[begin:],
		Points: points,
	}
}

// TestPackets: a report is a trace of its packet, with what each node said of it, and two reports of a packet are one
// trace. What they say is in the vectors, which were not made by this code.
func TestPackets(t *testing.T) {
	r := receive(t)
	postcard, stack := datagram(t, "tr20_all_baseline_metadata", 0), datagram(t, "tr20_embedded_int_md_new_udp", 42)
	other := *postcard
	other.Payload = slices.Clone(postcard.Payload)
	other.Payload[7] = 5 // the last byte of the id of its node
	garbage := *postcard
	garbage.Payload = []byte{0x20}
	var records []export.Record
	for _, d := range []*export.Datagram{postcard, stack, &other, &garbage} {
		records = append(records, export.Record{Kind: export.Reports, Of: d})
	}
	refused, err := open(t, r.URL).Send(t.Context(), records)
	if err != nil || len(refused) > 0 || len(r.traces) != 1 {
		t.Fatalf("got %v, %v and %d requests", refused, err, len(r.traces))
	}
	spans := r.traces[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	var got []string
	ids := map[string]bool{}
	for i := range spans.Len() {
		s := spans.At(i)
		depth, _ := s.Attributes().Get("waybill.queue.max")
		events := ""
		for j := range s.Events().Len() {
			events += " " + s.Events().At(j).Name()
		}
		lasted := uint64(s.EndTimestamp() - s.StartTimestamp())
		got = append(got, fmt.Sprint(s.Name(), " ", lasted, " ", depth.Int(), events))
		ids[s.SpanID().String()] = true
	}
	want := []string{
		"10.0.1.1 > 10.0.2.2 123456 0", "node 4294967294 123456 1000 queue drop",
		"10.0.1.1 > 10.0.2.2 0 0", "node 257 0 273 queue", "node 257 > node 514 0 0", "node 514 0 546 queue",
		"node 514 > node 771 0 0", "node 771 0 819 queue",
		"10.0.1.1 > 10.0.2.2 123456 0", "node 4294967045 123456 1000 queue drop",
	}
	if !slices.Equal(got, want) || len(ids) != len(want) {
		t.Fatalf("got  %q, %d ids\nwant %q", got, len(ids), want)
	}
	if a, b, c := spans.At(0).TraceID(), spans.At(2).TraceID(), spans.At(8).TraceID(); a != c || a == b {
		t.Errorf("got traces %v, %v and %v", a, b, c)
	}

	o, err := (&Config{HTTP: export.HTTP{URL: r.URL}}).Open(export.Deps{
		Links: func() []telemetry.Link { return nil },
		Names: func() map[uint32]string { return map[uint32]string{4294967294: "leaf1"} },
		Traced: func() func(*telemetry.Flow) bool {
			return func(f *telemetry.Flow) bool { return f.Drops > 0 && f.Residence.P99 == 123456 }
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if refused, err := o.Send(t.Context(), records[:2]); err != nil || len(refused) > 0 || len(r.traces) != 2 {
		t.Fatalf("got %v, %v and %d requests", refused, err, len(r.traces))
	}
	if s := r.traces[1].ResourceSpans().At(0).ScopeSpans().At(0).Spans(); s.Len() != 2 || s.At(1).Name() != "leaf1" {
		t.Errorf("got %d spans", s.Len())
	}
}

// TestAnswers: what is refused is not sent again, what fails is.
func TestAnswers(t *testing.T) {
	r := receive(t)
	o := open(t, r.URL+"/")
	records := []export.Record{
		{Kind: export.Metrics, Of: &export.Scrape{Families: []*dto.MetricFamily{}}}, {Kind: export.Traces, Of: flow()},
	}
	for _, c := range []struct {
		status  int
		refused int
		fails   bool
	}{{0, 0, false}, {400, 2, false}, {413, 2, false}, {503, 0, true}, {429, 0, true}, {401, 0, true}, {302, 0, true}} {
		r.status = c.status
		refused, err := o.Send(t.Context(), records)
		if len(refused) != c.refused || (err != nil) != c.fails {
			t.Errorf("%d: got %v, %v", c.status, refused, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, h := range map[string]export.HTTP{
		`url: got ""`:                   {},
		`url: got "ftp://h"`:            {URL: "ftp://h"},
		"url: want https:// with tls":   {URL: "http://h:1", TLS: export.TLS{On: true}},
		"token_file: open /nowhere":     {URL: "https://h", TokenFile: "/nowhere"},
		"token_file: a token would be ": {URL: "http://h:1", TokenFile: "otlp.go"},
	} {
		if err := (&Config{HTTP: h}).Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
