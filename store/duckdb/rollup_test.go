package duckdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// roll lets the store roll up all that is over at now.
func roll(t testing.TB, s *Store, now time.Time) {
	t.Helper()
	if err := s.Maintain(context.Background(), now); err != nil {
		t.Fatal(err)
	}
}

// TestQueryIsTheSameAtEveryResolution: sums and maxima over a range are those that Go computes from the records,
// whatever tables are looked at, before and after they are rolled up, with ends that cut minutes and hours.
func TestQueryIsTheSameAtEveryResolution(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, nil)
	g := rand.New(rand.NewPCG(3, 4))
	all := flowRecords(g, epoch, 600, 7) // 100 minutes
	check := func(t *testing.T, resolution time.Duration) {
		coarsest := time.Duration(0)
		for range 20 {
			from := epoch.Add(time.Duration(g.IntN(300)) * 10 * time.Second)
			to := from.Add(time.Duration(1+g.IntN(900)) * 10 * time.Second)
			a := ask(t, s,
				store.Query{
					Table: store.Flows, From: from, To: to, Group: []string{"dst_lo"},
					Values: []string{"packets", "bytes", "residence_max", "residence_mean"},
				})
			coarsest = max(coarsest, a.Resolution)
			want := map[uint64][4]uint64{}
			counts := map[uint64]uint64{}
			for i := range all.Flows {
				r := &all.Flows[i]
				if at := time.Unix(0, r.StartNs); at.Before(from) || !at.Before(to) {
					continue
				}
				w := want[r.Key.Dst.Lo]
				want[r.Key.Dst.Lo] = [4]uint64{
					w[0] + r.Packets, w[1] + r.Bytes, max(w[2], r.Residence.Max),
					w[3] + r.Residence.Sum,
				}
				counts[r.Key.Dst.Lo] += r.Residence.Count
			}
			if len(a.Rows) != len(want) {
				t.Fatalf("%v to %v: %d rows, want %d", from, to, len(a.Rows), len(want))
			}
			for _, row := range a.Rows {
				key := row[0].(uint64)
				w := want[key]
				if got := fmt.Sprint(row[1:]...); got != fmt.Sprint(w[0], w[1], w[2], w[3]/counts[key]) {
					t.Fatalf("%v to %v: got %s, want %v", from, to, got, w)
				}
			}
		}
		if coarsest != resolution {
			t.Errorf("the coarsest table that was looked at is one of %v, want %v", coarsest, resolution)
		}
	}
	write(t, s, all)
	t.Run("10s", func(t *testing.T) { check(t, 10*time.Second) })
	roll(t, s, epoch.Add(40*time.Minute))
	t.Run("1m", func(t *testing.T) { check(t, time.Minute) })
	roll(t, s, epoch.Add(3*time.Hour))
	t.Run("1h", func(t *testing.T) { check(t, time.Hour) })
	if got := sqlOf(t, s,
		"SELECT (SELECT sum(packets) FROM flows_10s) = (SELECT sum(packets) FROM flows_1m), (SELECT sum(packets) FROM flows_1m) = (SELECT sum(packets) FROM flows_1h)"); fmt.Sprint(got) != "[[true true]]" {
		t.Errorf("the sums of the tables differ: %v", got)
	}
	// Once more changes nothing, also after the store was opened again.
	before := sqlOf(t, s, "SELECT count(*) FROM flows_1m UNION ALL SELECT count(*) FROM flows_1h")
	dir := s.config
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	roll(t, again, epoch.Add(3*time.Hour))
	if after := sqlOf(t, again,
		"SELECT count(*) FROM flows_1m UNION ALL SELECT count(*) FROM flows_1h"); !reflect.DeepEqual(before, after) {
		t.Errorf("got %v, want %v", after, before)
	}
}

// TestHistogramsMergeExactly: histograms of different scales, merged in SQL and by rollups, are those merged in Go.
func TestHistogramsMergeExactly(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(5, 6))
	v := &telemetry.Intervals{}
	want := map[uint32]*telemetry.Histogram{1: {}, 2: {}}
	for i := range 300 {
		for node := range uint32(2) {
			h := telemetry.Histogram{
				Count: 1 + g.Uint64N(5), Sum: g.Uint64N(1e6), Min: g.Uint64N(100),
				Max: 100 + g.Uint64N(1e6), Scale: int8(g.IntN(9) - 1), Start: int16(g.IntN(300)),
			}
			for range 1 + g.IntN(20) {
				h.Counts = append(h.Counts, g.Uint64N(3))
			}
			h.Counts[0], h.Counts[len(h.Counts)-1] = 1, 1
			if i%10 == 9 {
				h = telemetry.Histogram{}
			}
			want[node+1].Merge(&h)
			place := telemetry.Place{Has: telemetry.HasNode, Node: node + 1}
			v.Hops = append(v.Hops,
				telemetry.HopInterval{
					StartNs: epoch.Add(time.Duration(i) * time.Second).UnixNano(), Place: place,
					Packets: h.Count, Latency: h,
				})
		}
	}
	write(t, s, v)
	for _, rolled := range []bool{false, true} {
		if rolled {
			roll(t, s, epoch.Add(2*time.Hour))
		}
		a := ask(t, s, store.Query{
			Table: store.Hops, From: epoch.Truncate(time.Hour), To: epoch.Add(time.Hour),
			Group: []string{"node"}, Values: []string{"latency"},
		})
		if len(a.Rows) != 2 || rolled != (a.Resolution == time.Hour) {
			t.Fatalf("got %v of %v", a.Rows, a.Resolution)
		}
		for _, row := range a.Rows {
			if got := row[1].(*telemetry.Histogram); !reflect.DeepEqual(got, want[row[0].(uint32)]) {
				t.Errorf("rolled up: %v, node %v\ngot  %+v\nwant %+v", rolled, row[0], got, want[row[0].(uint32)])
			}
		}
	}
}

// TestQuerySteps: a query with a step has a row for each piece, and a step that no table has is refused.
func TestQuerySteps(t *testing.T) {
	s := open(t, nil)
	write(t, s, flowRecords(rand.New(rand.NewPCG(3, 4)), epoch, 12, 2))
	a := ask(t, s, store.Query{
		Table: store.Flows, From: epoch, To: epoch.Add(time.Hour), Step: 30 * time.Second,
		Group: []string{"id"}, Values: []string{"packets"},
	})
	if len(a.Rows) != 8 || a.Rows[2][0] != epoch.Add(30*time.Second) {
		t.Errorf("got %v", a.Rows)
	}
	for want, q := range map[string]store.Query{
		"store: step is 15s, want a multiple of 10s":            {Step: 15 * time.Second},
		`store: the table flows has no column "1; DROP"`:        {Group: []string{"1; DROP"}},
		`store: order is "packets", which is not in the answer`: {Order: "packets"},
	} {
		if _, err := s.Query(t.Context(), &q); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
