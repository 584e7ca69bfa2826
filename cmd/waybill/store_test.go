package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// storeFabric is the scenario demo in fast motion, as INT-MD, reporting to sink.
func storeFabric(t *testing.T, sink fabric.Sink, truth *bytes.Buffer) (*fabric.Fabric, *scenario.Scenario) {
	t.Helper()
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	h := hurryOf(s)
	h.hasten(s)
	s.Truth.SamplePackets = 1
	s.INT = scenario.Raw{Text: []byte(everyPacket + dialects[0].text)}
	device, err := fabric.INTDevices(s, netip.MustParseAddrPort("192.0.2.1:8555"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.New(s, fabric.Options{Device: device, Truth: truth, Reports: sink})
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// openStore opens what a server has left.
func openStore(t *testing.T, data string) *duckdb.Store {
	t.Helper()
	s, err := duckdb.Open(duckdb.DefaultConfig(filepath.Join(data, "store")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// sums asks for sums by keys, as text.
func sums(t *testing.T, s *duckdb.Store, statement string) map[string]string {
	t.Helper()
	a, err := s.Select(t.Context(), statement, 100_000)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	m := map[string]string{}
	for _, row := range a.Rows {
		m[fmt.Sprint(row[0])] = strings.Trim(fmt.Sprint(row[1:]), "[]")
	}
	return m
}

func equalSums(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if len(want) == 0 || len(want) != len(got) {
		t.Errorf("%s: got %d, want %d", what, len(got), len(want))
	}
	shown := 0
	for k, v := range want {
		if got[k] != v {
			if shown++; shown < 4 {
				t.Errorf("%s %s: got %q, want %q", what, k, got[k], v)
			}
		}
	}
}

// hostsOf are hosts by place, where they sent or got packets: before the first hop of a path, and behind the last if
// that did not drop them.
func hostsOf(want *expect.Answers) map[string]string {
	packets := map[string]uint64{}
	add := func(a netip.Addr, node, port *uint32, n uint64) {
		host := telemetry.AddrFrom(a)
		packets[fmt.Sprintf("%d %d %d.%d", host.Hi, host.Lo, *node, *port)] += n
	}
	for i := range want.Flows {
		f := &want.Flows[i]
		for _, p := range f.Paths {
			first, last := &p.Hops[0], &p.Hops[len(p.Hops)-1]
			ends := []*telemetry.Endpoints{&f.Endpoints, f.Outer}
			for _, e := range ends[:1+min(len(f.Tunnel), 1)] {
				add(e.Src, first.Node, first.IngressPort, p.Packets)
				if !last.Dropped {
					add(e.Dst, last.Node, last.EgressPort, p.Packets)
				}
			}
		}
	}
	text := map[string]string{}
	for name, n := range packets {
		text[name] = fmt.Sprint(n > 0)
	}
	return text
}

// checkStore holds the sums in a store against the truth, at one resolution of flows and hops.
func checkStore(t *testing.T, s *duckdb.Store, want *expect.Answers, flows, hops string) {
	t.Helper()
	// Pairs of hosts: that is what all resolutions have of a flow.
	pairs := map[string][3]uint64{}
	for i := range want.Flows {
		f := &want.Flows[i]
		src, dst := telemetry.AddrFrom(f.Src), telemetry.AddrFrom(f.Dst)
		name := fmt.Sprint(src.Hi, " ", src.Lo, " ", dst.Hi, " ", dst.Lo)
		n := pairs[name]
		pairs[name] = [3]uint64{n[0] + f.Packets, n[1] + f.Bytes, n[2] + f.Drops}
	}
	truth := map[string]string{}
	for name, n := range pairs {
		truth[name] = fmt.Sprint(n[0], n[1], n[2])
	}
	equalSums(t, "flows"+flows, truth,
		sums(t, s,
			"SELECT src_hi || ' ' || src_lo || ' ' || dst_hi || ' ' || dst_lo, sum(packets), sum(bytes), sum(drops) FROM flows"+flows+" GROUP BY 1"))
	clear(truth)
	for _, n := range want.Nodes {
		truth[fmt.Sprint(n.ID)] = fmt.Sprint(n.Packets)
	}
	equalSums(t, "hops"+hops, truth, sums(t, s, "SELECT node, sum(packets) FROM hops"+hops+" GROUP BY 1"))
	clear(truth)
	for _, l := range want.Links {
		truth[fmt.Sprintf("%d.%d %d.%d", l.From, *l.FromPort, l.To, *l.ToPort)] = fmt.Sprint(l.Packets)
	}
	equalSums(t, "links"+flows, truth,
		sums(t, s, "SELECT from_node || '.' || from_port || ' ' || to_node || '.' || to_port, sum(packets) FROM links"+
			flows+" GROUP BY 1"))
	clear(truth)
	dropped := map[string]uint64{}
	for _, d := range want.Drops {
		dropped[fmt.Sprint(*d.Node, " ", d.Reason)] += d.Packets
	}
	for name, n := range dropped {
		truth[name] = fmt.Sprint(n)
	}
	equalSums(t, "drops"+flows, truth,
		sums(t, s, "SELECT node || ' ' || reason, sum(packets) FROM drops"+flows+" GROUP BY 1"))
	clear(truth)
	for _, x := range want.Exporters {
		truth[fmt.Sprint(*x.Node)] = fmt.Sprint(x.Received, x.Reports, *x.Lost, 0, 0)
	}
	equalSums(t, "hosts"+flows, hostsOf(want),
		sums(t, s, "SELECT address_hi || ' ' || address_lo || ' ' || node || '.' || port, sum(packets) > 0 FROM hosts"+
			flows+" GROUP BY 1"))
	equalSums(t, "exporters"+flows, truth,
		sums(t, s, "SELECT node, sum(received), sum(reports), sum(lost), sum(duplicate), sum(restarted) FROM exporters"+
			flows+" GROUP BY 1"))
}

// TestStoreProof: what is in the store after a scenario, with a stop and a start in the middle of it, are the sums that
// the network knows of itself, at every resolution.
func TestStoreProof(t *testing.T) {
	data, names := t.TempDir(), map[uint32]string{}
	start := func(listen string) *running {
		return startServer(t, func(c *serve.Config) {
			c.Data, c.Names, c.Workers, c.Listen = data, names, 1, []string{"udp://" + listen}
			if err := c.Points.Apply(dialects[0].points); err != nil {
				t.Fatal(err)
			}
		})
	}
	r := start("127.0.0.1:0")
	sink := newPacedSink(t, r)
	var written bytes.Buffer
	f, s := storeFabric(t, sink, &written)
	if err := f.Run(t.Context(), time.Duration(s.Duration)/2); err != nil {
		t.Fatal(err)
	}
	sink.drain()
	var events []telemetry.Event
	listen := r.udp(0)
	r.stop()

	r = start(listen)
	sink.r, sink.reports = r, 0 // its counters begin anew
	if err := f.Run(t.Context(), time.Duration(s.Duration)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	sink.drain()
	test.Eventually(t, "the look for events", func() bool {
		r.get("/api/v1/events?limit=10000", "events", &events)
		return len(events) > 0
	})
	r.stop()
	events, _ = r.Events.Events(nil, 10_000)

	truth, err := expect.Read(&written)
	if err != nil {
		t.Fatal(err)
	}
	options := dialects[0].options
	options.Identity, options.Source = sink.identities, loopbackSource
	want := truth.Answers(options)
	kept := openStore(t, data)
	checkStore(t, kept, want, "_10s", "_1s")
	wanted := map[string]string{}
	for i := range events {
		wanted[events[i].ID] = fmt.Sprint(events[i].Count, events[i].End != nil)
	}
	equalSums(t, "events", wanted, sums(t, kept, `SELECT id, "count", "end" IS NOT NULL FROM events`))
	if err := kept.Maintain(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	checkStore(t, kept, want, "_1m", "_1m")
	checkStore(t, kept, want, "_1h", "_1h")
	checkStore(t, kept, want, "_10s", "_1s") // which are compacted now
}

// A processSink sends reports to a process, and never more at a time than fit into the receive buffer.
type processSink struct {
	*fabric.UDPSink
	p           *process
	sent, stood uint64 // datagrams; those of earlier processes
}

// Report implements fabric.Sink.
func (s *processSink) Report(atNs uint64, frame []byte) error {
	if err := s.UDPSink.Report(atNs, frame); err != nil {
		return err
	}
	if s.sent++; s.sent%inFlight == 0 {
		s.drain()
	}
	return nil
}

// drain waits until the tables have what was sent.
func (s *processSink) drain() {
	test.Eventually(s.p.t, "receiving what was sent", func() bool {
		var l struct{ Tables telemetry.TableLoss }
		return s.p.ask("/api/v1/loss", &l) == nil && l.Tables.Stored == s.sent-s.stood
	})
}

// noted is until when what was counted outlives a crash, as the metrics say.
func (p *process) noted() time.Time {
	response, err := http.Get("http://" + p.http + "/metrics")
	if err != nil {
		return time.Time{}
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var seconds float64
		if n, _ := fmt.Sscanf(lines.Text(), "waybill_store_journal_timestamp_seconds %g", &seconds); n == 1 {
			return time.Unix(0, int64(seconds*1e9))
		}
	}
	return time.Time{}
}

// TestStoreKilled: a server that is killed under load leaves a store that lacks what came after the last note of the
// journal, and nothing else, although most of it is of ten seconds that were not over. The one that follows goes on,
// and its ledger says when nobody received.
func TestStoreKilled(t *testing.T) {
	udp, web, data := test.FreePort(t, "udp"), test.FreePort(t, "tcp"), t.TempDir()
	config := filepath.Join(t.TempDir(), "waybill.yaml")
	if err := os.WriteFile(config, []byte("int_dscp: 23\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() *process { return startServe(t, udp, web, data+" --config "+config) }
	p := begin()
	to, err := fabric.NewUDPSink(udp)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	sink := &processSink{UDPSink: to, p: p}
	var written bytes.Buffer
	f, s := storeFabric(t, sink, &written)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	part := func(n time.Duration) {
		t.Helper()
		if err := f.Run(ctx, n*time.Duration(s.Duration)/3); err != nil {
			t.Fatal(err)
		}
		sink.drain()
	}
	part(1)
	first := sink.sent
	test.Eventually(t, "writing", func() bool {
		var a struct{ Rows [][]any }
		return p.ask("/api/v1/query?sql="+url.QueryEscape("SELECT CAST(sum(reports) AS DOUBLE) FROM flows_10s"),
			&a) == nil && a.Rows[0][0] == float64(first)
	})
	part(2)
	second, counted := sink.sent, time.Now()
	test.Eventually(t, "noting", func() bool { return p.noted().After(counted) })
	if err := f.Run(ctx, 5*time.Duration(s.Duration)/6); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	killed := time.Now()
	left := t.TempDir() // what a query without a server finds
	if err := os.CopyFS(left, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runWaybill(t, "query", "--data", left, "-o", "csv",
		"SELECT CAST(sum(reports) AS UBIGINT) AS n FROM flows_10s")
	var n uint64
	if _, err := fmt.Sscanf(stdout, "n\n%d", &n); err != nil || code != 0 || n < second || n > sink.sent {
		t.Errorf("query --data: code %d, %d reports of %d, %s", code, n, second, stderr)
	}
	p = begin()
	sink.p, sink.stood = p, sink.sent
	part(3)
	var ledger struct{ Gaps []telemetry.LossGap }
	if err := p.ask("/api/v1/loss", &ledger); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(ledger.Gaps) != 1 || !ledger.Gaps[0].From.Before(killed) || !ledger.Gaps[0].To.After(killed) {
		t.Errorf("killed at %v, gaps: %+v", killed, ledger.Gaps)
	}
	a, err := openStore(t, data).Select(t.Context(),
		"SELECT CAST(sum(reports) AS UBIGINT) FROM flows_10s UNION ALL SELECT CAST(sum(reports) AS UBIGINT) FROM exporters_10s", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range a.Rows {
		n := row[0].(uint64)
		if n < sink.sent-(sink.stood-second) || n > sink.sent {
			t.Errorf("%d reports are kept of %d that were sent, %d of them after the last note", n, sink.sent,
				sink.stood-second)
		}
	}
	if sink.stood == second || second == first {
		t.Errorf("%d, %d and %d reports: this tests little", first, second, sink.stood)
	}
	if left, err := os.ReadDir(filepath.Join(data, "journal")); len(left) > 0 || err != nil {
		t.Errorf("after a stop %d journals are left, %v", len(left), err)
	}
}
