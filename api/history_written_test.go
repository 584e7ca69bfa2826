package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// While records are written, also such of before, page after page has what one question for the same time range has at
// the first page.
func TestHistoryPagesWhileWriting(t *testing.T) {
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	// Of the latest interval a part is on disk, at any time: until all is written.
	at, n := tuesday, 0
	until := func() time.Time { return at.Add(-10 * time.Second) }
	// write writes what was counted in the next ten seconds: hops with more packets than those of before, and two
	// events, one of which began 15 s before that.
	write := func() {
		event := func(id string, start time.Time) telemetry.Event {
			return telemetry.Event{ID: id, Kind: telemetry.EventLoop, Start: start.UTC(), Text: id}
		}
		v := &telemetry.Intervals{
			Events: []telemetry.Event{
				event(fmt.Sprintf("%016x", n), at),
				event(fmt.Sprintf("f%015x", n), at.Add(-15*time.Second)),
			},
			Bursts: []telemetry.Burst{{ID: fmt.Sprint(n), Start: at, Peak: at, End: at}},
		}
		for port := range uint32(3) {
			place := telemetry.Place{
				Has: telemetry.HasNode | telemetry.HasEgressPort, Node: 1,
				EgressPort: uint32(n)*3 + port,
			}
			v.Hops = append(v.Hops,
				telemetry.HopInterval{StartNs: at.UnixNano(), Place: place, Packets: uint64(n)*3 + uint64(port)})
		}
		if err := s.Write([]*telemetry.Intervals{v}); err != nil {
			t.Fatal(err)
		}
		at, n = at.Add(10*time.Second), n+1
	}
	cfg := testConfig(newFeed().Collector)
	cfg.Now = func() time.Time { return at.Add(3 * time.Second) }
	cfg.History = s.Query
	cfg.Written = func(store.Table) time.Time { return until() }
	h := New(cfg)
	items := func(name, query string) (texts []string, until, next string) {
		w := ask(h, "GET", "/api/v1/"+name+"?"+query)
		var list map[string]json.RawMessage
		var found []json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
			t.Fatalf("%s?%s: got %d %s", name, query, w.Code, w.Body)
		}
		json.Unmarshal(list[name], &found)
		json.Unmarshal(list["until"], &until)
		json.Unmarshal(list["next_cursor"], &next)
		for _, item := range found {
			texts = append(texts, strings.TrimSpace(string(item)))
		}
		return texts, until, next
	}
	for _, name := range []string{"hops", "events", "bursts"} {
		for range 8 {
			write()
		}
		since := "since=" + tuesday.Format(time.RFC3339)
		want, answered, _ := items(name, since+"&limit=1000")
		if answered != until().UTC().Format(time.RFC3339) {
			t.Errorf("%s: answered until %s, want %v", name, answered, until())
		}
		whole, _, _ := items(name, since+"&limit=1000&until="+answered)
		if strings.Join(want, "\n") != strings.Join(whole, "\n") {
			t.Errorf("%s: got %d until now, and %d until %s", name, len(want), len(whole), answered)
		}
		var got []string
		for cursor := ""; ; {
			page, same, next := items(name, since+"&limit=4"+cursor)
			if same != answered {
				t.Errorf("%s: a page until %s, the first until %s", name, same, answered)
			}
			got = append(got, page...)
			if next == "" {
				break
			}
			cursor = "&cursor=" + next
			write()
		}
		// An event that is found late is on the pages that are not asked for yet, or on none.
		if name == "events" {
			known := map[string]bool{}
			for _, item := range want {
				known[item] = true
			}
			kept := got[:0]
			for _, item := range got {
				if known[item] {
					kept = append(kept, item)
				}
			}
			got = kept
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: pages have %d, one answer %d:\n%s\n\n%s", name, len(got), len(want), strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
	}
}

// Of a range in which nothing is written yet, nothing is answered, and until says so.
func TestHistoryNotWritten(t *testing.T) {
	cfg := remembered(t)
	cfg.Written = func(store.Table) time.Time { return tuesday.Add(-time.Minute) }
	var list types.FlowHistory
	w := ask(New(cfg), "GET", "/api/v1/flows?"+tuesdays)
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 || len(list.Flows) != 0 ||
		!list.Since.Equal(tuesday) || !list.Until.Equal(tuesday) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// A cursor is of one list.
func TestCursorOfAnotherList(t *testing.T) {
	h := New(remembered(t))
	var list types.FlowHistory
	json.Unmarshal(ask(h, "GET", "/api/v1/flows?limit=1&"+tuesdays).Body.Bytes(), &list)
	if list.Next == "" {
		t.Fatal("one flow of many, and no cursor")
	}
	for _, other := range []string{"paths", "hops", "events", "bursts", "nodes", "ports", "reports"} {
		w := ask(h, "GET", "/api/v1/"+other+"?"+tuesdays+"&cursor="+list.Next)
		if w.Code != 400 || !strings.Contains(w.Body.String(), "cursor is of another question, or of another list") {
			t.Errorf("%s: got %d %s", other, w.Code, w.Body)
		}
	}
	if w := ask(h, "GET", "/api/v1/flows?limit=1&"+tuesdays+"&cursor="+list.Next); w.Code != 200 {
		t.Errorf("flows: got %d %s", w.Code, w.Body)
	}
}
