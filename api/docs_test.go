package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

func TestDocs(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct {
		target string
		status int
		want   string // in the body
	}{
		{"/api/v1/docs", 200, `"pages":[{"page":"README","title":"Documentation"}`},
		{"/api/v1/docs/page", 200, `"title":"Documentation"`},
		{"/api/v1/docs/page?page=reference/api", 200, `"anchor":"documentation"`},
		{"/api/v1/docs/page?page=../README", 404, "has no page"},
		{"/api/v1/docs/page?page=nothing", 404, "has no page"},
		{"/api/v1/docs/search?words=acl_deny&limit=1", 200, `"page":"reference/drop-reasons"`},
		{"/api/v1/docs/search?words=zzyzx+xyzzy", 200, `"hits":[]`},
		{"/api/v1/docs/search", 400, "words is missing"},
		{"/docs/reference/api.md", 200, "# API"},
		{"/docs/images/console-dark.png", 200, "PNG"},
		{"/docs/nothing.md", 404, "has no file"},
		{"/docs/reference", 404, "has no file"},
		{"/docs/../go.mod", 404, "has no file"},
	} {
		if w := ask(h, "GET", c.target); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: got %d %.200s", c.target, w.Code, w.Body)
		}
	}
	w := ask(h, "GET", "/docs/")
	if w.Code != http.StatusFound || w.Header().Get("Location") != "../#/docs" {
		t.Errorf("got %d to %q", w.Code, w.Header().Get("Location"))
	}
	var page types.DocPage
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/docs/page?page=formats/telemetry-report-2.0").Body.Bytes(),
		&page); err != nil || !strings.Contains(page.HTML, "<table>") {
		t.Errorf("%v: %.200s", err, page.HTML)
	}
}
