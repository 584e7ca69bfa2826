package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

// Each list has the shape and, for the captures, the values of its golden file.
func TestLists(t *testing.T) {
	h := New(testConfig(captured(t)))
	for name, target := range map[string]string{
		"nodes": "nodes", "ports": "ports", "links": "links", "hops": "hops", "flows": "flows?limit=6",
		"paths": "paths", "drops": "drops", "exporters": "exporters", "listeners": "listeners",
		"topology": "topology", "hosts": "hosts",
		"loss": "loss", "loss_intervals": "loss?intervals=true",
		"flows_src":   "flows?src=10.0.1.1&dst=10.0.2.0/24&port=6002&protocol=UDP",
		"flows_drops": "flows?order=drops&limit=1",
		"paths_node":  "paths?node=gateway", "drops_reason": "drops?node=0x2&reason=80",
		"exporters_source": "exporters?source=192.0.2.0/24",
	} {
		w := ask(h, "GET", "/api/v1/"+target)
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" ||
			w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d, %v", target, w.Code, w.Header())
		}
		golden(t, name, w.Body.Bytes())
	}
}

// What no device told yet is an empty list, not null.
func TestListsOfNothing(t *testing.T) {
	h := New(Config{Collector: newFeed().Collector})
	for _, name := range []string{
		"nodes", "ports", "links", "hops", "clocks", "cables", "hosts", "flows", "paths", "drops",
		"events", "bursts", "queues", "exporters", "listeners", "loss",
	} {
		var list map[string]any
		w := ask(h, "GET", "/api/v1/"+name)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if items, ok := list[name].([]any); !ok || len(items) != 0 || list["total"] != 0.0 {
			t.Errorf("%s: got %s", name, w.Body)
		}
	}
}

// A filter leaves what it selects; total counts all of that, the limit cuts the list.
func TestFilters(t *testing.T) {
	h := New(testConfig(captured(t)))
	for target, want := range map[string]struct{ total, listed int }{
		"nodes":                        {6, 6},
		"nodes?node=s2":                {1, 1},
		"nodes?node=2":                 {1, 1},
		"nodes?limit=3":                {6, 3},
		"ports?node=s2&limit=1":        {2, 1},
		"links?node=s3":                {2, 2},
		"hosts?node=s3&limit=1":        {1, 1},
		"hosts?address=10.0.1.0/24":    {1, 1},
		"flows?limit=1":                {10, 1},
		"flows?port=6001":              {1, 1},
		"flows?port=0":                 {0, 0},
		"flows?protocol=6":             {0, 0},
		"flows?protocol=udp":           {10, 10},
		"flows?src=2001:db8::/32":      {0, 0},
		"flows?src=::ffff:10.0.1.1":    {9, 9},
		"flows?dst=10.0.0.0/8&limit=2": {10, 2},
		"flows?outer_src=0.0.0.0/0":    {0, 0}, // none is in a tunnel
		"flows?outer_port=4789":        {0, 0},
		"paths?node=1003":              {1, 1},
		"paths?path=0000000000000000":  {0, 0},
		"drops?node=1":                 {1, 1},
		"drops?reason=acl_deny":        {1, 1},
		"drops?reason=nothing":         {0, 0},
		"exporters?source=192.0.2.66":  {3, 3},
		"exporters?node=s3":            {3, 3},
		"listeners?limit=2":            {3, 2},
		"loss?node=s3":                 {3, 3},
		"loss?since=2m":                {8, 8},
		"loss?since=30s":               {0, 0},
	} {
		w := ask(h, "GET", "/api/v1/"+target)
		var list struct{ Total int }
		var items map[string]any
		json.Unmarshal(w.Body.Bytes(), &list)
		json.Unmarshal(w.Body.Bytes(), &items)
		name, _, _ := strings.Cut(target, "?")
		listed, _ := items[name].([]any)
		if list.Total != want.total || len(listed) != want.listed {
			t.Errorf("%s: got %d of %d, want %d of %d", target, len(listed), list.Total, want.listed, want.total)
		}
	}
}

// Whatever is wrong is answered with a problem that says what it is.
func TestProblems(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct {
		method, target             string
		status                     int
		parameter, detail, allowed string
	}{
		{"GET", "/api/v1/flows?limit=0", 400, "limit", `limit is "0"`, "1 to 10000"},
		{"GET", "/api/v1/flows?limit=10001", 400, "limit", `limit is "10001"`, "1 to 10000"},
		{"GET", "/api/v1/flows?limit=ten", 400, "limit", `limit is "ten"`, "1 to 10000"},
		{"GET", "/api/v1/flows?limit=", 400, "limit", `limit is ""`, "1 to 10000"},
		{"GET", "/api/v1/flows?limit=1&limit=2", 400, "limit", "limit is given 2 times", "once"},
		{
			"GET", "/api/v1/flows?order=size", 400, "order", `order is "size"`,
			"last, packets, latency, drops, first, bytes, reports, path_changes, residence_ns.mean, residence_ns.min, residence_ns.p50, residence_ns.p99, residence_ns.max, end_to_end_ns.mean; :asc or :desc may follow",
		},
		{
			"GET", "/api/v1/flows?src=10.0.0", 400, "src",
			"src: column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found 10.0.0", "filter=src = 10.0.0",
		},
		{
			"GET", "/api/v1/flows?dst=fe80::1%25eth0", 400, "dst",
			"dst: column 7: expected an address such as 10.0.0.1 or 2001:db8::1, found fe80::1%eth0",
			"filter=dst = fe80::1%eth0",
		},
		{
			"GET", "/api/v1/nodes?x=1&node=1", 400, "x", `unknown parameter "x"`,
			"at, cursor, filter, format, limit, order, since, until",
		},
		{
			"GET", "/api/v1/flows?node=nosuch", 400, "node", "node: column 8: no node has the name nosuch",
			`filter=node = "nosuch"`,
		},
		{
			"GET", "/api/v1/hops?node=gatewai", 400, "node",
			"node: column 8: no node has the name gatewai: did you mean gateway?", `filter=node = "gatewai"`,
		},
		{
			"GET", "/api/v1/nodes?at=1m&node=nosuch", 400, "node", "node: column 8: no node has the name nosuch",
			`filter=node = "nosuch"`,
		},
		{
			"GET", "/api/v1/events/stream?node=nosuch", 400, "node", "node: column 8: no node has the name nosuch",
			`filter=node = "nosuch"`,
		},
		{"GET", "/api/v1/links?node=", 400, "node", "node: column 8: no node has the name ", `filter=node = ""`},
		{
			"GET", "/api/v1/exporters?source=x/y", 400, "source",
			"source: column 11: expected an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32, found x/y",
			"filter=source in x/y",
		},
		{
			"GET", "/api/v1/listeners?node=1", 400, "node", `unknown parameter "node"`,
			"cursor, filter, format, limit, order",
		},
		{
			"GET", "/api/v1/loss?since=yesterday", 400, "since", `since is "yesterday"`,
			"a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m",
		},
		{
			"GET", "/api/v1/loss?since=3h&until=2h", 400, "until",
			"the ledger keeps intervals of an hour at most, and has none before 2026-11-21T09:01:00Z; a server with a store (`waybill serve --data DIR`) has what exporters lost before", "a time after 2026-11-21T09:01:00Z",
		},
		{"GET", "/api/v1/loss?since=1m&until=2m", 400, "until", "until is not after since", "a time after since"},
		{"GET", "/api/v1/nodes?a;b", 400, "", "the query cannot be read: invalid semicolon separator in query", ""},
		{"GET", "/api/v1/nodes?node=%zz", 400, "", `the query cannot be read: invalid URL escape "%zz"`, ""},
		{
			"GET", "/api/v1/node", 404, "",
			"there is no /api/v1/node; lists are /api/v1/ and one of alerts, attacks, bursts, cables, clocks, drops, events, exporters, flows, hops, hosts, incidents, links, listeners, loss, nodes, outputs, paths, ports, queues, reports, rules, silences, views", "",
		},
		{
			"GET", "/api/v1/nodes/", 404, "",
			"there is no /api/v1/nodes/; lists are /api/v1/ and one of alerts, attacks, bursts, cables, clocks, drops, events, exporters, flows, hops, hosts, incidents, links, listeners, loss, nodes, outputs, paths, ports, queues, reports, rules, silences, views", "",
		},
		{
			"GET", "/api", 404, "",
			"there is no /api; lists are /api/v1/ and one of alerts, attacks, bursts, cables, clocks, drops, events, exporters, flows, hops, hosts, incidents, links, listeners, loss, nodes, outputs, paths, ports, queues, reports, rules, silences, views", "",
		},
		{
			"POST", "/api/v2", 404, "",
			"there is no /api/v2; lists are /api/v1/ and one of alerts, attacks, bursts, cables, clocks, drops, events, exporters, flows, hops, hosts, incidents, links, listeners, loss, nodes, outputs, paths, ports, queues, reports, rules, silences, views", "",
		},
		{"POST", "/api/v1/nodes", 405, "", "POST is not possible, only GET, HEAD", ""},
		{"OPTIONS", "/metrics", 405, "", "OPTIONS is not possible, only GET, HEAD", ""},
		{"DELETE", "/", 405, "", "DELETE is not possible, only GET, HEAD", ""},
		{
			"GET", "/api/v1/nodes?node=" + strings.Repeat("x", 64<<10), 414, "",
			"path and query are longer than 65536 bytes", "",
		},
	} {
		w := ask(h, c.method, c.target)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Errorf("%s: %v", c.target, err)
			continue
		}
		want := types.Problem{
			Type: "about:blank", Title: http.StatusText(c.status), Status: c.status, Detail: c.detail,
			Parameter: c.parameter, Allowed: c.allowed,
		}
		if w.Code != c.status || p != want {
			t.Errorf("%s %s:\ngot  %+v\nwant %+v", c.method, c.target, p, want)
		}
		if w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %s", c.target, w.Header().Get("Content-Type"))
		}
		if allow := w.Header().Get("Allow"); (c.status == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s: Allow is %q", c.target, allow)
		}
	}
}

// The headers that keep a browser safe are on everything, and nothing allows other origins.
func TestSecurityHeaders(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, target := range []string{
		"/", "/app.js", "/missing", "/metrics", "/healthz", "/readyz", "/api/v1/nodes",
		"/api/v1/x", "/api/v1/nodes?x",
	} {
		header := ask(h, "GET", target,
			func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Access-Control-Allow-Origin":  "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
	}
}

// On loopback only the names of this machine are answered.
func TestHost(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct {
		local, host string
		status      int
	}{
		{"127.0.0.1:8080", "localhost:8080", 200},
		{"127.0.0.1:8080", "LocalHost.", 200},
		{"127.0.0.1:8080", "127.0.0.1:8080", 200},
		{"127.0.0.1:8080", "127.9.9.9", 200},
		{"127.0.0.1:8080", "[::1]:9", 200},
		{"[::1]:8080", "[::1]", 200},
		{"[::1]:8080", "noc.example:443", 200},
		{"[::1]:8080", "NOC.example", 200},
		{"[::ffff:127.0.0.1]:8080", "evil.example", 421},
		{"127.0.0.1:8080", "evil.example:8080", 421},
		{"127.0.0.1:8080", "localhost.evil.example", 421},
		{"127.0.0.1:8080", "10.0.0.1:8080", 421},
		{"127.0.0.1:8080", "", 421},
		{"10.0.0.1:8080", "evil.example", 200},
	} {
		for _, target := range []string{"/api/v1/nodes", "/", "/metrics"} {
			if w := ask(h, "GET", target, through(c.local, c.host)); w.Code != c.status {
				t.Errorf("%s through %s as %q: got %d, want %d", target, c.local, c.host, w.Code, c.status)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	cfg.Ready = func() error { return errors.New("udp://:8555 is not open") }
	h := New(cfg)
	if w := ask(h, "GET", "/healthz"); w.Code != 200 || w.Body.String() != `{"status":"ok","version":"v1.2.3"}`+"\n" {
		t.Errorf("healthz: got %d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/readyz"); w.Code != 503 ||
		!strings.Contains(w.Body.String(), "not ready: udp://:8555 is not open") {
		t.Errorf("readyz: got %d %s", w.Code, w.Body)
	}
	cfg.Ready = nil
	if w := ask(New(cfg), "HEAD", "/readyz"); w.Code != 200 {
		t.Errorf("readyz: got %d", w.Code)
	}
}

func TestConsole(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	h := New(cfg)
	for target, want := range map[string]struct {
		status int
		text   string
	}{
		"/": {200, "<title>Waybill"}, "/app.js": {200, "'use strict'"}, "/parts/cable.js": {200, "0"},
		"/parts/": {404, ""}, "/missing": {404, ""}, "/../../etc/passwd": {404, ""},
	} {
		w := ask(h, "GET", target)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/assets/index-abc.js", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatalf("a script: %v", err)
	}
	if text, err := io.ReadAll(z); err != nil || !strings.HasPrefix(string(text), "export {}") {
		t.Errorf("a script: got %q, %v", text, err)
	}
	if got := w.Header(); !strings.Contains(got.Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(got.Get("Content-Type"), "text/javascript") {
		t.Errorf("a script: got headers %v", got)
	}
	for _, target := range []string{"/", "/app.js", "/assets/missing.js"} {
		if got := ask(h, "GET", target).Header().Get("Cache-Control"); got != "no-cache" &&
			!strings.Contains(target, "missing") || strings.Contains(got, "immutable") {
			t.Errorf("%s: got Cache-Control %q", target, got)
		}
	}
	cfg.Console = nil
	if w := ask(New(cfg), "GET", "/"); w.Code != 404 ||
		!strings.Contains(w.Body.String(), "this server has no console") {
		t.Errorf("no console: got %d %s", w.Code, w.Body)
	}
}

// Over a real connection, below a path prefix, with and without compression.
func TestMounted(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/waybill/", http.StripPrefix("/waybill", New(testConfig(captured(t)))))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, target := range []string{
		"/waybill/", "/waybill/parts/cable.js", "/waybill/healthz", "/waybill/metrics",
		"/waybill/api/v1/flows",
	} {
		response, err := http.Get(server.URL + target)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 200 {
			t.Errorf("%s: got %s", target, response.Status)
		}
	}
	bodies := map[string]bool{}
	for coding, compressed := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false,
		"*": false,
	} {
		request, _ := http.NewRequest("GET", server.URL+"/waybill/api/v1/paths", nil)
		request.Header.Set("Accept-Encoding", coding)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if compressed != (response.Header.Get("Content-Encoding") == "gzip") {
			t.Errorf("%q: got %v", coding, response.Header)
		}
		if compressed {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		bodies[string(body)] = true
	}
	if len(bodies) != 1 {
		t.Errorf("%d different answers", len(bodies))
	}
	if response, err := http.Head(server.URL + "/waybill/api/v1/flows"); err != nil || response.StatusCode != 200 {
		t.Errorf("HEAD: %v %v", response, err)
	}
}
