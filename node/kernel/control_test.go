//go:build linux

package kernel

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestControl changes the flow watchlist of a running source by its API, and sees packets get INT or none.
func TestControl(t *testing.T) {
	n := newNetwork(t)
	const text = "  watch: [{name: tcp, protocol: tcp}]\n  events: {latency_quantum: 0ns, period: 0s}\n"
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	handler := nodes[0].Handler()
	ask := func(method, path, body string, want int) string {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != want {
			t.Fatalf("%s %s: got %d %s, want %d", method, path, w.Code, w.Body, want)
		}
		return w.Body.String()
	}
	const packets = 10
	for i, step := range []struct {
		method, path, body string
		code, inserted     int // of all packets until then
	}{
		{http.MethodGet, "/watch", "", 200, 0},
		{http.MethodPost, "/watch", "{name: udp, protocol: udp, report_all: true}", 200, packets},
		{http.MethodPost, "/watch", "{name: udp, protocol: udp}", 400, 2 * packets},
		{http.MethodPost, "/watch", "{name: x, vni: 3}", 400, 3 * packets},
		{http.MethodPost, "/watch", "{protocol: icmp}", 400, 4 * packets},
		{http.MethodPost, "/watch", "{name: x, protocol: nonsense}", 400, 5 * packets},
		{http.MethodDelete, "/watch/udp", "", 200, 5 * packets},
		{http.MethodDelete, "/watch/udp", "", 400, 5 * packets},
	} {
		ask(step.method, step.path, step.body, step.code)
		n.udp(host4, 6001, packets)
		want := fmt.Sprintf("waybill_node_outcomes_total{node=\"1\",outcome=\"inserted\"} %d\n", step.inserted)
		if got := ask(http.MethodGet, "/metrics", "", 200); step.inserted > 0 && !strings.Contains(got, want) {
			t.Errorf("step %d: got %s, want %s", i, got, want)
		}
	}
	if got := ask(http.MethodGet, "/watch", "", 200); !strings.Contains(got, "name: tcp") || strings.Contains(got, "udp") {
		t.Errorf("got %s, want the entry of the file", got)
	}
	if got := ask(http.MethodGet, "/status", "", 200); !strings.Contains(got, `"ports":["l","r"],"watch":1`) {
		t.Errorf("got %s", got)
	}
	stop()
	if got := len(c.reports(nodes)); got != 5 { // the sink's watchlist is as it was: it reports new flows
		t.Errorf("%d reports, want one of each flow that got INT", got)
	}
}

// TestExamine looks at a router with one thing wrong after the other.
func TestExamine(t *testing.T) {
	n := newNetwork(t)
	find := func(what string, machine int, config *Config) (f Finding) {
		t.Helper()
		n.in(machine, func() error {
			for _, one := range Examine(config) {
				if one.What == what {
					f = one
				}
			}
			return nil
		})
		return f
	}
	config := n.config(1, "", "192.0.2.1:8555")
	for _, what := range []string{"kernel", "types", "capabilities", "programs", "room for INT", "port l", "port r XDP"} {
		if got := find(what, 1, config); got.Verdict != Good || got.Do != "" {
			t.Errorf("%s: got %+v, want it to be good", what, got)
		}
	}
	for _, row := range []struct {
		change, what string
		want         Verdict
		do           string
	}{
		{"ip link set dev r mtu 1520", "room for INT", Poor, "mtu 1612"},
		{"sysctl -qw net.ipv4.ip_forward=0", "net.ipv4.ip_forward", Poor, "sysctl -w"},
		{"ethtool -K l tx on", "port l mode", Poor, "leave clone: false out"},
		{"ip link set dev l down", "port l", Poor, "up"},
		{"ip link del dev l", "port l", Bad, "ip link"},
	} {
		n.run(1, "%s", row.change)
		if got := find(row.what, 1, config); got.Verdict != row.want || !strings.Contains(got.Do, row.do) {
			t.Errorf("%s: got %+v, want %s, and to do %q", row.change, got, row.want, row.do)
		}
	}
}

func TestIsNew(t *testing.T) {
	for release, want := range map[string]bool{
		"6.18.5-cloud": true, "6.17.0": false, "7.0-rc1": true, "5.19.1": false, "6.18": true, "": false,
	} {
		if got := isNew(release); got != want {
			t.Errorf("%q: got %v", release, got)
		}
	}
}
