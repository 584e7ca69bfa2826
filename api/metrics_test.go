package api

import (
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

var sample = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(\{(?:[a-z_]+="[^"]*",?)+\})? ([0-9.e+-]+|NaN|\+Inf)$`)

// scrapeOf returns the samples of /metrics by name and labels, after a check of the text format.
func scrapeOf(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	w := ask(h, "GET", "/metrics")
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("got %d %v", w.Code, w.Header())
	}
	values, typed := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); words[0] == "#" {
			if words[1] == "TYPE" {
				typed[words[2]] = true
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a sample: %q", line)
			continue
		}
		if strings.HasPrefix(m[1], "waybill_") && !typed[m[1]] {
			t.Errorf("%s has no type", m[1])
		}
		if _, twice := values[m[1]+m[2]]; twice {
			t.Errorf("%s%s is there twice", m[1], m[2])
		}
		values[m[1]+m[2]] = m[3]
	}
	return values
}

// The counters are those of the captures: known datagrams give known numbers.
func TestMetrics(t *testing.T) {
	got := scrapeOf(t, New(testConfig(captured(t))))
	for name, want := range map[string]string{
		`waybill_datagrams_total{listener="[::]:8555",outcome="decoded"}`:      "200",
		`waybill_datagrams_total{listener="[::]:8555",outcome="damaged"}`:      "1",
		`waybill_datagrams_total{listener="[::]:8555",outcome="malformed"}`:    "3",
		`waybill_datagrams_total{listener="127.0.0.1:6000",outcome="decoded"}`: "0",
		`waybill_kernel_drops_total{listener="[::]:8555"}`:                     "5",
		// not counted there
		`waybill_kernel_drops_total{listener="127.0.0.1:6000"}`:                                     "",
		`waybill_receive_buffer_bytes{listener="[::]:8555"}`:                                        "3.3767424e+07",
		`waybill_receive_buffer_wanted_bytes{listener="[::]:8555"}`:                                 "6.7108864e+07",
		`waybill_datagram_errors_total{reason="unknown_version"}`:                                   "1",
		`waybill_exporter_received_total{hw_id="0",node="1",source="192.0.2.66"}`:                   "2",
		`waybill_exporter_lost_total{hw_id="0",node="1",source="192.0.2.66"}`:                       "2",
		`waybill_exporter_received_total{hw_id="",node="",source="192.0.2.66"}`:                     "1",
		`waybill_exporter_lost_total{hw_id="",node="",source="192.0.2.66"}`:                         "",
		`waybill_exporter_reports_total{hw_id="0",node="1",outcome="in_flows",source="192.0.2.66"}`: "2",
		// there is no store
		`waybill_exporter_reports_total{hw_id="0",node="1",outcome="stored",source="192.0.2.66"}`: "",
		`waybill_reports_total`:       "242",
		`waybill_flows`:               "10",
		`waybill_flows_evicted_total`: "0",
		`waybill_exporters`:           "8",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if got[name] == "" {
			t.Errorf("no %s", name)
		}
	}
}

func TestEventMetrics(t *testing.T) {
	got := scrapeOf(t, eventServer(t))
	for name, want := range map[string]string{
		"waybill_events_open": "2", "waybill_events_total": "7",
		"waybill_events_unwatched_total": "0", "waybill_events_unplaced_total": "0",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

// Sources of the inventory are counted by what they are asked with, each state of them also where it has none.
func TestInventoryMetrics(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	at := func(second int64) time.Time { return time.Unix(1_800_000_000+second, 0) }
	cfg.InventorySources = func() []telemetry.InventorySource {
		return []telemetry.InventorySource{
			{Origin: "snmp", State: telemetry.SourceAnswering, Last: at(7), LeftOut: 2},
			{Origin: "snmp", State: telemetry.SourceFailing, Last: at(3), LeftOut: 1},
			{Origin: "snmp", State: telemetry.SourceWaiting},
			{Origin: "snmp", State: telemetry.SourceAnswering, Last: at(5)},
			{Origin: "netbox", State: telemetry.SourceFailing},
		}
	}
	got := scrapeOf(t, New(cfg))
	for name, want := range map[string]string{
		`waybill_inventory_sources{origin="snmp",state="answering"}`:       "2",
		`waybill_inventory_sources{origin="snmp",state="failing"}`:         "1",
		`waybill_inventory_sources{origin="snmp",state="waiting"}`:         "1",
		`waybill_inventory_sources{origin="netbox",state="answering"}`:     "0",
		`waybill_inventory_sources{origin="netbox",state="failing"}`:       "1",
		`waybill_inventory_left_out{origin="snmp"}`:                        "3",
		`waybill_inventory_oldest_answer_timestamp_seconds{origin="snmp"}`: "1.800000003e+09",
		// it never answered
		`waybill_inventory_oldest_answer_timestamp_seconds{origin="netbox"}`: "",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

// Names, units and help texts keep Prometheus's conventions.
func TestMetricConventions(t *testing.T) {
	w := ask(New(testConfig(captured(t))), "GET", "/metrics")
	problems, err := promlint.New(w.Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "waybill_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// A report that comes late lowers the losses of the exporter, but not the counter, which rate() would take for a
// restart.
func TestLostNeverSinks(t *testing.T) {
	f := newFeed()
	d := telemetry.NewDecoder(test.Dialect(t, "spec"))
	source := netip.MustParseAddrPort("192.0.2.1:1")
	send := func(sequence uint32) { f.datagram(d, test.Report(test.Form20XD, 1, sequence, 1), source, 8555) }
	h := New(testConfig(f.Collector))
	const lost = `waybill_exporter_lost_total{hw_id="0",node="1",source="192.0.2.1"}`
	for _, c := range []struct {
		sequence uint32
		account  uint64
		want     string
	}{{1, 0, "0"}, {5, 3, "3"}, {3, 2, "3"}, {7, 3, "3"}, {9, 4, "4"}} {
		send(c.sequence)
		if got := scrapeOf(t, h)[lost]; got != c.want || *f.ExporterList()[0].Lost != c.account {
			t.Errorf("after %d: counter %s of %d, want %s of %d", c.sequence, got, *f.ExporterList()[0].Lost, c.want,
				c.account)
		}
	}
}

// Metrics of other parts are served too.
func TestOtherMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	other := prometheus.NewCounter(prometheus.CounterOpts{Name: "waybill_other_total", Help: "Others."})
	registry.MustRegister(other)
	other.Inc()
	cfg := testConfig(newFeed().Collector)
	cfg.Metrics = registry
	if got := scrapeOf(t, New(cfg))["waybill_other_total"]; got != "1" {
		t.Errorf("got %q", got)
	}
}

// Readers of every kind ask while reports come in; the race detector watches.
func TestWhileReportsComeIn(t *testing.T) {
	f := newFeed()
	h := New(testConfig(f.Collector))
	var readers sync.WaitGroup
	for _, target := range []string{
		"nodes", "links", "flows", "paths?node=1", "drops", "events", "exporters",
		"../../metrics",
	} {
		readers.Go(func() {
			for range 20 {
				if w := ask(h, "GET", strings.Replace("/api/v1/"+target, "/api/v1/../..", "", 1)); w.Code != 200 {
					t.Errorf("%s: got %d", target, w.Code)
				}
			}
		})
	}
	f.capture(t, "fabric_tna_xd_drop", "fabric-tna-bmv2")
	f.capture(t, "onos_v10_udp", "onos-int10-ver0")
	readers.Wait()
}
