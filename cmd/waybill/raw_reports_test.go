package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestServeRawReports: what receivers got comes back in lists, as a capture that is decoded to the same, and after a
// restart.
func TestServeRawReports(t *testing.T) {
	data := t.TempDir()
	keep := func(c *serve.Config) {
		c.Data, c.RawReports, c.Workers = data, "16MiB", 2
		c.Listen = []string{"udp://127.0.0.1:0", "udp://127.0.0.1:0"}
		if err := c.Points.Set("int_udp_port", test.INTPort); err != nil {
			t.Fatal(err)
		}
	}
	r := startServer(t, keep)
	var payloads [][]byte
	for i := range uint32(500) {
		payloads = append(payloads, test.Report(test.Forms[int(i)%len(test.Forms)], i%7, i, 3))
	}
	payloads = append(payloads, []byte{0xf0, 1, 2, 3})
	r.send(r.udp(0), payloads)
	r.send(r.udp(2), payloads[:100])
	want := len(payloads) + 100
	url := func() string { return r.URL() }
	list := func(args ...string) (items []client.RawReport) {
		t.Helper()
		stdout, stderr,
			code := runWaybill(t,
			append([]string{"reports", "--server", url(), "--limit", "10000", "-o", "json"}, args...)...)
		var answer client.ReportList
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != 0 {
			t.Fatalf("code %d, %s", code, stderr)
		}
		return answer.Reports
	}
	test.Eventually(t, "all raw reports", func() bool { return len(list()) == want })
	if got := len(list("--filter", "outcome = malformed")); got != 1 {
		t.Errorf("%d malformed", got)
	}
	if got := len(list("--filter", "listener = '"+r.udp(2)+"'")); got != 100 {
		t.Errorf("%d of the second address", got)
	}
	before := list()

	// The capture has the payloads in their order.
	stdout, stderr, code := runWaybill(t, "reports", "--server", url(), "-o", "pcap", "--filter",
		"listener = '"+r.udp(0)+"'")
	if code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	file := filepath.Join(t.TempDir(), "reports.pcap")
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	port, _ := collect.PortOf(r.udp(0))
	points := codepoint.New()
	points.ReportPorts = []uint16{port}
	points.Compile()
	var saved reportsIn
	// it leaves out what is no report
	if err := saved.read([]string{file}, points); err != nil || len(saved.payloads) != len(payloads)-1 {
		t.Fatalf("%d payloads, %v", len(saved.payloads), err)
	}
	for i := range saved.payloads {
		if !bytes.Equal(saved.payloads[i], payloads[i]) {
			t.Fatalf("payload %d is another", i)
		}
	}
	decoded, stderr, code := runWaybill(t, "decode", "--report-port", strconv.Itoa(int(port)), "-o", "json", file)
	if n := strings.Count(decoded, `"layer":"telemetry_report`); code != 0 || n != len(payloads) ||
		strings.Count(decoded, "\n") != n {
		t.Errorf("waybill decode: code %d, %s, %d reports", code, stderr, n)
	}
	response, err := http.Get(url() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var metrics bytes.Buffer
	metrics.ReadFrom(response.Body)
	for _, line := range []string{
		"waybill_raw_reports_total{outcome=\"kept\"} 601\n",
		"waybill_raw_reports_total{outcome=\"dropped\"} 0\n", "waybill_raw_reports_stopped 0\n",
	} {
		if !strings.Contains(metrics.String(), line) {
			t.Errorf("no metric %q", line)
		}
	}

	r.stop()
	r = startServer(t, keep)
	after := list()
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if !bytes.Equal(a, b) {
		t.Errorf("%d raw reports before, %d after a restart", len(before), len(after))
	}
}

// A configuration of raw reports that cannot work is refused in one line.
func TestServeRawReportsConfig(t *testing.T) {
	for want, change := range map[string]func(*serve.Config){
		"raw_reports: there is no directory to keep them in; data names one": func(c *serve.Config) {
			c.RawReports = "1GiB"
		},
		"raw_reports: got 1048576 bytes, want at least 16 MiB": func(c *serve.Config) {
			c.RawReports,
				c.Data = "1MiB", "d"
		},
		`raw_reports: got "much", want a size such as 512MiB`: func(c *serve.Config) {
			c.RawReports,
				c.Data = "much", "d"
		},
	} {
		c := serve.DefaultConfig()
		change(&c)
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	c := serve.DefaultConfig()
	c.RawReports = "0"
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}
