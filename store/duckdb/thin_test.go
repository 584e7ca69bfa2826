package duckdb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// hourOfBoth has flows, and hops of every second of the first minute.
func hourOfBoth(g *rand.Rand, begin time.Time) *telemetry.Intervals {
	v := flowRecords(g, begin, 30, 20)
	for second := range 60 {
		v.Hops = append(v.Hops, telemetry.HopInterval{
			StartNs: begin.Add(time.Duration(second) * time.Second).UnixNano(),
			Place:   telemetry.Place{Has: telemetry.HasNode, Node: 1}, Packets: 10,
		})
	}
	return v
}

// TestKeepOfTable: a table that is kept for less than others leaves files that are older, and what coarser tables have
// of it is still answered, after opening again too.
func TestKeepOfTable(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, func(c *Config) {
		c.Limits = map[store.Table]Limit{store.Hops: {Keep: [len(schema.Tiers)]time.Duration{2 * time.Hour}}}
	})
	g := rand.New(rand.NewPCG(1, 2))
	begin := epoch.Truncate(time.Hour)
	for hour := range 6 {
		write(t, s, hourOfBoth(g, begin.Add(time.Duration(hour)*time.Hour)))
		for range 4 { // a file at a time
			roll(t, s, begin.Add(time.Duration(hour+1)*time.Hour-time.Minute))
		}
	}
	check := func(s *Store) {
		t.Helper()
		if got := fmt.Sprint(sqlOf(t, s, "SELECT min(start), CAST(sum(packets) AS INTEGER) FROM hops_1s")); got !=
			fmt.Sprint([][]any{{begin.Add(3 * time.Hour), 1800}}) {
			t.Errorf("hops: got %s", got)
		}
		if got := fmt.Sprint(sqlOf(t, s, "SELECT min(start), count(*) FROM flows_10s")); got !=
			fmt.Sprint([][]any{{begin, 3600}}) {
			t.Errorf("flows: got %s", got)
		}
		// What only seconds can answer is answered as a whole or not at all.
		steps := store.Query{
			Table: store.Hops, From: begin, To: begin.Add(6 * time.Hour), Step: 10 * time.Second,
			Values: []string{"packets"},
		}
		var gone *store.GoneError
		if _, err := s.Query(t.Context(), &steps); !errors.As(err, &gone) || !gone.Since.Equal(begin.Add(3*time.Hour)) {
			t.Errorf("hops by 10 s since %v: got %v", begin, err)
		}
		steps.From = begin.Add(3 * time.Hour)
		if a := ask(t, s, steps); len(a.Rows) != 3*6 {
			t.Errorf("hops by 10 s: got %d pieces", len(a.Rows))
		}
		// also where seconds would be needed for the end
		for _, from := range []time.Time{begin, begin.Add(30 * time.Second)} {
			a := ask(t, s,
				store.Query{Table: store.Hops, From: from, To: begin.Add(6 * time.Hour), Values: []string{"packets"}})
			if got := fmt.Sprint(a.Rows); got != "[[3600]]" {
				t.Errorf("hops since %v: got %s", from, got)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	check(again)
}

// TestBytesOfTable: the oldest records of a table that may take little disk leave their files, which are smaller then;
// other tables stay.
func TestBytesOfTable(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, nil)
	g := rand.New(rand.NewPCG(1, 2))
	begin := epoch.Truncate(time.Hour)
	for hour := range 4 {
		v := hourOfBoth(g, begin.Add(time.Duration(hour)*time.Hour))
		v.Flows = append(v.Flows,
			flowRecords(g, begin.Add(time.Duration(hour)*time.Hour+30*time.Minute), 60, 250).Flows...)
		write(t, s, v)
	}
	for range 5 {
		roll(t, s, begin.Add(4*time.Hour+10*time.Minute))
	}
	_, before := files(t, s, "seconds-")
	s.config.Limits = map[store.Table]Limit{store.Flows: {MaxBytes: before / 2}}
	for range 5 {
		roll(t, s, begin.Add(4*time.Hour+10*time.Minute))
	}
	_, after := files(t, s, "seconds-")
	rows := sqlOf(t, s, "SELECT min(start) > make_timestamp_ns("+fmt.Sprint(begin.UnixNano())+
		"), max(start) >= make_timestamp_ns("+fmt.Sprint(begin.Add(3*time.Hour).UnixNano())+
		"), (SELECT count(*) FROM hops_1s), (SELECT count(*) FROM flows_1m) > 0 FROM flows_10s")
	if got := fmt.Sprint(rows); got != "[[true true 240 true]]" || after >= before {
		t.Errorf("got %s; %d bytes, %d before", got, after, before)
	}
}

// TestLimits: what cannot be is an error of one line.
func TestLimits(t *testing.T) {
	for want, l := range map[string]Limit{
		"store: seconds of hops are kept for 1m0s, want at least 1h0m0s, the length of a file": {
			Keep: [len(schema.Tiers)]time.Duration{time.Minute},
		},
		"store: seconds of hops are kept for 1000h0m0s, longer than 48h0m0s, as all is: keep all for so long, and other tables for less": {Keep: [len(schema.Tiers)]time.Duration{1000 * time.Hour}},
		"store: -1 bytes of hops are too little": {MaxBytes: -1},
	} {
		c := DefaultConfig(t.TempDir())
		c.Limits = map[store.Table]Limit{store.Hops: l}
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
