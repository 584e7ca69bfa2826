package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/lab"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// TestLabAttack runs scenarios/transparent-security.yaml on kernel gateways: the attack is told with its devices, one
// of which forges its addresses; "waybill attacks mitigate" lets the gateways drop it in XDP, "release" lets it pass
// again; it ends behind the filters, which are withdrawn then. What is told is compared with captures: what filters
// dropped, to the packet, and that what the same homes and others send besides arrives.
func TestLabAttack(t *testing.T) {
	if test.RaceDetector {
		t.Skip("captures do not keep up with it")
	}
	needLab(t)
	for try := 1; !proveLabAttack(t); try++ {
		if try == 5 {
			t.Fatal("the machine was too busy")
		}
	}
}

// An attackRun is a scenario that runs, and a server that sees it.
type attackRun struct {
	*running
	t      *testing.T
	attack telemetry.Attack
	nodes  string // URL of the nodes
}

// await waits until the attack is as wanted; false: it was over before.
func (r *attackRun) await(what string, is func(a *telemetry.Attack) bool) (ok bool) {
	r.t.Helper()
	test.Eventually(r.t, what, func() bool {
		var list []telemetry.Attack
		r.get("/api/v1/attacks", "attacks", &list)
		if len(list) > 1 {
			r.t.Fatalf("%s: %d attacks, want one: %+v", what, len(list), list)
		}
		if len(list) == 1 {
			r.attack = list[0]
		}
		ok = len(list) == 1 && is(&r.attack)
		return ok || r.attack.State == telemetry.AttackEnded && len(r.attack.Rules) == 0
	})
	if !ok {
		r.t.Logf("again: %s did not happen before the attack was over", what)
	}
	return ok
}

// command runs waybill attacks.
func (r *attackRun) command(args ...string) string {
	r.t.Helper()
	out, errs, code := runWaybill(r.t, append(append([]string{"attacks"}, args...), "--server", r.URL())...)
	if code != 0 {
		r.t.Fatalf("%q: %d\n%s%s", args, code, out, errs)
	}
	return out
}

// filters returns how many filters each gateway has.
func (r *attackRun) filters() (n [4]int) {
	r.t.Helper()
	for i := range n {
		answer, err := http.Get(fmt.Sprintf("%s/nodes/%d/filter", r.nodes, i+1))
		if err != nil {
			r.t.Fatal(err)
		}
		var list []json.RawMessage
		err = json.NewDecoder(answer.Body).Decode(&list)
		if answer.Body.Close(); err != nil {
			r.t.Fatal(err)
		}
		n[i] = len(list)
	}
	return n
}

// proveLabAttack is false if the machine was so busy that captures missed something.
func proveLabAttack(t *testing.T) bool {
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", "transparent-security.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.Duration, s.Truth.SamplePackets = scenario.Duration(time.Minute), 1 // ended when all is seen
	for i := range s.Traffic {
		s.Traffic[i].Stop = s.Duration
	}
	for i := range s.Faults {
		s.Faults[i].At, s.Faults[i].For = scenario.Duration(2*time.Second), scenario.Duration(12*time.Second)
	}
	s.Faults[1].DDoS.Spoof = true
	var l *lab.Lab // the server knows its address before there is one
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.Handler().ServeHTTP(w, r)
	}))
	defer control.Close()
	var config bytes.Buffer
	if err := writeServeConfig(&config, s); err != nil {
		t.Fatal(err)
	}
	config.WriteString("attacks: {floor: {rate: 3M}, learn: 1s, end_after: 2s}\nmitigation:\n  max_share: 100%\n  nodes:\n")
	for id := 1; id <= 4; id++ {
		fmt.Fprintf(&config, "    - {node: %d, url: %q}\n", id, fmt.Sprintf("%s/nodes/%d", control.URL, id))
	}
	file := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(file, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &attackRun{t: t, nodes: control.URL, running: startServer(t, func(c *serve.Config) {
		if err := c.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		c.Workers = 1
	})}
	defer r.stop()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%+v", r.attack)
		}
	})
	var written bytes.Buffer
	if l, err = lab.New(s, lab.Options{
		Reports: netip.MustParseAddrPort(r.udp(0)), Truth: &written,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- l.Run(ctx, nil); close(ran) }()
	defer func() {
		cancel()
		<-ran
	}()

	attackers := []string{"a6:1a:f6:b1:64:01", "a6:1a:f6:b2:64:01", "a6:1a:f6:b3:64:01", "a6:1a:f6:b4:64:01"}
	devices := func(a *telemetry.Attack) (list []string) {
		for i := range a.Devices {
			list = append(list, a.Devices[i].Device)
		}
		slices.Sort(list)
		return list
	}
	if !r.await("an attack by four devices", func(a *telemetry.Attack) bool {
		return a.State == telemetry.AttackActive && slices.Equal(devices(a), attackers)
	}) {
		return false
	}
	if text := r.command("mitigate", r.attack.ID, "--dry-run"); strings.Count(text, " drops udp from device ") != 4 ||
		r.filters() != [4]int{} {
		t.Errorf("a dry run: %v filters and\n%s", r.filters(), text)
	}
	works := func(a *telemetry.Attack) bool {
		return a.State == telemetry.AttackMitigated && a.Effectiveness != nil && *a.Effectiveness > 0.95
	}
	r.command("mitigate", r.attack.ID)
	if !r.await("filters that work", works) {
		return false
	}
	if got := r.filters(); got != [4]int{1, 1, 1, 1} {
		t.Errorf("filters: %v", got)
	}
	r.command("release", r.attack.ID)
	if got := r.filters(); got != [4]int{} {
		t.Errorf("filters that were released: %v", got)
	}
	if !r.await("an attack that goes on", func(a *telemetry.Attack) bool { return a.State == telemetry.AttackActive }) {
		return false
	}
	r.command("mitigate", r.attack.ID)
	from := time.Now()
	if !r.await("filters that work again", works) {
		return false
	}
	r.await("the end of the attack", func(a *telemetry.Attack) bool {
		return a.State == telemetry.AttackEnded && len(a.Rules) == 0
	})
	if got := r.filters(); got != [4]int{} {
		t.Errorf("filters behind the end: %v", got)
	}
	cancel()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	sum := l.Summary()
	t.Logf("%+v, %+v", *sum.Packets, sum.Nodes)
	if untold := sum.Nodes["kernel_drops_untold"]; len(sum.Doubts) > 0 || untold > 0 {
		t.Logf("again: captures %v, nodes were not told of %d drops", sum.Doubts, untold)
		return false
	}
	test.Eventually(t, "receiving what nodes sent", func() bool { return r.total().Received == sum.Nodes["datagrams"] })
	r.await("the last of it", func(*telemetry.Attack) bool { return true })
	compareAttack(t, &r.attack, readTruth(t, &written), from, attackers)
	return true
}

// compareAttack compares an attack that is over with what captures saw; from is when filters held to its end.
func compareAttack(t *testing.T, a *telemetry.Attack, w *labTruth, from time.Time, attackers []string) {
	t.Helper()
	isAttack := func(flow uint32) bool { return strings.HasSuffix(w.flows[flow].Traffic, "ddos") }
	since, until := from.UnixNano()-w.epochNs, int64(14*time.Second)
	var filtered, sentThen, filteredThen uint64
	byNode := map[string]uint64{}                                              // that filters dropped
	sent, lost, before := map[string]int{}, map[string]int{}, map[string]int{} // of others, by traffic
	for _, list := range w.hops {
		h := list[0]
		switch name := w.flows[h.Flow].Traffic; {
		case h.Hop != 0 || h.InNs < since || h.InNs > until:
		case isAttack(h.Flow):
			sentThen++
		default:
			sent[name]++
		}
	}
	for _, d := range w.drops {
		then := d.TimeNs >= since && d.TimeNs <= until
		switch name := w.flows[d.Flow].Traffic; {
		case isAttack(d.Flow) && d.Reason == "acl_deny":
			filtered++
			byNode[fmt.Sprintf("gw%d", d.Node)]++
			if then {
				filteredThen++
			}
		case isAttack(d.Flow):
		case d.Reason == "acl_deny":
			t.Errorf("a filter dropped a packet of %s", name)
		case then:
			lost[name]++
		default:
			before[name]++
		}
	}
	begun, finished := 0, 0 // connections while filters held
	for _, f := range w.flows {
		if f.Protocol == 6 && f.StartNs >= since && f.StartNs <= until {
			begun++
			if f.Finished {
				finished++
			}
		}
	}
	if float64(finished) < 0.95*float64(begun) || begun == 0 {
		t.Errorf("%d of %d connections were finished while filters held", finished, begun)
	}
	if a.FilteredPackets != filtered || a.Collateral != 0 {
		t.Errorf("filters dropped %d packets of the attack and %d others, want %d and 0", a.FilteredPackets,
			a.Collateral, filtered)
	}
	told := map[string]uint64{}
	for _, f := range a.Filters {
		told[f.Name] += f.Packets
	}
	labDiffers(t, "filter at", told, byNode)
	through := sentThen // what passed the gateways
	if share := float64(filteredThen) / float64(filteredThen+through); share < 0.95 {
		t.Errorf("filters dropped %d of %d packets", filteredThen, filteredThen+through)
	}
	for i := range a.Devices {
		d := &a.Devices[i]
		gateway := fmt.Sprintf("gw%c", d.Device[10])
		if d.Name != gateway || !slices.Contains(attackers, d.Device) {
			t.Errorf("device %s at %s, want %s", d.Device, d.Name, gateway)
		}
		// a drop report does not say which device has forged the address
		if gateway != "gw4" && d.Filtered != byNode[gateway] {
			t.Errorf("filters dropped %d packets of %s, want %d", d.Filtered, d.Device, byNode[gateway])
		}
	}
	worst := ""
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if goodput := 1 - float64(lost[name])/float64(sent[name]); goodput < 0.95 {
			t.Errorf("%s: %d of %d packets were lost while filters held", name, lost[name], sent[name])
		}
		worst += fmt.Sprintf("%s: %d sent, %d lost; ", name, sent[name], lost[name])
	}
	if len(sent) != 5 || len(before) == 0 {
		t.Errorf("traffic of others: %v; before it was mitigated were lost: %v", sent, before)
	}
	t.Logf("filters dropped %d of %d packets while they held, %d in all; %d of %d connections; %swithout filters were lost: %v", filteredThen,
		filteredThen+through, filtered, finished, begun, worst, before)
}
