package console_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/console"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	canned        = "testdata/api"
	welcomeHidden = `aria-labelledby="welcome-title" hidden`
)

// TestCannedAnswers holds the answers that the page is tested with to the records that the API serves.
func TestCannedAnswers(t *testing.T) {
	var all struct {
		Nodes     []telemetry.Node     `json:"nodes"`
		Links     []telemetry.Link     `json:"links"`
		Flows     []telemetry.Flow     `json:"flows"`
		Paths     []telemetry.Path     `json:"paths"`
		Drops     []telemetry.Drop     `json:"drops"`
		Exporters []telemetry.Exporter `json:"exporters"`
		Events    []telemetry.Event    `json:"events"`
		Total     int                  `json:"total"`
	}
	for _, name := range []string{"nodes", "links", "flows", "paths", "drops", "exporters", "events", "events_open"} {
		f, err := os.Open(canned + "/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(f)
		d.DisallowUnknownFields()
		if err := d.Decode(&all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
	if len(all.Nodes) == 0 || len(all.Links) == 0 || len(all.Flows) == 0 || len(all.Paths) == 0 || len(all.Drops) == 0 || len(all.Exporters) == 0 || len(all.Events) == 0 {
		t.Errorf("an answer is empty: %+v", all)
	}
}

// TestFilesAreSelfContained checks that nothing in the page needs another host, an inline script or style, or turns text
// into markup.
func TestFilesAreSelfContained(t *testing.T) {
	forbidden := regexp.MustCompile(`https?://|["'(]//\w|["'(]/\w|<script>|<style|\sstyle=|\son[a-z]+=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(`)
	const svgSpace = "http://www.w3.org/2000/svg"
	err := fs.WalkDir(console.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(console.Files(), name)
		for i, line := range strings.Split(strings.ReplaceAll(string(content), svgSpace, ""), "\n") {
			if found := forbidden.FindString(line); found != "" && !strings.Contains(line, "replace(/") {
				t.Errorf("%s:%d: %q", name, i+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on PATH")
	}
	if out, err := exec.CommandContext(t.Context(), node, "--test").CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

func TestPage(t *testing.T) {
	v := open(t, (&server{api: canned}).start(t))
	for _, line := range v.console {
		t.Error(line)
	}
	if state := v.state()["state"]; state != "live" {
		t.Errorf("state: got %q, want live", state)
	}
	v.says(t,
		"10:15:00 UTC 2025-11-21",
		"5,312 on 6 paths",
		"99.99 % 4 of 41,989 lost; unknown for 3 exporters",
		"the 8 with most packets, of 5,312",

		// A flow, the latencies of its hops, a path with silent and unknown nodes, a drop, a flow without a path.
		"10.0.1.1:5001 10.0.2.2:6001 udp 18,233 61.8 µs 655 µs s1 8.12 µs → s2 47.3 µs → s3 5.98 µs 0 now",
		"s1 8.3 µs → ? ×2 – → s3 6.05 µs",
		"leaf-west-04 660 ns → node 7 8.41 ms → ? – → s3 6.02 µs",
		"s1 8.05 µs → s2 ✕ drop changed 12×, 1 other path ✕ 37 9 s ago",
		"10.0.1.1 10.0.2.9 icmp 5 – – no path in its reports 0 48 s ago",
		"192.168.7.9:33412 172.16.40.2:4789 udp in vxlan 5001",

		"clocks disagree in 51 packets 2 29,563 61.8 µs 655 µs 166 µs 771 µs now",
		"order of hops uncertain",
		"s2 3 4 ✕ traffic_manager (71) 1,167 10.0.1.1:5001 → 10.0.2.2:6001 udp now",
		"unknown – – ✕ ip_ttl_zero (26) 1 – 9 min ago",
		"10.0.0.2 s2, hw 1 2.0 fabric-tna 1,207 4 2 1 1 hop_ml_mismatch 3 (partly used)",
		"10.0.0.4 leaf-west-04 0.5 report05 8,820 unknown: its sequence number never changes – – – 0",
		"10.0.0.77 – – – 19 unknown: its reports carry no sequence numbers that count – – – unknown_version 12 truncated_fixed_header 7",

		// Events: those that go on come first, with both ends of a link.
		"Events 6",
		"2 min ago goes on warning link lost nothing comes from s2 to leaf-west-04 any more, and both still report 0 s2 leaf-west-04",
		"3 min ago goes on critical loop packets come to s2 twice, after 2 hops 214 s2 now 12 ms info microburst",
		"9 s ago 1.5 s warning drop storm many packets dropped at node 7: reason_200 120 node 7",
		"report loss reports were lost on the way here 4 10.0.0.77 10 min ago a moment info node restart",

		"29.6k ⇄ 9.3k", "2 silent", "p99 46.1 ms",
	)
	if !regexp.MustCompile(`id="rate">[1-9][0-9,]*<`).MatchString(v.dom) {
		t.Errorf("no rate of reports")
	}
	if !strings.Contains(v.dom, welcomeHidden) {
		t.Errorf("the welcome is shown")
	}
}

// TestPageNamesAreText: a name that is markup stays a text, wherever it is shown.
func TestPageNamesAreText(t *testing.T) {
	v := open(t, (&server{api: canned}).start(t))
	v.says(t, "<img src=x onerror=alert(1)>")
	if n := v.count("img"); n != 1 { // the logo
		t.Errorf("%d images, want 1", n)
	}
}

// TestPageConsoleIsSeen: the other tests rely on an error of a script being seen.
func TestPageConsoleIsSeen(t *testing.T) {
	v := open(t, (&server{api: canned, script: "broken.js"}).start(t))
	for _, want := range []string{"broken on purpose", "Content Security Policy"} {
		if !strings.Contains(strings.Join(v.console, "\n"), want) {
			t.Errorf("the browser's console has no %q: %q", want, v.console)
		}
	}
}

func TestPageActions(t *testing.T) {
	v := open(t, (&server{api: canned, script: "drive.js"}).start(t))
	for _, line := range v.console {
		t.Error(line)
	}
	got := v.state()
	for name, want := range map[string]string{
		"sorted":         "10.0.1.1:5002 | 10.0.2.2:6001 | 10.0.2.2:6002 | 10.0.2.4:53 | 10.0.2.4:443 | 10.0.2.9 | 172.16.40.2:4789 | [2001:db8:2::4]:8443",
		"sorted-aria":    "ascending",
		"sorted-back":    "[2001:db8:2::4]:8443 | 172.16.40.2:4789 | 10.0.2.9 | 10.0.2.4:443 | 10.0.2.4:53 | 10.0.2.2:6002 | 10.0.2.2:6001 | 10.0.1.1:5002",
		"slowest":        "46.1 ms | 655 µs | 650 µs | 640 µs | 447 µs | 32.9 µs | 12.1 µs | –",
		"filtered":       "10.0.1.1:5002 | 10.0.2.2:6002",
		"filtered-count": "2 of the 8 with the highest mean residence, of 5,312",
		"via-node":       "192.168.7.9:33412",
		"via-node-drops": "✕ reason_200 (200)",
		"pressed":        "1",
		"cleared":        "8",
		"same-row":       "true",
		"while-hidden":   "0",
		"when-visible":   "yes",
		"via-event":      "192.168.7.9:33412",
		"via-event-kind": "drop storm",
		"via-link":       "10.0.1.1:5001 | 10.0.1.3:40112 | 10.0.1.1:5002 | 10.0.2.2:6002",
		"done":           "yes",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if want := "node 7 (id 7): 8,820 packets, 3 drops\nHop latency: min 1.21 ms, mean 9.8 ms, max 48 ms, p50 8.41 ms, p99 46.1 ms of 8,820 samples\nLongest queue: 1,488\nPorts: 1, 2"; got["detail"] != want {
		t.Errorf("detail: got %q, want %q", got["detail"], want)
	}
	if want := "s1 8.12 µs → s2 47.3 µs → s3 5.98 µs"; strings.TrimSpace(spaces.ReplaceAllString(got["via-link-path"], " ")) != want {
		t.Errorf("path through the link: got %q, want %q", got["via-link-path"], want)
	}
}

func TestPageEmpty(t *testing.T) {
	v := open(t, (&server{api: "testdata/empty"}).start(t))
	for _, line := range v.console {
		t.Error(line)
	}
	v.says(t,
		"Events 0", "Nothing happened.",
		"Point the telemetry reports of a switch at one of these UDP addresses: 127.0.0.1:8555 192.0.2.7:32766",
		"waybill replay testdata/captures/onos_v10_udp_reports.pcap --to 127.0.0.1:8555",
		"– no exporter yet")
	if strings.Contains(v.dom, welcomeHidden) {
		t.Errorf("the welcome is hidden")
	}
}

func TestPageDisconnected(t *testing.T) {
	down := func(round uint64) error {
		if round > 2 {
			return http.ErrAbortHandler
		}
		return nil
	}
	v := open(t, (&server{api: canned, down: down}).start(t))
	if state := v.state()["state"]; state != "disconnected" {
		t.Errorf("state: got %q, want disconnected", state)
	}
	v.says(t, "disconnected, retrying", "The figures below are of 10:15:00 UTC.", "s1 8.12 µs → s2 47.3 µs → s3 5.98 µs")
}

func TestPageRecovers(t *testing.T) {
	down := func(round uint64) error {
		if round < 3 {
			return errors.New("starting")
		}
		return nil
	}
	v := open(t, (&server{api: canned, down: down}).start(t))
	if state := v.state()["state"]; state != "live" {
		t.Errorf("state: got %q, want live", state)
	}
	v.says(t, "s1 8.12 µs → s2 47.3 µs → s3 5.98 µs")
	if !strings.Contains(v.dom, `id="problem" role="alert" hidden`) {
		t.Errorf("the problem is still shown")
	}
}
