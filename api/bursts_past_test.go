package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// keepBursts returns cfg with a store that has these bursts.
func keepBursts(t *testing.T, cfg Config, bursts []telemetry.Burst) Config {
	t.Helper()
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	v := &telemetry.Intervals{Bursts: bursts}
	for i := range bursts {
		b := &bursts[i]
		for _, x := range b.Culprits {
			v.BurstFlows = append(v.BurstFlows,
				telemetry.BurstFlow{
					Burst: b, Culprit: true, Flow: x.Flow, Packets: x.Packets, Bytes: x.Bytes,
					Drops: x.Drops, BuildUpBytes: x.BuildUpBytes, Share: x.Share,
				})
		}
		for _, x := range b.Victims {
			v.BurstFlows = append(v.BurstFlows,
				telemetry.BurstFlow{
					Burst: b, Flow: x.Flow, Packets: x.Packets, Bytes: x.Bytes, Drops: x.Drops,
					ExtraNs: x.ExtraNs, MaxExtraNs: x.MaxExtraNs,
				})
		}
	}
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
	cfg.History = s.Query
	return cfg
}

// TestBurstsPast: what a store has of a burst is what the log says of it, but for its packets.
func TestBurstsPast(t *testing.T) {
	cfg := queued(t)
	now, _ := cfg.Bursts.Bursts(func(*telemetry.Burst) bool { return true }, burst.ByLast, 100)
	if len(now) == 0 || len(now[0].Culprits) == 0 || len(now[0].Victims) == 0 {
		t.Fatalf("no burst to keep: %+v", now)
	}
	cfg = keepBursts(t, cfg, now)
	detail, _ := cfg.Bursts.Burst(now[0].ID)
	cfg.Bursts = nil // another process
	h := New(cfg)
	var past types.BurstList
	w := ask(h, "GET", "/api/v1/bursts?since=2000h&until=0s")
	if err := json.Unmarshal(w.Body.Bytes(), &past); err != nil || w.Code != 200 {
		t.Fatalf("%d, %s", w.Code, w.Body)
	}
	a, _ := json.Marshal(past.Bursts)
	b, _ := json.Marshal(now)
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	var one types.BurstAnswer
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/bursts/"+now[0].ID).Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	a, _ = json.Marshal(one.Burst.Burst)
	b, _ = json.Marshal(detail.Burst)
	if string(a) != string(b) || one.Burst.Timeline == nil || len(one.Burst.Timeline) != 0 ||
		one.Burst.Stack.Bytes == nil {
		t.Errorf("got  %+v\nwant %s", one.Burst, b)
	}
	if w := ask(h, "GET", "/api/v1/bursts/0000000000000000"); w.Code != 404 {
		t.Errorf("no burst: %d", w.Code)
	}
}

// allIDs are the numbers up to n.
func allIDs(n int) (ids []int) {
	for i := range n {
		ids = append(ids, i)
	}
	return ids
}

// TestBurstsPastSelection: 30 bursts a minute apart at nodes 1 to 3 in turn, the later the shorter, with as many
// culprits as their place modulo 3.
func TestBurstsPastSelection(t *testing.T) {
	var bursts []telemetry.Burst
	for i := range 30 {
		b := telemetry.Burst{
			ID: fmt.Sprintf("%016x", i), Node: uint32(1 + i%3), Start: tuesday.Add(time.Duration(i) * time.Minute),
			DurationNs: uint64(100 - i), PeakBytes: new(uint64(i * 7 % 30)), Unit: "bytes",
			PeakDepth: uint64(i * 7 % 30), Drops: 5,
			Incast: i%5 == 0, Complete: 1,
		}
		b.Peak, b.End = b.Start, b.Start.Add(time.Duration(b.DurationNs))
		for c := range i % 3 {
			b.Culprits = append(b.Culprits, telemetry.Culprit{BuildUpBytes: uint64(10 * (c + 1)), Bytes: uint64(c)})
		}
		bursts = append(bursts, b)
	}
	h := New(keepBursts(t, testConfig(newFeed().Collector), bursts))
	ids := func(query string) (list []int, next string) {
		t.Helper()
		var got types.BurstList
		w := ask(h, "GET", "/api/v1/bursts?"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d, %s", query, w.Code, w.Body)
		}
		for _, b := range got.Bursts {
			i := 0
			fmt.Sscanf(b.ID, "%x", &i)
			list = append(list, i)
			if len(b.Culprits) != i%3 || len(b.Culprits) == 2 && b.Culprits[0].BuildUpBytes != 20 || b.Victims == nil {
				t.Errorf("%d: %+v", i, b)
			}
		}
		return list, got.Next
	}
	clock := func(minute int) string { return tuesday.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339) }
	for query, want := range map[string]string{
		tuesdays + "&limit=4":                      "[29 28 27 26]",
		"since=" + clock(3) + "&until=" + clock(6): "[5 4 3]",
		tuesdays + "&order=duration&limit=3":       "[0 1 2]",
		tuesdays + "&order=peak&limit=3":           "[17 4 21]",
		tuesdays + "&node=s2&limit=3":              "[28 25 22]",
		tuesdays + "&node=0x3&incast=true":         "[20 5]",
		tuesdays + "&node=77":                      "[]",
		tuesdays + "&incast=false&limit=3&node=1":  "[27 24 21]",
		tuesdays + "&order=drops&limit=2":          "[0 1]", // all have the same: by start then
		tuesdays + "&filter=" +
			url.QueryEscape("drops = 5 and node = s2 and duration > 90ns"): "[7 4 1]",
		tuesdays + "&filter=" + url.QueryEscape("incast = true or peak_bytes = 17B") +
			"&order=sources&limit=3": "[0 5 10]",
		tuesdays + "&filter=" +
			url.QueryEscape("end > start and port = 0 and queue = 0 and open = false and complete = 100%") +
			"&order=bytes": fmt.Sprint(allIDs(30)),
		tuesdays + "&filter=" +
			url.QueryEscape("not end > start"): "[]",
		"since=" + clock(60) + "&until=" +
			clock(70): "[]",
	} {
		if got, _ := ids(query); fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	var paged []int
	for next := ""; ; {
		page, more := ids(tuesdays + "&limit=7" + next)
		paged = append(paged, page...)
		if more == "" {
			break
		}
		next = "&cursor=" + more
	}
	if len(paged) != 30 || paged[0] != 29 || paged[29] != 0 {
		t.Errorf("pages: %v", paged)
	}
	none := New(testConfig(newFeed().Collector))
	for query, status := range map[string]int{
		"since=1h": 404, "until=1h": 400, "since=x": 400,
		"since=1h&cursor=x": 400, "since=1h&order=size": 400, "cursor=x": 400,
	} {
		if w := ask(none, "GET", "/api/v1/bursts?"+query); w.Code != status {
			t.Errorf("%s: %d, %s", query, w.Code, w.Body)
		}
	}
}
