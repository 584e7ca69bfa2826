package analyze

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// silentNetwork is a network of whose switches two send reports that never arrive, one after the other, and whose hosts
// send nothing from 12 s on.
const silentNetwork = `
name: silent
duration: 16s
topology: {leaf_spine: {leaves: 3, spines: 2, hosts: 3, host_link: {rate: 50M}, fabric_link: {rate: 100M}}}
traffic:
  - {poisson: {load: 3%, sizes: web_search, max_size: 100kB}, stop: 12s}
  - {constant: {from: h1, to: h4, bytes: 4MB}, rate: 2M, packet: 500, port: 6001, stop: 12s}
  - {constant: {from: h1, to: h5, bytes: 90MB}, transport: tcp, port: 6002, stop: 12s}
  - {constant: {from: h7, to: h2, bytes: 90MB}, transport: tcp, port: 6003, stop: 12s}
faults:
  - {at: 3s, for: 3s, report_loss: {nodes: [leaf1], drop: 100%}}
  - {at: 7s, for: 4s, report_loss: {nodes: [leaf3], drop: 100%}}
`

// A silent exporter that is forgotten is silent no more, and nobody waits for it.
func TestForgottenIsNotSilent(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	s := scenarioOf(t, silentNetwork)
	s.INT.Text = []byte(everyPacket)
	var forgotten, open int
	var at int64
	emulation{shards: 2, look: func(v *virtualCollector) {
		for _, e := range v.eventsOf(telemetry.EventExporterSilent) {
			switch {
			case e.Name != "leaf3" || e.End != nil:
			case at == 0:
				at = v.next
				forgotten = len(v.Forget(func(x *telemetry.Exporter) bool { return x.Name == "leaf3" }))
			case v.next > at+2*second && v.next < v.start+10500*millisecond:
				open++
			}
		}
	}}.runScenario(t, s)
	if forgotten != 1 || open != 0 {
		t.Errorf("%d forgotten, of which an event still goes on %d times", forgotten, open)
	}
}

// An exporter that falls silent is told while it is, within two seconds, with how many reports are missing about. One
// that has nothing to report any more is not.
func TestSilentExporters(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	for _, nodes := range []string{everyPacket, postcards, everyPacket + "mode: mx\n"} {
		told := map[string]int64{} // when
		s := scenarioOf(t, silentNetwork)
		s.INT.Text = []byte(nodes)
		v := emulation{shards: 2, look: func(v *virtualCollector) {
			for _, e := range v.eventsOf(telemetry.EventExporterSilent) {
				if told[e.Name] == 0 {
					told[e.Name] = v.next - v.start
				}
			}
		}}.runScenario(t, s)
		lost := map[uint32]uint64{}
		v.each(func(r truth.Record) {
			if r, ok := r.(*truth.Report); ok && r.Lost {
				lost[r.Node]++
			}
		})
		want := map[string][2]int64{"leaf1": {3000, 6000}, "leaf3": {7000, 11000}}
		for _, e := range v.eventsOf(telemetry.EventExporterSilent) {
			span, ok := want[e.Name]
			delete(want, e.Name)
			if !ok || !v.around(&e, span[0]*millisecond, span[1]*millisecond) {
				t.Errorf("%q: got %s, %v to %v", nodes, e.Text, e.Start, e.End)
				continue
			}
			if late := told[e.Name] - span[0]*millisecond; late > 2*second+scan.TickNs {
				t.Errorf("%q: %s is told after %v", nodes, e.Name, time.Duration(late))
			}
			if n := lost[*e.Node]; e.Count < n/4 || e.Count > n {
				t.Errorf("%q: %s: got %d reports missing, want about %d", nodes, e.Name, e.Count, n)
			}
		}
		for name := range want {
			t.Errorf("%q: missed: %s", nodes, name)
		}
	}
}
