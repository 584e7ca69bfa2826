package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/serve"
)

// What serve says of an emulated network is what the network knows of itself: for every scenario and every kind of
// telemetry, with real packets, real reports and real UDP on the loopback interface. See package expect for what is
// compared and how. Each scenario runs with one kind of telemetry in four, and with the others at other commits.
func TestProof(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	chosen, all := test.Seed(t)
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for j := range dialects {
			// The race detector takes ten times as long, and looks for races, which do not depend on the scenario:
			// one dialect in four is run with one, others with every commit.
			if test.RaceDetector &&
				(uint64(j%4) != chosen/uint64(len(files))%4 || (uint64(j)+chosen)%uint64(len(files)) != uint64(i)) {
				continue
			}
			if !test.RaceDetector && !all && (uint64(i+j)+chosen)%4 > 0 {
				continue
			}
			d := &dialects[j]
			if d.only != "" && d.only != name {
				continue
			}
			t.Run(name+"/"+d.name, func(t *testing.T) {
				proveUndisturbed(t, func() (string, bool) { return prove(t, file, d, nil) })
			})
		}
	}
}

// proveUndisturbed proves, and once more while what differs may be because the machine was busy.
func proveUndisturbed(t *testing.T, prove func() (differences string, disturbed bool)) {
	t.Helper()
	for try := 1; ; try++ {
		differences, disturbed := prove()
		if differences == "" {
			return
		}
		if !disturbed || try == 10 {
			t.Error(differences)
			return
		}
		t.Logf("again: the machine was busy, and postcards waited too long: %s", differences)
	}
}

// prove runs a scenario into a server and compares. It returns what differs, and whether it took so long to send and to
// receive that postcards of one packet may have come too far apart: then they are not put together. The server is the
// analyzer behind collectors; nil: it is alone.
func prove(t *testing.T, file string, d *dialectOfProof, collectors *clusterOfProof) (
	differences string, disturbed bool,
) {
	s, err := scenario.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	h := hurryOf(s)
	h.hasten(s)
	s.Truth.SamplePackets = 1
	s.INT = scenario.Raw{Text: []byte(everyPacket + d.text)}
	names := map[uint32]string{}
	for i, spec := range s.Graph.Switches {
		names[uint32(i+1)] = spec.Name
	}
	server := newServer(t, func(c *serve.Config) {
		// With one worker reports count in the order in which they were sent.
		c.Names, c.Workers = names, 1
		if d.options.Unordered {
			c.Workers = 2
		}
		if err := c.Points.Apply(d.points); err != nil {
			t.Fatal(err)
		}
		if collectors != nil {
			collectors.configure(c)
		}
	})
	sending := holdDelivery(server)
	r := run(t, server)
	sink := newPacedSink(t, r)
	if collectors != nil {
		r.query = collectors.startQuery(t, server.URL())
		sink = newPacedSink(t, r, collectors.addresses...)
		sink.inFlight = inFlightByBus
	}
	start := time.Now()
	f, written := sink.play(s, fabric.Options{})
	ran := time.Since(start)
	sending.Store(false)

	truth, err := expect.Read(written)
	if err != nil {
		t.Fatal(err)
	}
	r.join()
	options := d.options
	options.Unordered = options.Unordered || collectors != nil && len(collectors.tables) > 0
	options.Identity = sink.identities
	options.Source = loopbackSource
	want := truth.Answers(options)
	answers := r.answers()
	result := expect.Compare(want, answers)
	checkRun(t, s, &h, d, truth, r, sink)
	checkReported(t, truth, d)
	checkLedger(t, r, want)
	stats := f.Stats()
	t.Logf("%d packets, %d hops, %d reports, %d lost on purpose (%d of them leave no gap), %d flows, %d paths: %d facts, %v, %v in all",
		stats.Sent, stats.Hops, stats.Reports, stats.ReportsLost, want.Unseen, len(want.Flows), len(want.Paths),
		result.Facts, ran, time.Since(start))
	for rule, n := range result.Left {
		t.Logf("not compared for %d flows and paths: %s", n, rule)
	}
	if silent := truth.Silent(); len(silent) > 0 {
		t.Logf("drops that no switch can report:\n%s", silentTable(silent, names))
	}
	if len(result.Differences) > 0 {
		differences = fmt.Sprintf("%d differences:\n%s", len(result.Differences), result.Table(25))
	}
	r.stop()
	if collectors != nil {
		collectors.checkStored(t, r.query, answers.Flows)
	}
	return differences, ran > longestDelay
}

// checkRun checks that the proof is one: everything that was sent has arrived and was understood, and every fault
// occurred.
func checkRun(t *testing.T, s *scenario.Scenario, h *hurry, d *dialectOfProof, truth *expect.Truth, r *running,
	sink *pacedSink,
) {
	t.Helper()
	if n := r.total(); n.Received != sink.sent || n.Decoded != sink.sent || n.KernelDrops != 0 {
		t.Errorf("sent %d reports: %+v", sink.sent, n)
	}
	begun := map[int]bool{}
	for _, f := range truth.Faults {
		if f.Phase == "start" {
			begun[f.Fault] = true
		}
	}
	if len(begun) != len(s.Faults) {
		t.Errorf("%d of %d faults occurred", len(begun), len(s.Faults))
	}
	var dropped []string
	for _, d := range truth.End.Dropped {
		dropped = append(dropped, d.Reason)
	}
	slices.Sort(dropped)
	for _, reason := range strings.Fields(h.drops) {
		if reason != d.blinds && !slices.Contains(dropped, reason) {
			t.Errorf("nothing was dropped by %s: %v", reason, dropped)
		}
	}
	c := r.Collector.Counters()
	if c.FlowsEvicted+c.PathsEvicted+c.DropsOverflow+c.ExportersOverflow != 0 {
		t.Errorf("serve had not enough room: %+v", c)
	}
}

// checkReported checks that switches reported what they should have: each packet by the sink, or by each switch, and
// each drop that they were told of.
func checkReported(t *testing.T, truth *expect.Truth, d *dialectOfProof) {
	t.Helper()
	reports := map[*expect.Visit]int{}
	for _, r := range truth.Reports {
		if r.CopyOf != 0 {
			continue
		}
		if r.Visit == nil {
			t.Errorf("switch %d sent a report that is about no packet", r.Node)
			continue
		}
		reports[r.Visit]++
	}
	wrong := map[string]int{}
	for id, visits := range truth.Packets {
		for i, v := range visits {
			want := 1
			switch {
			case v.Drop != nil && !v.Drop.Seen, !truth.Switches[v.Node()].INT:
				want = 0
			case v.Hop != nil && d.options.Mode == expect.MD && !truth.IsSink(v):
				want = 0
			}
			if reports[v] != want {
				wrong[fmt.Sprintf(
					"switch %d sent %d reports about a packet, want %d (first: packet %d, switch %d of its path, drop %+v)",
					v.Node(), reports[v], want, id, i+1, v.Drop)]++
			}
		}
	}
	shown := 0
	for text := range wrong {
		if shown++; shown <= 5 {
			t.Error(text)
		}
	}
	if shown > 5 {
		t.Errorf("and %d more of this kind", shown-5)
	}
}

// silentTable lists the drops that nobody can report.
func silentTable(silent []expect.Silent, names map[uint32]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PLACE\tAT\tREASON\tPACKETS")
	for _, d := range silent {
		at := names[d.Node]
		if d.Link != "" {
			at += " to " + d.Link
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", d.Place, at, d.Reason, d.Packets)
	}
	w.Flush()
	return b.String()
}
