//go:build linux

package kernel

import (
	"encoding/json"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestFilter lets s1, next to the sender, drop what one filter after the other says. What a filter must drop and what
// must pass the test knows from the packets; the receiver says what passed, reports and counts what was dropped.
func TestFilter(t *testing.T) {
	const packets = 40
	n := newNetwork(t)
	const text = "  watch: [{report_all: true, protocol: udp}]\n" // drops of filters are told without a drop watchlist
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	n.udp(host4, 7000, 1) // neighbours know each other now
	n.udp(host6, 7000, 1)
	var mac string
	n.in(hostA, func() error {
		i, err := net.InterfaceByName("r")
		if err == nil {
			mac = i.HardwareAddr.String()
		}
		return err
	})
	ask := func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		nodes[0].Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	until := func(d time.Duration) string {
		return `, "until": "` + time.Now().Add(d).Format(time.RFC3339Nano) + `"}`
	}
	rows := []struct {
		filter string  // with the id f
		drops  [4]bool // port 7001 and 7002 of IPv4, and of IPv6
	}{
		{`"target": "10.0.3.2/32", "protocol": "udp", "port": 7001`, [4]bool{true}},
		{`"device": "` + mac + `", "target": "10.0.3.0/24"`, [4]bool{true, true}},
		{`"device": "02:00:00:00:00:99", "target": "10.0.3.0/24"`, [4]bool{}},
		{`"source": "10.0.0.0/24", "target": "10.0.3.2/32", "port": 7002`, [4]bool{false, true}},
		{`"source": "10.99.0.0/24", "target": "10.0.3.2/32"`, [4]bool{}},
		{`"target": "10.0.3.2/32", "protocol": "tcp"`, [4]bool{}},
		{`"device": "` + mac + `", "target": "fd00:3::/64", "port": 7002`, [4]bool{3: true}},
	}
	flows := [4]struct {
		host string
		port int
	}{{host4, 7001}, {host4, 7002}, {host6, 7001}, {host6, 7002}}
	dropped := 0
	for _, row := range rows {
		if code, text := ask("POST", "/filter", `{"id": "f", `+row.filter+until(time.Hour)); code != 200 {
			t.Fatalf("%s: %d %s", row.filter, code, text)
		}
		want := uint64(0)
		for i, f := range flows {
			passed := n.count(f.host, f.port, packets)
			if row.drops[i] {
				want += packets
			}
			if expected := map[bool]int{false: packets, true: 0}[row.drops[i]]; passed != expected {
				t.Errorf("%s: %d packets to %s port %d passed, want %d", row.filter, passed, f.host, f.port, expected)
			}
		}
		_, text := ask("GET", "/filter", "")
		var list []Filter
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 || list[0].Packets != want {
			t.Errorf("%s: the node says %s, want %d packets", row.filter, text, want)
		}
		dropped += int(want)
		if code, text := ask("DELETE", "/filter/f", ""); code != 200 {
			t.Fatal(text)
		}
	}
	if code, _ := ask("DELETE", "/filter/f", ""); code != 404 {
		t.Errorf("removing it twice: %d", code)
	}
	for text, want := range map[string]string{
		`{"id": "f", "target": "10.0.3.2/32"}`:                                         "until",
		`{"id": "f", "target": "10.0.3.2/32"` + until(8*24*time.Hour):                  "until",
		`{"id": "f"` + until(time.Hour):                                                "target",
		`{"target": "10.0.3.2/32"` + until(time.Hour):                                  "id",
		`{"id": "f", "target": "10.0.3.2/32", "device": "x"` + until(time.Hour):        "device",
		`{"id": "f", "target": "10.0.3.2/32", "source": "fd00::/8"` + until(time.Hour): "both IPv4",
		`{"id": "f", "target": "10.0.3.2/32", "ports": 1` + until(time.Hour):           "unknown field",
	} {
		if code, got := ask("POST", "/filter", text); code != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %q", text, code, got, want)
		}
	}
	short := `{"id": "g", "target": "10.0.3.2/32"` + until(100*time.Millisecond)
	if code, text := ask("POST", "/filter", short); code != 200 {
		t.Fatal(text)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, text := ask("GET", "/filter", ""); text == "[]\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a filter whose time is over holds")
		}
	}
	if passed := n.count(host4, 7001, packets); passed != packets {
		t.Errorf("after its time %d packets passed, want %d", passed, packets)
	}
	stop()
	if got := counters(t, nodes[0])["kernel_filtered"]; got != uint64(dropped) {
		t.Errorf("the node dropped %d, want %d", got, dropped)
	}
	told := 0
	for _, r := range c.reports(nodes) {
		if r.Flags&telemetry.Dropped == 0 {
			continue
		}
		if r.NodeID != 1 || r.Local.DropReason != 60 || r.Flow.DstPort != 7001 && r.Flow.DstPort != 7002 {
			t.Errorf("a drop of node %d for reason %d to port %d", r.NodeID, r.Local.DropReason, r.Flow.DstPort)
		}
		told++
	}
	if told != dropped {
		t.Errorf("%d drop reports, want %d", told, dropped)
	}
}

// count sends packets from hostA to hostB and returns how many arrive. One behind them, which no filter is about,
// says that all have come which come.
func (n *network) count(host string, port, packets int) (arrived int) {
	n.t.Helper()
	from, to := n.dial(host, port)
	defer from.Close()
	defer to.Close()
	for range packets {
		if _, err := from.Write(make([]byte, 100)); err != nil {
			n.t.Fatal(err)
		}
	}
	n.udp(host6, 7009, 1)
	for arrived < packets {
		_ = to.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := to.Read(make([]byte, 2000)); err != nil {
			break
		}
		arrived++
	}
	return arrived
}
