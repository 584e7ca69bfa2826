package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A prometheusOfTest is a real Prometheus that scrapes a server once a second.
type prometheusOfTest struct {
	t       *testing.T
	address string
}

// startPrometheus starts the prometheus of Debian, with the rules of export/network.
func startPrometheus(t *testing.T, target string) *prometheusOfTest {
	t.Helper()
	dir, rules := t.TempDir(), filepath.Join(test.Root(), "export/network/rules.yaml")
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs:
  - {job_name: waybill, static_configs: [{targets: [%q]}]}
  - {job_name: waybill-network, metrics_path: /metrics/network, static_configs: [{targets: [%q]}]}
`, rules, target, target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &prometheusOfTest{t, test.FreePort(t, "tcp")}
	var log bytes.Buffer
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+p.address, "--enable-feature=native-histograms", "--web.enable-remote-write-receiver")
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; scripts/setup test installs it", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus:\n%s", log.String())
		}
	})
	test.Eventually(t, "starting Prometheus", func() bool {
		response, err := http.Get("http://" + p.address + "/-/ready")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return p
}

// A series is one of an answer of Prometheus.
type series struct {
	Metric    map[string]string
	Value     [2]any // time and text of a number
	Histogram [2]any
	Values    [][2]any // of a range
}

func (s *series) value() float64 {
	text, _ := s.Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// ask returns the answer to a query.
func (p *prometheusOfTest) ask(query string) []series {
	p.t.Helper()
	response, err := http.Get("http://" + p.address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	var a struct {
		Status, Error string
		Data          struct{ Result []series }
	}
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil || a.Status != "success" {
		p.t.Fatalf("%s: %v %s", query, err, a.Error)
	}
	return a.Data.Result
}

// demoInstructions are what the nodes of the demo tell, with the use of their ports.
const demoInstructions = "instructions: " +
	"[node_id, l1_interfaces, hop_latency, queue, ingress_ts, egress_ts, egress_tx_util]\n"

// TestNetworkMetrics lets a Prometheus scrape a server that sees the demo, for some seconds in real time, and compares
// what it knows with what happened.
func TestNetworkMetrics(t *testing.T) {
	if test.RaceDetector {
		t.Skip("it compares figures, which do not depend on the race detector, and waits for them ten times as long with it")
	}
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	h := hurry{by: 5, buffer: 50e3}
	h.hasten(s)
	s.Truth.SamplePackets = 1
	d := dialects[0]
	s.INT = scenario.Raw{Text: []byte(everyPacket + d.text + demoInstructions)}
	names := map[uint32]string{}
	for i, spec := range s.Graph.Switches {
		names[uint32(i+1)] = spec.Name
	}
	r := startServer(t, func(c *serve.Config) {
		c.Names, c.Workers, c.Data = names, 1, t.TempDir()
		c.UtilizationUnit = map[string]telemetry.UtilizationUnit{}
		for _, name := range names {
			c.UtilizationUnit[name] = codepoint.HundredthsOfPercent
		}
		if err := c.Points.Apply(d.points); err != nil {
			t.Fatal(err)
		}
	})
	p := startPrometheus(t, strings.TrimPrefix(r.URL(), "http://"))
	test.Eventually(t, "the first scrape", func() bool { return len(p.ask("waybill_network_incidents")) > 0 })

	sink := newPacedSink(t, r)
	_, written := sink.play(s, fabric.Options{Pace: fabric.RealTime()})
	truth, err := expect.Read(written)
	if err != nil {
		t.Fatal(err)
	}
	r.join()
	options := d.options
	options.Identity, options.Source = sink.identities, loopbackSource
	want := truth.Answers(options)

	// sums adds up what Prometheus has under some labels.
	sums := func(query string, labels ...string) map[string]float64 {
		all := map[string]float64{}
		for _, x := range p.ask(query) {
			var of []string
			for _, label := range labels {
				of = append(of, x.Metric[label])
			}
			all[strings.Join(of, " ")] += x.value()
		}
		return all
	}
	nodes, latencies := map[string]float64{}, map[string]float64{}
	links, dropped := map[string]float64{}, map[string]float64{}
	for _, n := range want.Nodes {
		nodes[n.Name] = float64(n.Packets)
		if n.LatencyNs != nil {
			latencies[n.Name] = float64(n.LatencyNs.Count)
		}
	}
	port := func(p *uint32) string {
		if p == nil {
			return ""
		}
		return strconv.Itoa(int(*p))
	}
	for _, l := range want.Links {
		ends := []string{names[l.From], port(l.FromPort), names[l.To], port(l.ToPort)}
		links[strings.Join(ends, " ")] += float64(l.Packets)
	}
	for _, x := range want.Drops {
		dropped[fmt.Sprintf("%s reason_%d", names[*x.Node], x.Reason)] += float64(x.Packets)
	}
	same := func(got, want map[string]float64) bool {
		for k, v := range want {
			if v != got[k] {
				return false
			}
		}
		return len(got) == len(want)
	}
	for _, c := range []struct {
		query  string
		labels []string
		want   map[string]float64
	}{
		{"waybill_network_node_packets_total", []string{"node"}, nodes},
		{`histogram_count(waybill_network_node_latency_seconds)`, []string{"node"}, latencies},
		{"waybill_network_link_packets_total", []string{"from", "from_port", "to", "to_port"}, links},
		{"waybill_network_drops_total", []string{"node", "reason"}, dropped},
	} {
		var got map[string]float64
		for range 3000 { // links and drops are counted every ten seconds
			if got = sums(c.query, c.labels...); same(got, c.want) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !same(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.query, got, c.want)
		}
		if len(c.want) == 0 {
			t.Errorf("%s: the fabric has none", c.query)
		}
	}

	t.Run("quantiles", func(t *testing.T) {
		var list []telemetry.Node
		r.get("/api/v1/nodes", "nodes", &list)
		got := sums(`histogram_quantile(0.99, waybill_network_node_latency_seconds)`, "node")
		for _, n := range list {
			// Both estimate from buckets: of 1/8 of a power of two, which Prometheus fills evenly.
			if q := 1e9 * got[n.Name]; q < float64(n.LatencyNs.P99)/1.2 || q > float64(n.LatencyNs.P99)*1.2 {
				t.Errorf("%s: p99 %v in Prometheus, %d in the API", n.Name, q, n.LatencyNs.P99)
			}
		}
		if len(list) != len(got) || len(list) == 0 {
			t.Errorf("%d nodes in the API, %d in Prometheus", len(list), len(got))
		}
	})
	t.Run("queues", func(t *testing.T) {
		var list []telemetry.QueueDepth
		r.get("/api/v1/queues?limit=1000", "queues", &list)
		got := sums("histogram_count(waybill_network_queue_depth)", "node", "port", "queue")
		for _, q := range list {
			key := strings.Join([]string{q.Name, port(q.Port), strconv.Itoa(int(q.Queue))}, " ")
			if q.Depth != nil && got[key] != float64(q.Depth.Count) {
				t.Errorf("queue %s: %v packets in Prometheus, %d in the API", key, got[key], q.Depth.Count)
			}
		}
		if len(got) == 0 {
			t.Error("no queues")
		}
	})
	t.Run("exposition", func(t *testing.T) {
		for _, path := range []string{"/metrics/network", "/metrics/network?buckets=classic", "/metrics"} {
			response, err := http.Get(r.URL() + path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s %v", path, response.Status, err)
			}
			has := bytes.Contains(text, []byte(`_bucket{node="leaf1",le="0.25"}`))
			if has != strings.Contains(path, "classic") {
				t.Errorf("%s has classic buckets: %v", path, has)
			}
			cmd := exec.Command("promtool", "check", "metrics")
			cmd.Stdin = bytes.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("promtool check metrics of %s: %v\n%s", path, err, out)
			}
		}
	})
	t.Run("rules", func(t *testing.T) {
		for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "rules_test.yaml"}} {
			cmd := exec.Command("promtool", args...)
			cmd.Dir = filepath.Join(test.Root(), "export/network")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("promtool %v: %v\n%s", args, err, out)
			}
		}
		if got := p.ask("waybill:node_latency_seconds:p99_5m"); len(got) == 0 {
			t.Error("the recording rule of latencies has nothing")
		}
	})
	t.Run("dashboards", func(t *testing.T) { checkDashboards(t, p) })
}

// checkDashboards lets Prometheus answer the query of every panel, all of whose variables stand for everything, and
// wants a number from each.
func checkDashboards(t *testing.T, p *prometheusOfTest) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "export/grafana/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$node", ".*", "$from", ".*", "$port", ".*", "$to", ".*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(text, &board); err != nil || len(board.Panels) == 0 {
			t.Fatalf("%s: %d panels, %v", file, len(board.Panels), err)
		}
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				numbers := 0
				for _, x := range p.ask(variables.Replace(target.Expr)) {
					if !math.IsNaN(x.value()) {
						numbers++
					}
				}
				if numbers == 0 || target.Expr == "" {
					t.Errorf("%s: the panel %q is empty: %s", filepath.Base(file), panel.Title, target.Expr)
				}
			}
		}
	}
}
