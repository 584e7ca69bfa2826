package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

var epoch = time.Date(2026, 11, 21, 9, 0, 3, 5e8, time.UTC)

// report is a random packet of one of n flows, over two or three of nodes 1 to 6. One in twenty is dropped.
func report(g *rand.Rand, n int) *telemetry.Report {
	r := &telemetry.Report{
		Version: telemetry.Version20, HasNodeID: true,
		Flags: telemetry.Tracked | telemetry.Embedded | telemetry.HasFlow, Bytes: 64 + g.Uint32N(1400),
		Flow: telemetry.FlowKey{
			Src:     telemetry.AddrFrom4([4]byte{10, 0, 0, byte(g.IntN(9))}),
			Dst:     telemetry.AddrFrom4([4]byte{10, 0, 1, byte(g.IntN(9))}),
			SrcPort: uint16(g.IntN(n)), DstPort: 80, Protocol: 6,
		},
	}
	for _, node := range []uint32{1 + g.Uint32N(2), 3 + g.Uint32N(3), 6}[:2+g.IntN(2)] {
		r.Hops = append(r.Hops, telemetry.Hop{
			Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency |
				telemetry.HasQueue,
			NodeID: node, IngressPort: 1, EgressPort: 2, LatencyNs: uint64(g.ExpFloat64() * 20_000),
			QueueOccupancy: g.Uint32N(1000),
		})
	}
	if g.IntN(20) == 0 {
		r.Flags |= telemetry.Dropped
		r.Local = telemetry.Hop{
			Has: telemetry.HasNode, NodeID: r.Hops[len(r.Hops)-1].NodeID,
			DropReason: uint8(g.IntN(3)),
		}
	}
	return r
}

// A tested is a collector that gives intervals, whose tables are too small for its flows.
type tested struct {
	collector *analyze.Collector
	intervals *analyze.Intervals
	g         *rand.Rand
	now       int64
}

func newTested() *tested {
	config := analyze.DefaultConfig()
	config.MaxFlows = 60
	c := &analyze.Collector{Owners: []analyze.Owner{analyze.NewShard(config), analyze.NewShard(config)}}
	return &tested{c, analyze.NewIntervals(c, nil, epoch.UnixNano()), rand.New(rand.NewPCG(7, 7)), epoch.UnixNano()}
}

// run processes reports for so long.
func (t *tested) run(d time.Duration) {
	for until := t.now + d.Nanoseconds(); t.now < until; t.now += 1e6 + int64(t.g.IntN(1e6)) {
		r := report(t.g, 6)
		b := telemetry.Batch{}
		b.Add(r)
		t.collector.Owners[r.Flow.ShardOf(2)].(*analyze.Shard).Process(&b, t.now)
	}
}

// sums is what records say, added up by what they are about.
func sums(v *telemetry.Intervals) map[string][4]uint64 {
	all := map[string][4]uint64{}
	add := func(key string, n ...uint64) {
		sum := all[key]
		for i, n := range n {
			sum[i] += n
		}
		all[key] = sum
	}
	for _, f := range v.Flows {
		add(fmt.Sprint("flow ", f.StartNs, f.Key, f.Path), f.Reports, f.Packets, f.Bytes, f.Residence.Sum)
	}
	for _, p := range v.Paths {
		add(fmt.Sprint("path ", p.StartNs, p.Path), p.Packets, p.Residence.Count, p.Residence.Sum)
	}
	for _, h := range v.Hops {
		add(fmt.Sprint("hop ", h.StartNs, h.Place), h.Packets, h.Latency.Sum)
	}
	for _, q := range v.Queues {
		add(fmt.Sprint("queue ", q.StartNs, q.Place, q.Queue), q.Samples, q.Sum, uint64(q.Max))
	}
	for _, l := range v.Links {
		add(fmt.Sprint("link ", l.StartNs, l.From, l.To), l.Packets)
	}
	for _, d := range v.Drops {
		add(fmt.Sprint("drop ", d.StartNs, d.Place, d.Reason, d.Flow), d.Packets)
	}
	for _, h := range v.Hosts {
		add(fmt.Sprint("host ", h), h.Packets)
	}
	return all
}

func join(to, v *telemetry.Intervals) {
	to.Flows, to.Paths, to.Hops = append(to.Flows, v.Flows...), append(to.Paths, v.Paths...), append(to.Hops, v.Hops...)
	to.Queues, to.Links, to.Drops, to.Hosts = append(to.Queues, v.Queues...), append(to.Links, v.Links...),
		append(to.Drops, v.Drops...), append(to.Hosts, v.Hosts...)
}

// TestJournalIsWhatLookGives: what is read of a journal right before the end of an interval is what the look at its end
// gives, flow by flow, although flows give way to others and change their paths, and looks in between give hops.
func TestJournalIsWhatLookGives(t *testing.T) {
	x := newTested()
	j, err := Open(filepath.Join(t.TempDir(), "journal"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	seconds := &telemetry.Intervals{} // hops and queues that were given before
	intervals := 0
	for range 200 {
		x.run(time.Duration(x.g.IntN(600)) * time.Millisecond)
		so := x.intervals.SoFar(x.now)
		if err := j.Note(so); err != nil {
			t.Fatal(err)
		}
		given := &telemetry.Intervals{}
		x.intervals.Look(x.now, func(v *telemetry.Intervals) { join(given, v) })
		if len(given.Flows) == 0 {
			join(seconds, given)
			continue
		}
		intervals++
		j.writing.Wait()
		got, err := readFile(filepath.Join(j.dir, fmt.Sprint(prefix, so.StartNs)), math.MaxUint64)
		if err != nil {
			t.Fatal(err)
		}
		analyze.AddHosts(&got.Intervals, got.StartNs)
		join(given, seconds)
		// Whether packets of the last moments count to this second or the next is told apart by the looks only.
		got.Hops, got.Queues, given.Hops, given.Queues, seconds = nil, nil, nil, nil, &telemetry.Intervals{}
		if got, want := sums(&got.Intervals), sums(given); !reflect.DeepEqual(got, want) {
			for k, v := range want {
				if got[k] != v {
					t.Errorf("%s: %v, want %v", k, got[k], v)
				}
			}
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		if err := j.Remove(so.StartNs); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := files(j.dir); intervals < 5 || len(left) > 1 || err != nil {
		t.Errorf("%d intervals, %d files left, %v", intervals, len(left), err)
	}
}

// TestRecover: a store that lacks all, some or nothing of the interval that was open gets what it lacks, and nothing
// twice, also if the recovery is cut short and repeated.
func TestRecover(t *testing.T) {
	for name, written := range map[string]func(v *telemetry.Intervals) *telemetry.Intervals{
		"nothing": func(*telemetry.Intervals) *telemetry.Intervals { return &telemetry.Intervals{} },
		"seconds": func(v *telemetry.Intervals) *telemetry.Intervals {
			return &telemetry.Intervals{Hops: v.Hops, Queues: v.Queues}
		},
		"half of the flows": func(v *telemetry.Intervals) *telemetry.Intervals {
			return &telemetry.Intervals{
				Hops: v.Hops, Queues: v.Queues, Paths: v.Paths, Links: v.Links,
				Flows: v.Flows[:len(v.Flows)/2],
			}
		},
		"all": func(v *telemetry.Intervals) *telemetry.Intervals { return v },
	} {
		t.Run(name, func(t *testing.T) {
			x, dir := newTested(), t.TempDir()
			j, err := Open(filepath.Join(dir, "journal"), 0)
			if err != nil {
				t.Fatal(err)
			}
			x.run(6 * time.Second)
			so := x.intervals.SoFar(x.now)
			if err := j.Note(so); err != nil {
				t.Fatal(err)
			}
			if err := j.Note(x.intervals.SoFar(x.now)); err != nil { // nothing has changed
				t.Fatal(err)
			}
			j.Close()
			given := &telemetry.Intervals{}
			x.intervals.Finish(x.now, func(v *telemetry.Intervals) { join(given, v) })
			s, err := duckdb.Open(duckdb.DefaultConfig(filepath.Join(dir, "store")))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Write([]*telemetry.Intervals{written(given)}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(j.dir, fmt.Sprint(prefix, so.StartNs))
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // as if the process were killed before the file was removed
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := Recover(t.Context(), j.dir, math.MaxUint64, s,
					func(r *telemetry.SoFar) { analyze.AddHosts(&r.Intervals, r.StartNs) })
				if err != nil || got.Damaged != nil {
					t.Fatal(err, got.Damaged)
				}
			}
			want := map[string]uint64{}
			for _, f := range given.Flows {
				want["flows_10s"] += f.Packets
			}
			for _, p := range given.Paths {
				want["paths_10s"] += p.Packets
			}
			for _, h := range given.Hops {
				want["hops_1s"] += h.Packets
			}
			for _, l := range given.Links {
				want["links_10s"] += l.Packets
			}
			for _, d := range given.Drops {
				want["drops_10s"] += d.Packets
			}
			for _, h := range given.Hosts {
				want["hosts_10s"] += h.Packets
			}
			for table, n := range want {
				a, err := s.Select(t.Context(), "SELECT CAST(sum(packets) AS UBIGINT) FROM "+table, 1)
				if err != nil {
					t.Fatal(err)
				}
				if a.Rows[0][0] != n || n == 0 {
					t.Errorf("%s: %v packets, want %d", table, a.Rows[0][0], n)
				}
			}
			if left, err := files(j.dir); len(left) != 0 || err != nil {
				t.Errorf("%d files are left, %v", len(left), err)
			}
		})
	}
}

// TestRecoverWaiting: of packets that waited for postcards at the last note, and of a flow that took another path after
// it, the store has what took the place of what was noted.
func TestRecoverWaiting(t *testing.T) {
	x := newTested()
	j, err := Open(filepath.Join(t.TempDir(), "journal"), 0)
	if err != nil {
		t.Fatal(err)
	}
	process := func(packet uint64, nodes ...uint32) {
		b := telemetry.Batch{}
		for _, node := range nodes {
			r := report(x.g, 1)
			r.Flags, r.Hops, r.PacketID, r.NodeID = telemetry.Tracked|telemetry.HasFlow, nil, packet, node
			r.Flow.Src, r.Flow.Dst = telemetry.AddrFrom4([4]byte{10, 9}), telemetry.AddrFrom4([4]byte{10, 8})
			r.Local = telemetry.Hop{Has: telemetry.HasNode, NodeID: node}
			b.Add(r)
		}
		x.collector.Owners[0].(*analyze.Shard).Process(&b, x.now)
	}
	const packets = 200
	for i := range uint64(packets) {
		process(i, 1, 2)
	}
	so := x.intervals.SoFar(x.now)
	if err := j.Note(so); err != nil {
		t.Fatal(err)
	}
	j.Close()
	process(packets, 1, 3)
	given := &telemetry.Intervals{}
	x.intervals.Finish(x.now, func(v *telemetry.Intervals) { join(given, v) })
	s, err := duckdb.Open(duckdb.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Write([]*telemetry.Intervals{given}); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(t.Context(), j.dir, math.MaxUint64, s, func(*telemetry.SoFar) {}); err != nil {
		t.Fatal(err)
	}
	a, err := s.Select(t.Context(), "SELECT CAST(sum(reports) AS UBIGINT), CAST(sum(packets) AS UBIGINT),"+
		" CAST(count(DISTINCT path_id) AS UBIGINT) FROM flows_10s", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{uint64(2*packets + 2), uint64(packets + 1), uint64(2)}
	if len(so.Flows) != 1 || so.Flows[0].Packets != 0 || !slices.Equal(a.Rows[0], want) {
		t.Errorf("noted %+v; reports, packets and paths: got %v, want %v", so.Flows, a.Rows[0], want)
	}
}

// TestRecoverAny: wherever a process is killed, and whatever of its last intervals the store took by then, each flow
// and each table has what was noted last, or what was counted: never both, nor a part.
func TestRecoverAny(t *testing.T) {
	seed, all := test.Seed(t)
	for i := range uint64(60) {
		if !all && i%4 != seed%4 {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { recoverAny(t, rand.New(rand.NewPCG(i, 7))) })
	}
}

func recoverAny(t *testing.T, g *rand.Rand) {
	x := newTested()
	for range 2 {
		config := analyze.DefaultConfig()
		config.MaxFlows = 60
		x.collector.Owners = append(x.collector.Owners, analyze.NewShard(config))
	}
	x.intervals, x.g = analyze.NewIntervals(x.collector, nil, x.now), g
	j, err := Open(filepath.Join(t.TempDir(), "journal"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var given []*telemetry.Intervals
	flows := uint16(1 + g.IntN(9))
	for left := 1 + g.IntN(60); left > 0; left-- {
		for until := x.now + g.Int64N(600e6); x.now < until; x.now += 1e6 + g.Int64N(4e6) {
			x.report(flows)
		}
		if g.IntN(8) > 0 || left == 1 {
			if err := j.Write(x.intervals.SoFar(x.now)); err != nil {
				t.Fatal(err)
			}
		}
		if left == 1 { // nothing was noted of what comes now
			for range g.IntN(80) {
				x.report(flows)
			}
			x.now += g.Int64N(700e6)
		}
		x.intervals.Look(x.now, func(v *telemetry.Intervals) { given = append(given, v) })
	}
	s, err := duckdb.Open(duckdb.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Some of what was given is stored as a whole, and some tables of what follows.
	whole := len(given) - g.IntN(min(len(given), 12)+1)
	next := whole + g.IntN(len(given)-whole+1)
	var some telemetry.Intervals
	tables := g.IntN(7)
	for i, table := range []func(to, v *telemetry.Intervals){
		func(to, v *telemetry.Intervals) { to.Flows = append(to.Flows, v.Flows...) },
		func(to, v *telemetry.Intervals) { to.Paths = append(to.Paths, v.Paths...) },
		func(to, v *telemetry.Intervals) { to.Hops = append(to.Hops, v.Hops...) },
		func(to, v *telemetry.Intervals) { to.Queues = append(to.Queues, v.Queues...) },
		func(to, v *telemetry.Intervals) { to.Links = append(to.Links, v.Links...) },
		func(to, v *telemetry.Intervals) { to.Drops = append(to.Drops, v.Drops...) },
	} {
		for _, v := range given[whole:next] {
			if i < tables {
				table(&some, v)
			}
		}
	}
	if err := s.Write(append(slices.Clone(given[:whole]), &some)); err != nil {
		t.Fatal(err)
	}
	starts, err := files(j.dir)
	if err != nil {
		t.Fatal(err)
	}
	noted := map[string][4]uint64{}
	for _, start := range starts {
		r, err := readFile(filepath.Join(j.dir, fmt.Sprint(prefix, start)), math.MaxUint64)
		if err != nil {
			t.Fatal(err)
		}
		analyze.AddHosts(&r.Intervals, r.StartNs)
		maps.Copy(noted, totals(&r.Intervals))
	}
	j.Close()
	counted := &telemetry.Intervals{}
	for _, v := range given {
		join(counted, v)
	}
	x.intervals.Finish(x.now, func(v *telemetry.Intervals) { join(counted, v) })
	if _, err := Recover(t.Context(), j.dir, math.MaxUint64, s,
		func(r *telemetry.SoFar) { analyze.AddHosts(&r.Intervals, r.StartNs) }); err != nil {
		t.Fatal(err)
	}
	want, got := totals(counted), stored(t, s)
	for key, n := range got {
		if n != want[key] && n != noted[key] {
			t.Errorf("%s: stored %v, counted %v, noted %v", key, n, want[key], noted[key])
		}
	}
	for key, n := range noted {
		if _, ok := got[key]; !ok {
			t.Errorf("%s: noted %v, and not stored", key, n)
		}
	}
}

// report processes a report of one of so many flows: of a whole path, or of one of the two nodes on it that tell of
// each packet.
func (t *tested) report(flows uint16) {
	r := report(t.g, int(flows))
	if r.Flow.SrcPort%2 == 1 {
		r.NodeID = r.Hops[t.g.IntN(2)].NodeID
		r.Flags, r.PacketID, r.Hops = telemetry.Tracked|telemetry.HasFlow, t.g.Uint64N(500), nil
		r.Local = telemetry.Hop{Has: telemetry.HasNode, NodeID: r.NodeID}
	}
	b := telemetry.Batch{}
	b.Add(r)
	t.collector.Owners[r.Flow.ShardOf(len(t.collector.Owners))].(*analyze.Shard).Process(&b, t.now)
}

// totals are what records say of each flow and each table in an interval.
func totals(v *telemetry.Intervals) map[string][4]uint64 {
	all := map[string][4]uint64{}
	add := func(key string, startNs int64, n ...uint64) {
		key = fmt.Sprint(key, " ", startNs)
		sum := all[key]
		for i, n := range n {
			sum[i] += n
		}
		all[key] = sum
	}
	for _, f := range v.Flows {
		add(fmt.Sprint("flow ", f.Key.Hash()), f.StartNs, f.Reports, f.Packets)
	}
	for _, p := range v.Paths {
		add("paths_10s", p.StartNs, p.Packets)
	}
	for _, h := range v.Hops {
		add("hops_1s", h.StartNs, h.Packets)
	}
	for _, l := range v.Links {
		add("links_10s", l.StartNs, l.Packets)
	}
	for _, d := range v.Drops {
		add("drops_10s", d.StartNs, d.Packets)
	}
	for _, h := range v.Hosts {
		add("hosts_10s", h.StartNs, h.Packets)
	}
	return all
}

// stored are the totals of a store.
func stored(t *testing.T, s store.Backend) map[string][4]uint64 {
	all := map[string][4]uint64{}
	for _, table := range []string{"flows_10s", "paths_10s", "hops_1s", "links_10s", "drops_10s", "hosts_10s"} {
		what, reports := "'"+table+"'", "0"
		if table == "flows_10s" {
			what, reports = "'flow ' || flow", "sum(reports)"
		}
		a, err := s.Select(t.Context(), fmt.Sprintf("SELECT %s AS what, start, CAST(%s AS UBIGINT), "+
			"CAST(sum(packets) AS UBIGINT) FROM %s GROUP BY what, start", what, reports, table), math.MaxInt32)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range a.Rows {
			key := fmt.Sprint(row[0], " ", row[1].(time.Time).UnixNano())
			sums := [4]uint64{row[2].(uint64), row[3].(uint64)}
			if table != "flows_10s" {
				sums = [4]uint64{sums[1]}
			}
			all[key] = sums
		}
	}
	return all
}

// broken is a store that does not answer.
type broken struct{ store.Backend }

func (broken) Select(context.Context, string, int) (*store.Answer, error) {
	return nil, errors.New("the file is damaged")
}

// What a store does not take stays for the next time, and is no reason not to begin.
func TestRecoverBroken(t *testing.T) {
	x := newTested()
	x.run(time.Second)
	j, err := Open(filepath.Join(t.TempDir(), "journal"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Note(x.intervals.SoFar(x.now)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	before, _ := files(j.dir)
	got, err := Recover(t.Context(), j.dir, math.MaxUint64, broken{}, func(*telemetry.SoFar) {})
	after, _ := files(j.dir)
	if err != nil || got.Left == nil || !strings.Contains(got.Left.Error(), "the file is damaged") ||
		len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("got %+v, %v, %d files before, %d after", got, err, len(before), len(after))
	}
}

// TestLate: what the disk did not take is written when it does, also of an interval that is over, but not of one that
// the store has.
func TestLate(t *testing.T) {
	x := newTested()
	dir := filepath.Join(t.TempDir(), "journal")
	j, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	want := map[int64]*telemetry.Intervals{}
	note := func() (*telemetry.SoFar, error) {
		x.run(time.Second)
		so := x.intervals.Note(x.now, func(v *telemetry.Intervals) {
			if len(v.Flows) == 0 {
				return
			}
			start := v.Flows[0].StartNs
			if want[start] == nil {
				want[start] = &telemetry.Intervals{}
			}
			want[start].Flows = append(want[start].Flows, v.Flows...)
		})
		return so, j.Write(so)
	}
	first, err := note()
	if err != nil {
		t.Fatal(err)
	}
	away := dir + ".away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	var last *telemetry.SoFar
	for len(want) < 3 { // the file that is open is written to, wherever it is; the next ones cannot be made
		if last, err = note(); err == nil && last.StartNs != first.StartNs {
			t.Fatalf("there is no directory, and the journal of %d was written", last.StartNs)
		}
	}
	if len(j.late) == 0 {
		t.Error("no file waits for the disk")
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	starts := slices.Sorted(maps.Keys(want))
	if err := j.Remove(starts[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := note(); err != nil {
		t.Fatal(err)
	}
	if len(j.late) > 0 {
		t.Errorf("%d files still wait", len(j.late))
	}
	got, err := files(dir)
	if err != nil || slices.Contains(got, starts[1]) {
		t.Errorf("got the intervals %d, without %d, %v", got, starts[1], err)
	}
	for _, start := range []int64{starts[0], starts[2]} {
		r, err := readFile(filepath.Join(dir, fmt.Sprint(prefix, start)), math.MaxUint64)
		if err != nil {
			t.Fatal(err)
		}
		got, want := sums(&telemetry.Intervals{Flows: r.Flows}), sums(want[start])
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%s: got %v, want %v", k, got[k], v)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d flows, want %d", len(got), len(want))
		}
	}
}

// TestDamaged: of a journal that a power cut has torn, or that a disk has changed, what is whole is read.
func TestDamaged(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	content := journalOf(t, 5)
	whole, _, err := read(bytes.NewReader(content), math.MaxUint64)
	if err != nil || len(whole.Flows) == 0 {
		t.Fatal(err)
	}
	last := uint64(0)
	for cut := 0; cut <= len(content); cut += 97 {
		r, _, err := read(bytes.NewReader(content[:cut]), math.MaxUint64)
		switch {
		case cut < len(head):
			if err == nil {
				t.Fatalf("cut to %d bytes: no error", cut)
			}
		case err != nil:
			t.Fatalf("cut to %d bytes: %v", cut, err)
		default:
			n := uint64(0)
			for _, f := range r.Flows {
				n += f.Packets
			}
			if n < last {
				t.Fatalf("cut to %d bytes: %d packets, %d with less", cut, n, last)
			}
			last = n
		}
	}
	changed := bytes.Clone(content)
	changed[len(changed)/2]++
	if _, _, err := read(bytes.NewReader(changed), math.MaxUint64); err == nil {
		t.Error("a byte was changed, and nothing is said")
	}
	newer := bytes.Clone(content)
	newer[len(head)-2]++
	if _, _, err := read(bytes.NewReader(newer), math.MaxUint64); err != errNewer {
		t.Errorf("a newer version: %v", err)
	}
}

// journalOf is a journal with some notes.
func journalOf(t testing.TB, notes int) []byte {
	x := newTested()
	j, err := Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var start int64
	for range notes {
		x.run(300 * time.Millisecond)
		r := x.intervals.SoFar(x.now)
		start = r.StartNs
		if err := j.Note(r); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	content, err := os.ReadFile(filepath.Join(j.dir, fmt.Sprint(prefix, start)))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestFullDisk: what cannot be written is said, the file takes no more, and the next interval begins anew.
func TestFullDisk(t *testing.T) {
	x := newTested()
	j, err := Open(filepath.Join(t.TempDir(), "journal"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	note := func() error {
		err := j.Note(x.intervals.SoFar(x.now))
		j.writing.Wait()
		return err
	}
	if err := os.RemoveAll(j.dir); err != nil {
		t.Fatal(err)
	}
	_ = note()
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := note(); err == nil {
		t.Error("nothing was said")
	}
	x.run(8 * time.Second)
	x.intervals.Look(x.now, func(*telemetry.Intervals) {})
	_ = note()
	if err := note(); err != nil {
		t.Errorf("the next interval: %v", err)
	}
	if got, _ := files(j.dir); len(got) != 2 { // that of the first interval was written when it could be
		t.Errorf("%d files", len(got))
	}
}

// FuzzRead: no journal makes the reader panic or take memory without end.
func FuzzRead(f *testing.F) {
	f.Add(journalOf(f, 2))
	f.Add([]byte(head))
	f.Fuzz(func(t *testing.T, content []byte) {
		if r, _, err := read(bytes.NewReader(content), math.MaxUint64); r == nil && err == nil {
			t.Error("nothing")
		}
	})
}

// With less free on the disk than is to stay so, nothing is written.
func TestMinFree(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	r := &telemetry.SoFar{}
	r.StartNs = 1
	if err := j.Note(r); err != nil {
		t.Fatal(err)
	}
	if err := j.Note(r); !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v", err)
	}
	j.Close()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("got %v, %v", files, err)
	}
}

// What is read up to a number is what was noted until then, and what was noted later is gone for those who read again.
func TestUntil(t *testing.T) {
	x := newTested()
	j, err := Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var path string
	var contents [][]byte // after each note
	for number := range uint64(5) {
		x.run(time.Second)
		so := x.intervals.Note(x.now, func(*telemetry.Intervals) {})
		so.Number = number + 1
		if err := j.Write(so); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(j.dir, fmt.Sprint(prefix, so.StartNs))
		content, err := os.ReadFile(path)
		if err != nil || number > 0 && len(content) <= len(contents[number-1]) {
			t.Fatalf("note %d is not on disk: %v", number+1, err)
		}
		contents = append(contents, content)
	}
	for until := uint64(5); until > 0; until-- {
		want, _, err := read(bytes.NewReader(contents[until-1]), math.MaxUint64)
		if err != nil || len(want.Flows) == 0 || want.Number != 0 {
			t.Fatal(err)
		}
		got, err := readFile(path, until)
		if err != nil || !maps.Equal(sums(&got.Intervals), sums(&want.Intervals)) {
			t.Fatalf("until %d: %v", until, err)
		}
		if content, _ := os.ReadFile(path); !bytes.Equal(content, contents[until-1]) {
			t.Errorf("until %d: %d bytes are left, want %d", until, len(content), len(contents[until-1]))
		}
	}
}
