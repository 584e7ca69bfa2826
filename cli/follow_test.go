package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/command"
)

// anEvent is an event in JSON that began at a second; end is a time or null.
func anEvent(id string, second int, end string) string {
	return fmt.Sprintf(
		`{"id":%q,"kind":"loop","severity":"critical","start":"2026-11-21T09:00:%02dZ","end":%s,"count":7,"text":"what %s is","evidence":[]}`,
		id, second, end, id)
}

// anAlert is an alert in JSON.
func anAlert(id string, state string) string {
	return fmt.Sprintf(
		`{"id":%q,"rule":"loops","state":%q,"severity":"critical","since":"2026-11-21T09:00:00Z","fired":null,"resolved":null,"summary":"what %s is","event":%s}`,
		id, state, id, anEvent("e"+id, 1, "null"))
}

// followServer answers each question with the next list of alerts, and then cancels.
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
		fmt.Fprintf(w, `{"generated_at":"2026-11-21T09:01:00Z","total":0,"alerts":[%s]}`, lists[n])
	}))
	t.Cleanup(s.Close)
	return s
}

// Of what has no stream, following prints the latest, the oldest first, then each that is new or in another state,
// once; an outage is no end.
func TestQueryFollow(t *testing.T) {
	a, b, c, z := anAlert("a", "pending"), anAlert("b", "firing"), anAlert("c", "pending"), anAlert("z", "firing")
	fires := anAlert("a", "firing")
	ctx, cancel := context.WithCancel(t.Context())
	s := followServer(t, cancel, b+","+a+","+z, "", c+","+b+","+fires)
	stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "alerts", "--server", s.URL, "--follow", "--limit", "2", "-o",
		"csv")
	var got []string
	for _, row := range strings.Split(strings.TrimSpace(stdout), "\n") {
		cells := strings.SplitN(row, ",", 4)
		got = append(got, cells[0]+" "+cells[2])
	}
	if want := "[id state a pending b firing a firing c pending]"; code != 0 || fmt.Sprint(got) != want ||
		strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "503") {
		t.Errorf("code %d, said %q, got %v, want %s", code, stderr, got, want)
	}
}

// streamServer answers each question for the list of events, and each for their stream, with the next text. Streams
// break then; behind the last one it cancels.
func streamServer(t *testing.T, cancel func(), filter string, lists, streams []string) *httptest.Server {
	t.Helper()
	var listed, opened atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stream") {
			if query := r.URL.Query(); len(query) != 1 || query.Get("filter") != filter {
				t.Errorf("the stream is asked for %v", query)
			}
			n := int(opened.Add(1)) - 1
			if n > 0 && r.Header.Get("Last-Event-ID") != "7-1" {
				t.Errorf("the stream goes on at %q", r.Header.Get("Last-Event-ID"))
			}
			if n >= len(streams) {
				cancel()
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 1\n\n"+streams[n])
			return
		}
		if query := r.URL.Query(); query.Get("limit") != "10000" || query.Get("filter") != filter {
			t.Errorf("the list is asked for %v", query)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"generated_at":"2026-11-21T09:01:00Z","total":0,"events":[%s]}`, lists[int(listed.Add(1))-1])
	}))
	t.Cleanup(s.Close)
	return s
}

func message(kind, data string) string { return "id: 7-1\nevent: " + kind + "\ndata: " + data + "\n\n" }

// Of events, following prints the latest, the oldest first, and then what the stream tells that is new, worse or over:
// each once, also when the stream breaks and the list has it too. What is missing is counted.
func TestQueryFollowStream(t *testing.T) {
	a, b, c := anEvent("a", 1, "null"), anEvent("b", 2, `"2026-11-21T09:00:02.5Z"`),
		anEvent("c-with-a-long-name", 3, "null")
	over, worse := anEvent("a", 1, `"2026-11-21T09:00:05Z"`), strings.Replace(c, "critical", "warning", 1)
	c, worse = worse, c
	meanwhile := anEvent("d", 4, `"2026-11-21T09:00:06Z"`)
	lists := []string{b + "," + a + "," + anEvent("z", 0, "null"), meanwhile + "," + c + "," + b + "," + over}
	streams := []string{
		message("event", a) + message("event", c) + message("lost", `{"events":5}`) +
			message("event", strings.Replace(c, `"count":7`, `"count":8`, 1)) + message("event", over),
		message("event", c) + message("event", meanwhile) + message("event", worse) + message("lost", `{"events":2}`),
	}
	for output, want := range map[string]string{
		"table": "STARTED    LASTED  SEVERITY  KIND  COUNT  WHAT\n" +
			"09:00:01  ongoing  critical  loop      7  what a is\n" +
			"09:00:02    500ms  critical  loop      7  what b is\n" +
			"09:00:03  ongoing  warning   loop      7  what c-with-a-long-name is\n" +
			"09:00:01    4.00s  critical  loop      7  what a is\n" +
			"09:00:04    2.00s  critical  loop      7  what d is\n" +
			"09:00:03  ongoing  critical  loop      7  what c-with-a-long-name is\n",
		"json": a + "\n" + b + "\n" + c + "\n" + over + "\n" + meanwhile + "\n" + worse + "\n",
	} {
		t.Run(output, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := streamServer(t, cancel, "severity >= warning", lists, streams)
			stdout, stderr,
				code := runQueryIn(t, ctx, "C.UTF-8", "events", "--server", s.URL, "--follow", "--severity", "warning",
				"--limit", "2", "-o", output)
			if code != 0 || stdout != want {
				t.Errorf("code %d, said %q, got\n%swant\n%s", code, stderr, stdout, want)
			}
			said := "5 events are missing here: the server did not send them\nthe stream broke: unexpected EOF\nevents are followed again\nthe stream broke: unexpected EOF\n2 events are missing here: the server did not send them\n"
			if stderr != said {
				t.Errorf("said %q, want %q", stderr, said)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := streamServer(t, cancel, `severity >= warning and id = "a" and end is null`, lists, streams)
	if _, stderr, code := runQueryIn(t, ctx, "C", "events", "--server", s.URL, "--follow", "--severity", "warning",
		"--open", "--id", "a"); code != 0 {
		t.Errorf("with --id: code %d, said %s", code, stderr) // the server selects
	}
}

// What the server says at the start is an error; so is that there is none.
func TestQueryFollowRefused(t *testing.T) {
	s := emptyServer(t)
	for name, want := range map[string]string{
		"events": "column 1: events have no field kindd",
		"flows":  "flows have no field kindd",
	} {
		_, stderr, code := runQuery(t, name, "--server", s.URL, "--follow", "--filter", "kindd = 1")
		if code != command.ExitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, said %q", name, code, stderr)
		}
		_, stderr, code = runQuery(t, name, "--server", "http://127.0.0.1:1", "--follow")
		if code != command.ExitFailed || !strings.Contains(stderr, "waybill serve") ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s without a server: code %d, said %q", name, code, stderr)
		}
	}
}

func TestLasted(t *testing.T) {
	v := view{unicode: true}
	start := time.Unix(1000, 0)
	if got := v.lasted(start, nil); got != "ongoing" {
		t.Errorf("got %s", got)
	}
	for d, want := range map[time.Duration]string{
		0: "a moment", -time.Second: "a moment", 42 * time.Microsecond: "42.0µs", 1500 * time.Millisecond: "1.50s",
		10*time.Second + 400*time.Millisecond: "10s", 75 * time.Second: "1m15s",
	} {
		end := start.Add(d)
		if got := v.lasted(start, &end); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
