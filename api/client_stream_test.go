package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// The client gets what the list of events has, and what is asked for of it.
func TestStreamClient(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	_, cfg.Events = happened(t)
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	open, err := client.Get[client.EventList](t.Context(), c, "events", client.Query{Filter: "end is null"})
	if err != nil || len(open.Events) == 0 {
		t.Fatal(open, err)
	}
	enough := errors.New("enough")
	opened, got := 0, []string{}
	err = c.StreamEvents(t.Context(), client.Query{Filter: "end is null"}, client.Stream[telemetry.Event]{
		Open: func() { opened++ },
		Item: func(e *telemetry.Event) error {
			if got = append(got, e.ID); len(got) == len(open.Events) {
				return enough
			}
			return nil
		},
	})
	if !errors.Is(err, enough) || opened != 1 {
		t.Errorf("got %v after opening it %d times", err, opened)
	}
	for _, e := range open.Events {
		if !slices.Contains(got, e.ID) {
			t.Errorf("no event %s", e.ID)
		}
	}
	var p *types.Problem
	err = c.StreamEvents(t.Context(), client.Query{Filter: "kindd = loop"},
		client.Stream[telemetry.Event]{Item: func(*telemetry.Event) error { return nil }})
	if !errors.As(err, &p) || p.Filter == nil || p.Filter.Suggestion != "kind" {
		t.Errorf("a wrong filter: got %v", err)
	}
	flows := newFeed()
	flows.capture(t, "onos_v10_udp", "onos-int10-ver0")
	cfg = testConfig(flows.Collector)
	cfg.Now = func() time.Time { return begin } // before any report came
	server = httptest.NewServer(New(cfg))
	defer server.Close()
	if c, err = client.New(server.URL); err != nil {
		t.Fatal(err)
	}
	total, lost := 0, uint64(0)
	ctx, cancel := context.WithCancel(t.Context())
	err = c.StreamFlows(ctx, client.Query{Limit: 2}, client.Stream[telemetry.Flow]{
		Item: func(*telemetry.Flow) error { total++; return nil },
		Lost: func(n uint64) { lost += n; cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if all, _ := client.Get[client.FlowList](t.Context(), c, "flows", client.Query{}); total != 2 ||
		int(lost) != all.Total-2 {
		t.Errorf("got %d flows and lost %d of %d", total, lost, all.Total)
	}
}

// A stream that breaks is opened again where it was, and what was lost meanwhile is counted; a server that stays away
// is asked less and less often.
func TestStreamClientReconnects(t *testing.T) {
	var asked atomic.Int32
	ids := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Get("Last-Event-ID")
		n := asked.Add(1)
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w,
			"retry: 1\n\n: nothing new\n\nid: 7-%d\nevent: event\ndata: {\"id\":\"e%d\",\"kind\":\"loop\"}\n\n", n, n)
		if n == 3 {
			fmt.Fprint(w, "id: 7-9\nevent: lost\ndata: {\"events\":5}\n\nevent: later\ndata: {}\n\n")
		}
		fmt.Fprint(w, "id: 7-10\nevent: event\ndata: {\"id\":\"cut") // the connection breaks in the middle of a message
	}))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	lost, away := uint64(0), 0
	err = c.StreamEvents(ctx, client.Query{}, client.Stream[telemetry.Event]{
		Item: func(e *telemetry.Event) error {
			if got = append(got, e.ID); len(got) == 3 {
				cancel()
			}
			return nil
		},
		Lost: func(n uint64) { lost += n },
		Away: func(error) { away++ },
	})
	if !errors.Is(err, context.Canceled) || fmt.Sprint(got) != "[e1 e3 e4]" || lost != 5 || away != 3 {
		t.Errorf("%v: got %v, lost %d, away %d times", err, got, lost, away)
	}
	close(ids)
	var sent []string
	for id := range ids {
		sent = append(sent, id)
	}
	if fmt.Sprintf("%q", sent) != `["" "7-1" "7-1" "7-9"]` {
		t.Errorf("asked for what followed %q", sent)
	}
}
