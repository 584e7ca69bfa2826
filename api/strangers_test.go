package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

// Whatever a stranger asks is answered, with a problem where it is wrong, and nothing but the files of the console and
// of the documentation is ever read.
func TestStrangers(t *testing.T) {
	h := New(testConfig(captured(t)))
	deep := strings.Repeat("(", 500)
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/docs/../../../etc/passwd", 404},
		{"GET", "/docs/%2e%2e/%2e%2e/go.mod", 404},
		{"GET", "/docs//etc/passwd", 404},
		{"GET", "/docs/reference/", 404},
		{"GET", "/../../etc/passwd", 404},
		{"GET", "/assets/../../etc/passwd", 404},
		{"GET", "/assets/", 404},
		{"GET", "/assets/%00", 404},
		{"GET", "/no.such.js", 404},
		{"GET", "//etc/passwd", 404},
		{"GET", "/api/v1/docs/page?page=../../go.mod", 404},
		{"GET", "/api/v1/nodes/../nodes", 404},
		{"GET", "/api/v1/flows/zz", 400},
		{"GET", "/api/v1/flows/zz/paths", 400},
		{"GET", "/api/v1/nodes?node=%00", 400},
		{"GET", "/api/v1/nodes?node=%F0%9F%A6%80", 400},
		{"GET", "/api/v1/nodes?limit=1;limit=2", 400},
		{"GET", "/api/v1/nodes?%zz", 400},
		{"GET", "/api/v1/nodes?filter=%FF", 400},
		{"GET", "/api/v1/nodes?filter=" + deep, 400},
		{"GET", "/api/v1/nodes?filter=" + url.QueryEscape(strings.Repeat("not ", 500)+"node = 1"), 400},
		{"GET", "/api/v1/nodes?filter=" + url.QueryEscape(`name ~ "(a+)+$"`), 200},
		{"GET", "/api/v1/nodes?filter=" + url.QueryEscape("node = 1; DROP TABLE nodes"), 400},
		{"GET", "/api/v1/nodes?filter=" + strings.Repeat("a", 66000), 414},
		{"GET", "/api/v1/nodes?limit=99999999999999999999", 400},
		{"GET", "/api/v1/nodes?cursor=" + strings.Repeat("A", 3000), 400},
		{"OPTIONS", "/api/v1/nodes", 405},
		{"TRACE", "/api/v1/nodes", 405},
		{"BREW", "/", 405},
		{"POST", "/docs/README.md", 405},
		{"POST", "/metrics", 405},
	} {
		w := ask(h, c.method, "/", func(r *http.Request) {
			path, query, _ := strings.Cut(c.target, "?")
			r.URL.Path, r.URL.RawQuery = path, query
			if unescaped, err := url.PathUnescape(path); err == nil {
				r.URL.Path = unescaped
			}
			r.RequestURI = c.target
		}, anyone)
		if w.Code != c.status {
			t.Errorf("%s %.80s: got %d %.200s, want %d", c.method, c.target, w.Code, w.Body, c.status)
		}
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); w.Code >= 400 &&
			(err != nil || p.Status != w.Code || p.Detail == "" ||
				w.Header().Get("Content-Type") != types.MediaProblem) {
			t.Errorf("%s %.80s: %.200s is no problem", c.method, c.target, w.Body)
		}
	}
}

// Parts of files are not had: they are answered whole, whatever part is asked for.
func TestRanges(t *testing.T) {
	h := New(testConfig(captured(t)))
	for _, target := range []string{"/", "/docs/README.md", "/parts/cable.js", "/api/v1/nodes"} {
		whole := ask(h, "GET", target, anyone)
		for _, part := range []string{"bytes=0-1", "bytes=99999999-", "bytes=0-1,3-4", "chickens"} {
			w := ask(h, "GET", target, anyone, func(r *http.Request) { r.Header.Set("Range", part) })
			if w.Code != 200 || w.Body.Len() != whole.Body.Len() || w.Body.Len() == 0 {
				t.Errorf("%s of %s: got %d with %d bytes of %d", part, target, w.Code, w.Body.Len(), whole.Body.Len())
			}
		}
	}
}
