package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// anEvent is an event in JSON that began at a second; end is a time or null.
func anEvent(id string, second int, end string) string {
	return fmt.Sprintf(`{"id":%q,"kind":"loop","severity":"critical","start":"2026-11-21T09:00:%02dZ","end":%s,"count":7,"text":"what %s is","evidence":[]}`,
		id, second, end, id)
}

// followServer answers each question with the next list of events, and then cancels.
func followServer(t *testing.T, cancel func(), lists ...string) *httptest.Server {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limit := r.URL.Query().Get("limit"); limit != "10000" {
			t.Errorf("limit is %s", limit)
		}
		n := int(asked.Add(1)) - 1
		if n >= len(lists) {
			cancel()
			return
		}
		if lists[n] == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"generated_at":"2026-11-21T09:01:00Z","total":0,"events":[%s]}`, lists[n])
	}))
	t.Cleanup(s.Close)
	return s
}

// Following prints the latest events, the oldest first, then each that is new and each that ended, once; an outage is no end.
func TestQueryFollow(t *testing.T) {
	a, b, c := anEvent("a", 1, "null"), anEvent("b", 2, `"2026-11-21T09:00:02.5Z"`), anEvent("c-with-a-long-name", 3, "null")
	over := anEvent("a", 1, `"2026-11-21T09:00:05Z"`)
	for output, want := range map[string]string{
		"table": "STARTED    LASTED  SEVERITY  KIND  COUNT  WHAT\n" +
			"09:00:01  goes on  critical  loop      7  what a is\n" +
			"09:00:02    500ms  critical  loop      7  what b is\n" +
			"09:00:01    4.00s  critical  loop      7  what a is\n" +
			"09:00:03  goes on  critical  loop      7  what c-with-a-long-name is\n",
		"json": a + "\n" + b + "\n" + over + "\n" + c + "\n",
	} {
		t.Run(output, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := followServer(t, cancel, b+","+a+","+anEvent("z", 0, "null"), "", c+","+b+","+over)
			stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "events", "--server", s.URL, "--follow", "--limit", "2", "-o", output)
			if code != 0 || stdout != want || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "503") {
				t.Errorf("code %d, said %q, got\n%swant\n%s", code, stderr, stdout, want)
			}
		})
	}
}

func TestLasted(t *testing.T) {
	v := view{unicode: true}
	start := time.Unix(1000, 0)
	if got := v.lasted(&telemetry.Event{Start: start}); got != "goes on" {
		t.Errorf("got %s", got)
	}
	for d, want := range map[time.Duration]string{
		0: "a moment", -time.Second: "a moment", 42 * time.Microsecond: "42.0µs", 1500 * time.Millisecond: "1.50s",
		10*time.Second + 400*time.Millisecond: "10s", 75 * time.Second: "1m15s",
	} {
		end := start.Add(d)
		if got := v.lasted(&telemetry.Event{Start: start, End: &end}); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
