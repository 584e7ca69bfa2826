package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// listen reads messages of a stream until there are n of them, and returns kind and data of each, and the last id.
func listen(t *testing.T, server *httptest.Server, path, last string, n int) (messages [][2]string, id string) {
	t.Helper()
	client := http.Client{Timeout: 2 * time.Minute}
	request, _ := http.NewRequest("GET", server.URL+path, nil)
	request.Header.Set("Last-Event-ID", last)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %s %v", response.Status, response.Header)
	}
	kind := ""
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for len(messages) < n && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			messages = append(messages, [2]string{kind, value})
		}
	}
	if len(messages) < n {
		t.Fatalf("got %d messages, want %d: %v", len(messages), n, lines.Err())
	}
	return messages, id
}

func TestEventStream(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	_, cfg.Events = happened(t)
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	var list types.EventList
	json.Unmarshal(ask(server.Config.Handler, "GET", "/api/v1/events").Body.Bytes(), &list)
	open := map[string]bool{}
	for _, e := range list.Events {
		if e.End == nil {
			open[e.ID] = true
		}
	}
	got, id := listen(t, server, "/api/v1/events/stream", "", len(open))
	for _, m := range got {
		var e telemetry.Event
		if json.Unmarshal([]byte(m[1]), &e); m[0] != "event" || !open[e.ID] {
			t.Errorf("got %v", m)
		}
	}
	if !strings.HasSuffix(id, "-5") {
		t.Errorf("got id %s after 5 events that are over", id)
	}
	// Who was there when nothing had ended gets what did meanwhile, and what goes on.
	begun, _, _ := strings.Cut(id, "-")
	got, _ = listen(t, server, "/api/v1/events/stream", begun+"-0", len(list.Events))
	if len(got) != len(list.Events) || len(open) == len(list.Events) {
		t.Errorf("got %d of %d", len(got), len(list.Events))
	}
	got, _ = listen(t, server, "/api/v1/events/stream?kind=drop_storm", begun+"-0", 4) // as TestEvents says
	for _, m := range got {
		if !strings.Contains(m[1], `"kind":"drop_storm"`) {
			t.Errorf("got %v", m)
		}
	}
}

func TestFlowStream(t *testing.T) {
	cfg := testConfig(captured(t))
	cfg.Now = func() time.Time { return begin } // before any report came
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	got, _ := listen(t, server, "/api/v1/flows/stream?limit=4", "", 5)
	for i, m := range got[:4] {
		var f telemetry.Flow
		if err := json.Unmarshal([]byte(m[1]), &f); err != nil || m[0] != "flow" || f.ID == "" {
			t.Errorf("message %d: %v", i, m)
		}
	}
	if got[4] != [2]string{"lost", `{"flows":6}`} { // of 10, as TestFilters says
		t.Errorf("got %v", got[4])
	}
}

// A stream ends when the token of who reads it is revoked.
func TestStreamOfRevokedToken(t *testing.T) {
	token := auth.NewToken()
	file, tokens := openTokens(t, auth.Token{Name: "reader", Role: auth.Read, SHA256: auth.DigestOf(token)})
	cfg := testConfig(newFeed().Collector)
	cfg.Access = &auth.Guard{Tokens: tokens, Sessions: auth.NewSessions()}
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	request, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/events/stream", nil)
	bearing(token)(request)
	response, err := server.Client().Do(request)
	if err != nil || response.StatusCode != 200 {
		t.Fatal(err, response)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || lines.Text() != "retry: 3000" {
		t.Fatalf("got %q", lines.Text())
	}
	if err := auth.WriteTokens(file, nil); err != nil {
		t.Fatal(err)
	}
	tokens.Reload()
	for lines.Scan() { // until the server ends it, or the test takes too long
	}
	if err := lines.Err(); err != nil {
		t.Errorf("got %v, want the end", err)
	}
}

// There is an end to the number of streams, and to each of them when the server stops.
func TestStreamsAreBounded(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	stopping := make(chan struct{})
	cfg.Stopping = stopping
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	ended := make(chan struct{}, maxStreams)
	refused := func(path, what string) {
		t.Helper()
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" ||
			!strings.Contains(string(text), what) {
			t.Errorf("%s: got %s %s", path, response.Status, text)
		}
	}
	for i := range maxStreams {
		path := "/api/v1/events/stream"
		if i < maxFlowStreams {
			path = "/api/v1/flows/stream"
		}
		if i == maxFlowStreams {
			refused("/api/v1/flows/stream", "too many streams of flows (limit 64)")
		}
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer response.Body.Close()
			for s := bufio.NewScanner(response.Body); s.Scan(); {
			}
			ended <- struct{}{}
		}()
	}
	refused("/api/v1/events/stream", "too many streams (limit 128)")
	close(stopping)
	for range maxStreams {
		select {
		case <-ended:
		case <-time.After(10 * time.Minute):
			t.Fatal("a stream goes on")
		}
	}
}
