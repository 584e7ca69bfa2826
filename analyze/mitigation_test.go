package analyze

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// An inProcess is an http.RoundTripper that asks a handler.
type inProcess struct{ http.Handler }

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// Somebody has an attack mitigated three seconds after it began: the gateways of its devices drop it and nothing else,
// which the network itself knows; the attack shows how much, and when it ends the filters do.
func TestMitigatedAtGateways(t *testing.T) {
	if test.RaceDetector {
		t.Skip("races do not depend on the scenario")
	}
	c := attackLimits()
	audit, _ := mitigate.OpenAudit("")
	var manager *mitigate.Manager
	var states []string
	var effect float64
	begin := func(v *virtualCollector) float64 { return float64(v.next-scan.TickNs-v.start) / 1e9 }
	var now time.Time
	e := emulation{shards: 2, nodes: deviceIDs + everyPacket, attacks: &c}
	e.change = func(s *scenario.Scenario) { s.Faults = s.Faults[:1] } // nobody has told the aggregates
	var records func() []telemetry.Attack
	e.begin = func(f *fabric.Fabric) {
		at := func(_ context.Context, do func()) error { do(); return nil } // reports come while no event happens
		api := &http.Client{Transport: inProcess{f.FilterHandler(at, func() time.Time { return now })}}
		var nodes []mitigate.NodeAccess
		for id := uint32(1); id <= 3; id++ {
			url := fmt.Sprintf("http://fabric/nodes/%d", id)
			nodes = append(nodes, mitigate.NodeAccess{Node: id, URL: url, Client: api})
		}
		var err error
		manager, err = mitigate.New(mitigate.Config{For: time.Hour, MaxRules: 10, MaxShare: 1}, mitigate.Deps{
			Actors:  map[string]mitigate.Actor{"node": mitigate.NewNodes(nodes)},
			Attacks: func() []telemetry.Attack { return records() }, Traffic: func() uint64 { return 100e6 },
			Own: func() []netip.Addr { return nil }, Audit: audit, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return now },
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	asked := false
	e.look = func(v *virtualCollector) {
		now = time.Unix(0, v.next)
		records = func() (list []telemetry.Attack) {
			for _, a := range v.attackRecords() {
				list = append(list, *a)
			}
			return list
		}
		manager.Tick(t.Context())
		for _, a := range records() {
			if n := len(states); n == 0 || states[n-1] != a.State.String() {
				states = append(states, a.State.String())
			}
			if a.Effectiveness != nil && begin(v) < 11.5 {
				effect = *a.Effectiveness
			}
			if begin(v) > 6 && !asked {
				asked = true
				answer, err := manager.Mitigate(t.Context(), a.ID, mitigate.Request{Who: "ada"})
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for _, r := range answer.Rules {
					texts = append(texts, r.Text)
				}
				slices.Sort(texts)
				const alone = " (one exporter says so)" // the sink in front of the target
				if want := []string{
					"gw1 drops udp from device a6:1a:f6:b1:64:01 to 192.0.2.80/32 port 53" + alone,
					"gw2 drops udp from device a6:1a:f6:b2:64:01 to 192.0.2.80/32 port 53" + alone,
					"gw2 drops udp from device a6:1a:f6:b2:64:02 to 192.0.2.80/32 port 53" + alone,
					"gw3 drops udp from device a6:1a:f6:b3:64:01 to 192.0.2.80/32 port 53" + alone,
				}; !slices.Equal(texts, want) {
					t.Errorf("rules %q, want %q", texts, want)
				}
			}
		}
	}
	v := e.run(t, "ddos")
	now = time.Unix(0, v.next)
	manager.Tick(t.Context())
	if want := []string{"active", "mitigated", "ended"}; !slices.Equal(states, want) {
		t.Errorf("got %v, want %v", states, want)
	}
	if effect < 0.95 {
		t.Errorf("effectiveness %v before the end, want 0.95 at least", effect)
	}
	list := v.attackRecords()
	if len(list) != 1 {
		t.Fatalf("got %d attacks, want one", len(list))
	}
	a := list[0]
	var filtered uint64
	atGateway, told := map[uint32]uint64{}, map[uint32]uint64{}
	flood := map[uint32]bool{}
	for _, r := range v.truth.List {
		if f, ok := r.(*truth.Flow); ok && f.DstPort == 53 && f.Dst == "192.0.2.80" {
			flood[f.Flow] = true
		}
	}
	for _, r := range v.truth.List {
		if d, ok := r.(*truth.Drop); ok && d.Reason == "acl_deny" {
			filtered++
			atGateway[d.Node]++
			if !flood[d.Flow] || d.Node < 1 || d.Node > 3 {
				t.Fatalf("node %d dropped a packet of flow %d", d.Node, d.Flow)
			}
		}
	}
	for _, g := range a.Gateways {
		if g.Filtered > 0 {
			told[*g.Node] = g.Filtered
		}
	}
	if !maps.Equal(told, atGateway) {
		t.Errorf("dropped behind gateways %v, want %v", told, atGateway)
	}
	if filtered == 0 || a.FilteredPackets != filtered || a.Collateral != 0 {
		t.Errorf("filters dropped %d, and %d of others, says the attack; it was %d", a.FilteredPackets, a.Collateral,
			filtered)
	}
	var done []string
	for _, one := range manager.Actions(a.ID) {
		done = append(done, one.Action+" "+one.Who+one.Error)
	}
	if want := []string{"mitigate ada", "end "}; !slices.Equal(done, want) || len(manager.Rules("")) > 0 {
		t.Errorf("done %q, want %q; rules that hold: %v", done, want, manager.Rules(""))
	}
}
