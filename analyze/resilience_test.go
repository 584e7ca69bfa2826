package analyze

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A sentReport is a report datagram of an emulated network, and when it arrives.
type sentReport struct {
	atNs int64
	test.Datagram
}

// A tape is a fabric.Sink that keeps all reports.
type tape struct{ reports []sentReport }

// Report implements fabric.Sink.
func (p *tape) Report(atNs uint64, frame []byte) error {
	d, ok := test.UDP(slices.Clone(frame))
	if !ok {
		return io.ErrUnexpectedEOF
	}
	p.reports = append(p.reports, sentReport{int64(atNs), d})
	return nil
}

// Flush implements fabric.Sink.
func (p *tape) Flush() error { return nil }

// record runs a scenario and returns its reports, and who takes some.
func (e emulation) record(t *testing.T, name string) (
	reports []sentReport, collector func(shards int) *virtualCollector, truth *test.Records,
) {
	t.Helper()
	s, err := scenario.Load(filepath.Join(test.Root(), "scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.INT.Text = []byte(e.nodes)
	if e.change != nil {
		e.change(s)
	}
	if e.duration == 0 {
		e.duration = time.Duration(s.Duration)
	}
	var p tape
	truth = &test.Records{}
	e.send(t, s, &p, truth)
	return p.reports, func(shards int) *virtualCollector {
		e.shards = shards
		return e.collector(t, s)
	}, truth
}

// play takes reports when they arrive, and lets pass what they need until all is over.
func (v *virtualCollector) play(reports []sentReport) {
	for i := range reports {
		v.advance(reports[i].atNs)
		v.take(reports[i].atNs, reports[i].Datagram)
	}
	v.advance(reports[len(reports)-1].atNs + 6*scan.ScanNs)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// firstDifference returns the first line in which two texts differ, with those before it.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s\ngot  %s\nwant %s", strings.Join(a[max(0, i-8):i], "\n"), a[i], b[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(a), len(b))
}

// The flows of a network are split between two collectors; their states together answer what one collector that had all
// of it answers: every list, every event, every burst.
func TestTwoCollectorsAddUp(t *testing.T) {
	for name, nodes := range map[string]string{
		"demo": everyPacket, "blackhole": postcards, "polarisation": everyPacket,
		"clock-skew": everyPacket,
	} {
		t.Run(name, func(t *testing.T) {
			if test.RaceDetector && name != "blackhole" {
				t.Skip("races do not depend on the scenario")
			}
			e := emulation{nodes: nodes}
			if name == "demo" {
				e.duration = 31 * time.Second
			}
			reports, collector, _ := e.record(t, name)
			one := collector(1)
			one.play(reports)
			both := collector(2)
			halves := [2]int{}
			both.play(reports)
			for i, s := range both.Owners {
				halves[i] = int(s.counters().Reports)
			}
			if min(halves[0], halves[1]) < len(reports)/10 {
				t.Fatalf("the flows are not split: %v", halves)
			}
			for what, answers := range map[string]func(*virtualCollector) any{
				"flows": func(v *virtualCollector) any {
					list, n := v.Flows(FlowFilter{Limit: 100_000})
					slices.SortFunc(list,
						func(a, b telemetry.Flow) int {
							return strings.Compare(asJSON(t, a.Endpoints), asJSON(t, b.Endpoints))
						})
					return []any{list, n}
				},
				"paths":    func(v *virtualCollector) any { list, n := v.Paths(100_000); return []any{list, n} },
				"nodes":    func(v *virtualCollector) any { return v.Nodes() },
				"links":    func(v *virtualCollector) any { return v.Links() },
				"hops":     func(v *virtualCollector) any { return v.Hops() },
				"queues":   func(v *virtualCollector) any { return v.Queues() },
				"drops":    func(v *virtualCollector) any { return v.Drops(nil) },
				"topology": func(v *virtualCollector) any { return v.Topology() },
				"hosts":    func(v *virtualCollector) any { hosts, left := v.Hosts(); return []any{hosts, left} },
				"events":   func(v *virtualCollector) any { return eventFacts(v) },
			} {
				got, want := sumsOf(t, answers(both)), sumsOf(t, answers(one))
				if got != want {
					t.Errorf("%s: %s", what, firstDifference(got, want))
				}
				if len(want) < 10 && (what != "drops" || name == "blackhole") {
					t.Errorf("%s: there are none: %s", what, want)
				}
			}
		})
	}
}

// sumsOf returns an answer as JSON, without what is no sum: delays and clocks come of a sample of the packets, the
// queue of a hop is that of its latest packet, and what waits for postcards (drops at the source, too) is joined when
// the shard gets its next report, some milliseconds sooner or later.
func sumsOf(t *testing.T, answer any) string {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(asJSON(t, answer)), &tree); err != nil {
		t.Fatal(err)
	}
	var scrub func(any)
	scrub = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				scrub(x)
			}
		case map[string]any:
			for _, key := range []string{"first", "last", "last_depth", "delay", "end_to_end_clocks", "queue"} {
				delete(v, key)
			}
			if told, ok := v["sample"].(map[string]any); ok {
				delete(told, "complete") // an estimate, from some of the flows of each
			}
			for _, x := range v {
				scrub(x)
			}
		}
	}
	scrub(tree)
	return asJSON(t, tree)
}

// eventFacts returns what is the same of events whoever saw them first: which of their flows is told is not.
func eventFacts(v *virtualCollector) []string {
	list, _ := v.log.Events(nil, 100_000)
	var facts []string
	for _, e := range list {
		facts = append(facts, fmt.Sprintf("%s %s %s-%s %d %s", e.ID, e.Severity, e.Start, e.End, e.Count, e.Text))
	}
	slices.Sort(facts)
	return facts
}

// Reports that are reordered on their way, or come again when their window is long closed, change no event, and no
// burst that was over. The ledger counts each of the latter, and has nothing lost.
func TestLateReportsChangeNothingThatIsOver(t *testing.T) {
	e := emulation{duration: 3 * time.Second, shards: 2, nodes: everyPacket}
	reports, collector, _ := e.record(t, "incast")
	v := collector(2)
	v.play(reports)
	want, wantPaths := v.events(), pathCounts(v)
	replayNs := reports[len(reports)*2/3].atNs - 300*millisecond // none that goes on when the first comes again
	wantBursts, wantOver := burstFacts(t, v, 1<<62), burstFacts(t, v, replayNs)

	r := rand.New(rand.NewPCG(4, 4))
	shuffled := slices.Clone(reports)
	for i := range shuffled {
		shuffled[i].atNs += int64(r.IntN(5e6)) // 5 ms
	}
	slices.SortFunc(shuffled, func(a, b sentReport) int { return int(a.atNs - b.atNs) })
	v = collector(2)
	accounts := ledger.New(v.Collector.Exporters, []ledger.Socket{{Drops: func() (uint64, error) { return 0, nil }}},
		nil, &v.Collector)
	v.look = func(v *virtualCollector) { accounts.Tick(v.next) }
	v.play(shuffled)
	if got := v.events(); sorted(got) != sorted(want) {
		t.Errorf("reordered: got\n%s\nwant\n%s", got, want)
	}
	if got := burstFacts(t, v, 1<<62); got != wantBursts {
		t.Errorf("reordered: bursts: %s", firstDifference(got, wantBursts))
	}
	checkNothingLost(t, accounts, v.next, len(reports), 0)

	var replayed []sentReport
	again := 0
	for i := range reports {
		replayed = append(replayed, reports[i])
		if i > len(reports)*2/3 && r.IntN(20) == 0 {
			replayed = append(replayed, sentReport{reports[i].atNs, reports[100+r.IntN(len(reports)/2)].Datagram})
			again++
		}
	}
	v = collector(2)
	accounts = ledger.New(v.Collector.Exporters, []ledger.Socket{{Drops: func() (uint64, error) { return 0, nil }}},
		nil, &v.Collector)
	v.look = func(v *virtualCollector) { accounts.Tick(v.next) }
	v.play(replayed)
	if got := v.events(); sorted(got) != sorted(want) {
		t.Errorf("replayed: got\n%s\nwant\n%s", got, want)
	}
	after := burstFacts(t, v, replayNs)
	over := strings.Split(wantOver, "\n{")
	for _, fact := range over {
		if !strings.Contains(after, strings.TrimPrefix(fact, "{")) {
			t.Errorf("replayed: a burst that was over is another one now: %s", fact)
		}
	}
	if len(over) < 3 {
		t.Errorf("%d bursts were over: this tests little", len(over))
	}
	checkNothingLost(t, accounts, v.next, len(reports), again)
	if got := pathCounts(v); got != wantPaths {
		t.Errorf("replayed: paths: %s", firstDifference(got, wantPaths))
	}
	// Two old ones by chance in order could be of another sender, and are let through.
	if got := accounts.Loss(ledger.Query{}, v.next).Tables; got.Repeated < uint64(again)*98/100 ||
		got.Stored+got.Repeated != got.Reports {
		t.Errorf("%d came again, tables: %+v", again, got)
	}
	if again < 100 {
		t.Errorf("%d reports came again: this tests little", again)
	}
}

// checkNothingLost fails unless the ledger says that so many datagrams came, so many of them once more, and none is
// missing.
func checkNothingLost(t *testing.T, accounts *ledger.Ledger, nowNs int64, arrived, again int) {
	t.Helper()
	var got [3]uint64
	for _, x := range accounts.Loss(ledger.Query{}, nowNs).Exporters {
		got[0], got[1], got[2] = got[0]+*x.Arrived, got[1]+*x.Lost, got[2]+*x.Duplicate
	}
	if want := [3]uint64{uint64(arrived), 0, uint64(again)}; got != want {
		t.Errorf("arrived, lost, duplicate: got %d, want %d", got, want)
	}
}

// pathCounts returns how many packets took each path.
func pathCounts(v *virtualCollector) string {
	list, _ := v.Paths(100_000)
	var counts []string
	for i := range list {
		counts = append(counts, fmt.Sprintf("%s %d", list[i].ID, list[i].Packets))
	}
	slices.Sort(counts)
	return strings.Join(counts, "\n")
}

// burstFacts returns all bursts that were over by then, with their flows.
func burstFacts(t *testing.T, v *virtualCollector, untilNs int64) string {
	t.Helper()
	var facts []string
	for _, e := range slices.Concat(v.eventsOf(telemetry.EventMicroburst), v.eventsOf(telemetry.EventIncast)) {
		if e.End.UnixNano() > untilNs {
			continue
		}
		d, ok := v.bursts.Burst(e.ID)
		if !ok {
			t.Errorf("no burst of %s", e.ID)
		}
		facts = append(facts, asJSON(t, d.Burst))
	}
	slices.Sort(facts)
	return strings.Join(facts, "\n")
}

// A node is down for half a second and comes back with sequence numbers from 0, and its clock is a year ahead: one
// event each, which name it, and the ledger says what was lost, exactly.
func TestRebootAndYear(t *testing.T) {
	const spine = uint32(5)
	e := emulation{shards: 2, nodes: everyPacket + "mode: xd\n", change: func(s *scenario.Scenario) {
		s.Faults[0].Clock.Offset = unit.Offset(365 * 24 * time.Hour)
	}}
	reports, collector, records := e.record(t, "clock-skew")
	v := collector(2)
	accounts := ledger.New(v.Collector.Exporters, []ledger.Socket{{Drops: func() (uint64, error) { return 0, nil }}},
		nil, &v.Collector)
	v.look = func(v *virtualCollector) { accounts.Tick(v.next) }
	downNs, upNs := v.start+3500*millisecond, v.start+4000*millisecond
	var kept []sentReport
	first, sent := uint32(0), uint64(0)
	for _, r := range reports {
		word := binary.BigEndian.Uint32(r.Payload)
		if node := binary.BigEndian.Uint32(r.Payload[4:]); node == spine {
			number := word & (1<<22 - 1)
			if r.atNs >= downNs && r.atNs < upNs {
				continue
			}
			if r.atNs >= upNs {
				if first == 0 {
					first = number
				}
				number -= first
				binary.BigEndian.PutUint32(r.Payload, word&^(1<<22-1)|number)
			}
			sent++
		}
		kept = append(kept, r)
	}
	v.play(kept)
	total := uint64(0)
	names := map[uint32]string{}
	for _, r := range records.List {
		switch r := r.(type) {
		case *truth.Report:
			total++
		case *truth.Switch:
			names[r.Node] = r.Name
		}
	}
	if total != uint64(len(reports)) || names[spine] != "spine1" || first < 1000 {
		t.Fatalf("%d of %d reports, node %d is %s, from %d on: this tests something else", len(reports), total, spine,
			names[spine], first)
	}
	if got, want := v.events(),
		"1-4 warning clock_jump: the clock of spine1 jumped ahead by 8750h0m0s ± 470µs\n5-5 info node_restart: spine1: the sequence numbers of its reports began anew\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, x := range accounts.Loss(ledger.Query{}, v.next).Exporters {
		if *x.Lost != 0 || *x.Node == spine && *x.Arrived != sent || *x.Duplicate != 0 {
			t.Errorf("node %d: %s, want %d arrived", *x.Node, lossLine(&x.LossCount), sent)
		}
	}
	for _, l := range v.Links() {
		if l.Delay != nil && l.Delay.NS != nil && l.Delay.NS.Max > uint64(time.Second) {
			t.Errorf("%s-%s: the year is a delay: %s", l.FromName, l.ToName, asJSON(t, l.Delay))
		}
	}
}
