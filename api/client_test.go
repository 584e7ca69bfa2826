package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
)

// What the client returns encodes to what the server sent: the two types of each list are one.
func TestClientLists(t *testing.T) {
	cfg := testConfig(captured(t))
	cfg.Collector.Timing = timingOf(t)
	_, cfg.Events = happened(t)
	h := New(cfg)
	mux := http.NewServeMux()
	mux.Handle("/below/", http.StripPrefix("/below", h))
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(server.URL + "/below/")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, get := range map[string]func() (any, error){
		"nodes":  func() (any, error) { return client.Get[client.NodeList](ctx, c, "nodes", client.Query{Node: "s1"}) },
		"links":  func() (any, error) { return client.Get[client.LinkList](ctx, c, "links", client.Query{}) },
		"hops":   func() (any, error) { return client.Get[client.HopList](ctx, c, "hops", client.Query{}) },
		"clocks": func() (any, error) { return client.Get[client.ClockList](ctx, c, "clocks", client.Query{}) },
		"flows": func() (any, error) {
			return client.Get[client.FlowList](ctx, c, "flows",
				client.Query{
					Limit: 4, Order: "packets", Src: "10.0.1.1", Dst: "10.0.0.0/8", Port: "6001",
					Protocol: "udp",
				})
		},
		"paths": func() (any, error) { return client.Get[client.PathList](ctx, c, "paths", client.Query{}) },
		"drops": func() (any, error) {
			return client.Get[client.DropList](ctx, c, "drops", client.Query{Reason: "80"})
		},
		"events": func() (any, error) {
			return client.Get[client.EventList](ctx, c, "events",
				client.Query{Kind: "drop_storm,report_loss", Severity: "warning", Open: true, Filter: "count > 1"})
		},
		"exporters": func() (any, error) {
			return client.Get[client.ExporterList](ctx, c, "exporters", client.Query{Source: "192.0.2.66"})
		},
		"listeners": func() (any, error) {
			return client.Get[client.ListenerList](ctx, c, "listeners", client.Query{})
		},
		"loss": func() (any, error) {
			return client.Get[client.LossList](ctx, c, "loss", client.Query{Intervals: true})
		},
	} {
		got, err := get()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		target := map[string]string{
			"nodes": "?node=s1", "flows": "?limit=4&order=packets&src=10.0.1.1&dst=10.0.0.0/8&port=6001&protocol=udp",
			"drops":     "?reason=80",
			"events":    "?kind=drop_storm,report_loss&severity=warning&open=true&filter=count+%3E+1",
			"exporters": "?source=192.0.2.66", "loss": "?intervals=true",
		}[name]
		text, _ := json.Marshal(got)
		if a, b := normal(t, text), normal(t, ask(h, "GET", "/api/v1/"+name+target).Body.Bytes()); a != b {
			t.Errorf("%s:\ngot  %s\nwant %s", name, a, b)
		}
	}
}

// normal returns JSON with ordered keys and without spaces.
func normal(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestClientErrors(t *testing.T) {
	waybill := httptest.NewServer(New(testConfig(newFeed().Collector)))
	defer waybill.Close()
	answers := func(status int, kind, body string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s
	}
	for name, x := range map[string]struct {
		url    string
		status int // of the problem, 0: none
		want   string
	}{
		"bad value": {waybill.URL, 400, `limit is "-1"; allowed: 1 to 10000`},
		"no prefix": {waybill.URL + "/elsewhere", 404, "there is no"},
		"proxy":     {answers(502, "text/html", "<h1>Bad Gateway").URL, 502, `answered "502 Bad Gateway"`},
		"other": {
			answers(200, "text/html; charset=utf-8", "<h1>Hello").URL, 0,
			`is not a Waybill server: it answered with "text/html" instead of application/json`,
		},
		"cut":         {answers(200, "application/json", `{"nodes":[`).URL, 0, "is incomplete"},
		"other shape": {answers(200, "application/json", `{"nodes":7}`).URL, 0, "cannot be read"},
	} {
		c, err := client.New(x.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Get[client.NodeList](t.Context(), c, "nodes", client.Query{Limit: -1})
		var p *types.Problem
		if err == nil || !strings.Contains(err.Error(), x.want) && x.status != 404 {
			t.Errorf("%s: got %v, want %s", name, err, x.want)
		}
		if errors.As(err, &p) != (x.status != 0) || p != nil && p.Status != x.status {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

func TestClientCannotReach(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, _ := client.New(server.URL)
	_, err := client.Get[client.FlowList](t.Context(), c, "flows", client.Query{})
	if _, ok := errors.AsType[*url.Error](err); !ok {
		t.Errorf("closed: got %T %v", err, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Get[client.FlowList](ctx, c, "flows", client.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
