package main

import (
	"bufio"
	"context"
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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// sendScenario lets a scenario happen, as fast as the server takes it, and returns what should be known of it.
func sendScenario(t *testing.T, r *running, s *scenario.Scenario) *expect.Answers {
	t.Helper()
	d := dialects[0]
	s.Truth.SamplePackets = 1
	s.INT = scenario.Raw{Text: []byte(everyPacket + d.text)}
	sink := newPacedSink(t, r)
	_, written := sink.play(s, fabric.Options{})
	truth, err := expect.Read(written)
	if err != nil {
		t.Fatal(err)
	}
	options := d.options
	options.Identity, options.Source = sink.identities, loopbackSource
	r.join()
	return truth.Answers(options)
}

// startExporting starts a server with outputs.
func startExporting(t *testing.T, outputs string) *running {
	t.Helper()
	return startServer(t, func(c *serve.Config) {
		file := filepath.Join(t.TempDir(), "waybill.yaml")
		text := "export:\n  outputs:\n" + outputs
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		c.Workers, c.Data = 1, t.TempDir()
		if err := c.Points.Apply(dialects[0].points); err != nil {
			t.Fatal(err)
		}
	})
}

func loadScenario(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	h := hurryOf(s)
	h.hasten(s)
	return s
}

// TestKafkaHasAll compares what is in Kafka, after the server has stopped, with what happened in the network.
func TestKafkaHasAll(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	r := startExporting(t, fmt.Sprintf("    siem: {kafka: {brokers: %q}, records: [flows, paths, routes, events]}\n",
		cluster.ListenAddrs()))
	want := sendScenario(t, r, loadScenario(t, "link-failure"))
	var events []telemetry.Event
	r.get("/api/v1/events?limit=1000", "events", &events)
	r.stop()

	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeRegex(),
		kgo.ConsumeTopics("waybill.*"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	flows, paths, routes, got := map[string]uint64{}, map[string]uint64{}, map[string]int{}, map[string]string{}
	total := func(m map[string]uint64) (n uint64) {
		for _, v := range m {
			n += v
		}
		return n
	}
	wanted := map[string]uint64{}
	for i := range want.Flows {
		f := &want.Flows[i]
		wanted[fmt.Sprint(f.Src, f.SrcPort, f.Dst)] += f.Packets
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	all := func() bool { // topics come in any order
		for path := range paths {
			if routes[path] == 0 {
				return false
			}
		}
		return total(flows) >= total(wanted) && total(paths) >= total(wanted) && len(got) >= len(events)
	}
	for !all() {
		for _, m := range client.PollFetches(ctx).Records() {
			var v struct {
				ID, Text string
				Src, Dst netip.Addr
				SrcPort  uint16 `json:"src_port"`
				Packets  uint64
				Hops     []telemetry.PathHop
			}
			if err := json.Unmarshal(m.Value, &v); err != nil || v.ID != string(m.Key) {
				t.Fatalf("%s has key %s: %v", m.Value, m.Key, err)
			}
			switch m.Topic {
			case "waybill.flows":
				flows[fmt.Sprint(v.Src, v.SrcPort, v.Dst)] += v.Packets
			case "waybill.paths":
				paths[v.ID] += v.Packets
			case "waybill.routes":
				routes[v.ID] = len(v.Hops)
			case "waybill.events":
				got[v.ID] = v.Text
			default:
				t.Fatalf("nobody asked for %s", m.Topic)
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("got %d packets of flows and %d of %d paths of %d, %d routes, and %d events of %d", total(flows),
				total(paths), len(paths), total(wanted), len(routes), len(got), len(events))
		}
	}
	for flow, n := range wanted {
		if flows[flow] != n {
			t.Errorf("%s: got %d packets, want %d", flow, flows[flow], n)
		}
	}
	if len(flows) != len(wanted) || len(flows) < 10 {
		t.Errorf("got %d flows, want %d", len(flows), len(wanted))
	}
	if n := total(paths); n != total(wanted) {
		t.Errorf("got %d packets of paths, want %d", n, total(wanted))
	}
	for _, e := range events {
		if got[e.ID] == "" {
			t.Errorf("event %s was not sent: %s", e.ID, e.Text)
		}
	}
}

// metric returns the value of a series of /metrics; NaN if there is none.
func (r *running) metric(series string) float64 {
	r.t.Helper()
	return r.metrics(series)[0]
}

// metrics returns the values of series, of one moment.
func (r *running) metrics(series ...string) []float64 {
	r.t.Helper()
	response, err := http.Get(r.URL() + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	values := slices.Repeat([]float64{math.NaN()}, len(series))
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		for i := range series {
			if text, ok := strings.CutPrefix(lines.Text(), series[i]+" "); ok {
				if values[i], err = strconv.ParseFloat(text, 64); err != nil {
					r.t.Fatal(err)
				}
			}
		}
	}
	return values
}

// TestSlowOutput: a broker that nobody reaches keeps neither the tables nor the store from their work, and what it does
// not get is counted.
func TestSlowOutput(t *testing.T) {
	address := test.FreePort(t, "tcp") // nobody listens there
	r := startExporting(t, fmt.Sprintf("    siem: {kafka: {brokers: [%q]}, records: [flows], queue: 5}\n", address))
	want := sendScenario(t, r, loadScenario(t, "steady"))
	var flows []telemetry.Flow
	r.get("/api/v1/flows?limit=1000", "flows", &flows)
	if len(flows) != len(want.Flows) {
		t.Errorf("the tables have %d flows, want %d", len(flows), len(want.Flows))
	}
	test.Eventually(t, "the queue is full", func() bool {
		return r.metric(`waybill_export_records_total{outcome="queue_full",output="siem",records="flows"}`) > 0
	})
	test.Eventually(t, "the failure is told", func() bool {
		return r.metric(`waybill_export_failing{output="siem"}`) == 1
	})
	test.Eventually(t, "what is offered was dropped, or is one of five that wait", func() bool {
		n := r.metrics(`waybill_export_offered_records_total{output="siem",records="flows"}`,
			`waybill_export_records_total{outcome="queue_full",output="siem",records="flows"}`,
			`waybill_export_queued_records{output="siem"}`)
		return n[0] == n[1]+n[2] && n[2] == 5
	})
	begin := time.Now()
	r.stop()
	if d := time.Since(begin); d > 2*time.Minute {
		t.Errorf("the stop took %v", d)
	}
}

// TestRemoteWrite lets a server write to a real Prometheus, and compares what that knows with what happened.
func TestRemoteWrite(t *testing.T) {
	p := startPrometheus(t, "127.0.0.1:1") // of which nothing comes
	r := startExporting(t, fmt.Sprintf(
		"    prometheus: {remote_write: {url: %q, labels: {job: written}}}\n  interval: 1s\n",
		"http://"+p.address+"/api/v1/write"))
	want := sendScenario(t, r, loadScenario(t, "steady"))
	packets, latencies := 0.0, 0.0
	for i := range want.Nodes {
		packets += float64(want.Nodes[i].Packets)
		latencies += float64(want.Nodes[i].LatencyNs.Count)
	}
	r.stop() // which writes what the last seconds brought
	sum := func(query string) float64 {
		for _, x := range p.ask(query) {
			return x.value()
		}
		return 0
	}
	test.Eventually(t, "Prometheus has all packets", func() bool {
		return sum(`sum(waybill_network_node_packets_total{job="written"})`) == packets
	})
	count := sum(`histogram_count(sum(waybill_network_node_latency_seconds{job="written"}))`)
	if count != latencies || count == 0 {
		t.Errorf("native histograms have %v values, want %v", count, latencies)
	}
}

// TestOTLP lets a server send to a receiver that reads with the library of OpenTelemetry's collector.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	var packets float64
	traced := map[string]int{} // spans of hops, by name of the flow
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		if q.URL.Path == "/v1/traces" {
			request := ptraceotlp.NewExportRequest()
			if err := request.UnmarshalProto(body); err != nil {
				t.Error(err)
			}
			spans, whole := request.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans(), ""
			for i := range spans.Len() {
				s := spans.At(i)
				kind, ok := s.Attributes().Get("waybill.span")
				switch {
				case !ok:
					from, _ := s.Attributes().Get("source.port")
					to, _ := s.Attributes().Get("destination.port")
					src, dst, _ := strings.Cut(s.Name(), " > ")
					whole = fmt.Sprint(src, ":", from.Int(), " > ", dst, ":", to.Int())
					traced[whole] = 0
				case kind.Str() == "hop":
					traced[whole]++
				}
			}
			return
		}
		request := pmetricotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			t.Error(err)
		}
		list := request.Metrics().ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
		for i := range list.Len() {
			if m := list.At(i); m.Name() == "waybill_network_node_packets_total" {
				packets = 0
				for j := range m.Sum().DataPoints().Len() {
					packets += m.Sum().DataPoints().At(j).DoubleValue()
				}
			}
		}
	}))
	defer receiver.Close()
	r := startExporting(t, fmt.Sprintf("    tempo: {otlp: {url: %q}, records: [metrics, traces]}\n  interval: 1s\n"+
		"  traces: {filter: protocol = tcp, one_in: 2}\n", receiver.URL))
	want := sendScenario(t, r, loadScenario(t, "steady"))
	var flows []telemetry.Flow
	r.get("/api/v1/flows?limit=1000", "flows", &flows)
	r.stop()
	mu.Lock()
	defer mu.Unlock()
	wanted, hops := 0.0, map[string]int{}
	for i := range want.Nodes {
		wanted += float64(want.Nodes[i].Packets)
	}
	for i := range flows {
		f := &flows[i]
		if id, _ := strconv.ParseUint(f.ID, 16, 64); f.Protocol != "tcp" || id%2 != 0 {
			continue
		}
		hops[fmt.Sprint(f.Src, ":", f.SrcPort, " > ", f.Dst, ":", f.DstPort)] = len(f.Paths[0].Hops)
	}
	if packets != wanted || packets == 0 {
		t.Errorf("metrics have %v packets, want %v", packets, wanted)
	}
	for flow, n := range hops {
		if traced[flow] != n {
			t.Errorf("%s: the trace has %d hops, want %d", flow, traced[flow], n)
		}
	}
	if len(traced) != len(hops) || len(hops) < 2 {
		t.Errorf("got %d traces, want %d", len(traced), len(hops))
	}
}

// TestOutputsReload: outputs come and go while the server runs, those that stay keep their counts, and what is wrong
// changes nothing.
func TestOutputsReload(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	file, data := filepath.Join(t.TempDir(), "waybill.yaml"), t.TempDir()
	write := func(outputs ...string) {
		text := "export:\n  outputs: {" + strings.Join(outputs, ", ") + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output := func(name, records string) string {
		return fmt.Sprintf("%s: {kafka: {brokers: %q, topic: %q}, records: [%s]}", name, cluster.ListenAddrs(),
			name+".{records}", records)
	}
	write(output("one", "events"))
	read := func(c *serve.Config) error {
		if err := c.ReadFile(file); err != nil {
			return err
		}
		c.Workers, c.Data = 1, data
		return c.Points.Apply(dialects[0].points)
	}
	r := startServer(t, func(c *serve.Config) {
		if err := read(c); err != nil {
			t.Fatal(err)
		}
		running := *c
		c.Again = func() (*serve.Config, error) {
			next := running
			next.Export = serve.DefaultConfig().Export
			if err := read(&next); err != nil {
				return nil, err
			}
			return &next, next.Check()
		}
	})
	names := func() string {
		var list struct {
			Exports []struct{ Name, Kind, State string }
		}
		stdout, stderr, code := runWaybill(t, "outputs", "--server", r.URL(), "-o", "json")
		if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 {
			t.Fatalf("code %d, %v: %s%s", code, err, stdout, stderr)
		}
		var names []string
		for _, e := range list.Exports {
			names = append(names, e.Name+" "+e.Kind+" "+e.State)
		}
		return strings.Join(names, ", ")
	}
	reload := func(want string, code int) {
		t.Helper()
		stdout, stderr, got := runWaybill(t, "reload", "--server", r.URL())
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("code %d, want %d and %q: %s%s", got, code, want, stdout, stderr)
		}
	}
	write(output("one", "events"), output("two", "flows, reports"))
	reload("export.outputs: 1 added", 0)
	if got := names(); got != "one kafka sending, two kafka sending" {
		t.Errorf("got %s", got)
	}
	write(output("one", "metrics"))
	reload("which kafka does not take", 1)
	write(output("two", "flows, reports"))
	reload("export.outputs: 1 removed", 0)
	want := sendScenario(t, r, loadScenario(t, "steady"))
	if got := names(); got != "two kafka sending" {
		t.Errorf("got %s", got)
	}
	if stdout, _, _ := runWaybill(t, "outputs", "-s", r.URL(), "--no-headers"); !strings.HasPrefix(stdout, "two ") {
		t.Errorf("got %s", stdout)
	}
	var listeners []struct{ Received uint64 }
	r.get("/api/v1/listeners", "listeners", &listeners)
	r.stop()
	packets, wanted := uint64(0), uint64(0)
	reports, received := uint64(0), listeners[0].Received
	for i := range want.Flows {
		wanted += want.Flows[i].Packets
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("two.flows", "two.reports"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for (packets < wanted || reports < received) && ctx.Err() == nil {
		for _, m := range client.PollFetches(ctx).Records() {
			var v struct {
				Packets uint64
				Layers  []struct{ Layer string }
			}
			if err := json.Unmarshal(m.Value, &v); err != nil {
				t.Fatal(err)
			}
			if packets += v.Packets; m.Topic == "two.flows" {
				continue
			}
			if reports++; len(v.Layers) == 0 || !strings.HasPrefix(v.Layers[0].Layer, "telemetry_report") {
				t.Fatalf("got %s", m.Value)
			}
		}
	}
	if packets != wanted || wanted == 0 || reports != received || reports == 0 {
		t.Errorf("got %d packets, want %d, and %d reports, want %d", packets, wanted, reports, received)
	}
}
