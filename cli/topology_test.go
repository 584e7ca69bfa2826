package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// aNode is a node of a topology, with one port to another node for each number.
func aNode(id int, behind ...int) string {
	var ports []string
	for i, to := range behind {
		ports = append(ports,
			fmt.Sprintf(
				`{"port":%d,"to_node":%d,"to_port":9,"received":1,"sent":1,"first":"2026-11-21T09:00:0%dZ","last":"2026-11-21T09:00:00Z"}`, i+1, to, i+1))
	}
	return fmt.Sprintf(
		`{"id":%d,"packets":5,"first":"2026-11-21T09:00:00Z","last":"2026-11-21T09:00:00Z","ports":[%s]}`, id,
		strings.Join(ports, ","))
}

// Following a topology prints what is attached, and then only what is new or attached elsewhere.
func TestTopologyFollow(t *testing.T) {
	answers := []string{aNode(1, 2), aNode(1, 2), aNode(1, 2, 3), aNode(1, 2, 4)}
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("filter") != "node = 1" {
			t.Errorf("asked for %s", r.URL)
		}
		n := int(asked.Add(1)) - 1
		if n >= len(answers) {
			cancel()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"generated_at":"2026-11-21T09:01:00Z","total":1,"nodes":[%s],"links":[],"hosts":[]}`,
			answers[n])
	}))
	t.Cleanup(s.Close)
	stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "topology", "--server", s.URL, "--follow", "--filter",
		"node = 1")
	var got []string
	for line := range strings.Lines(stdout) {
		fields := strings.Fields(line)
		got = append(got, strings.Join(fields[:min(5, len(fields)-1)], " "))
	}
	want := "NODE BEHIND PACKETS LAST|1 5|1 port 1 2 port|1 5|1 port 2 3 port|1 5|1 port 2 4 port"
	if text := strings.Join(got, "|"); code != 0 || text != want {
		t.Errorf("code %d, said %q, got\n%s, want\n%s", code, stderr, text, want)
	}
}

// With -o wide a port has what its device counts, as far as it does.
func TestTopologyCounters(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"generated_at":"2026-11-21T09:01:00Z","total":1,"links":[],"hosts":[],"nodes":[{"id":1,
"packets":5,"first":"2026-11-21T09:00:00Z","last":"2026-11-21T09:00:00Z","ports":[
{"port":5,"speed_bps":100000000,"received":1,"sent":2,"first":"2026-11-21T09:00:00Z","last":"2026-11-21T09:00:00Z",
"counters":{"in_bps":12500000,"in_use":0.125,"in_discards":3,"in_errors":1,"out_bps":0,"out_use":0,"out_discards":0}},
{"port":6,"received":1,"sent":2,"first":"2026-11-21T09:00:00Z","last":"2026-11-21T09:00:00Z"}]}]}`)
	}))
	t.Cleanup(s.Close)
	stdout, stderr, code := runQuery(t, "topology", "--server", s.URL, "-o", "wide", "--no-headers")
	lines := strings.Split(stdout, "\n")
	const counted = "  12.5Mbit/s (12%), 3 discards, 1 error  0bit/s  "
	if code != 0 || len(lines) < 3 || !strings.Contains(lines[1], counted) || strings.Contains(lines[2], "bit/s") {
		t.Errorf("code %d, %s\n%s", code, stderr, stdout)
	}
}
