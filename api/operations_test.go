package api

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/waybill-int/waybill/api/auth"
)

// Each request needs the role of its operation; what is none needs one all the same.
func TestRoleOfRequests(t *testing.T) {
	needed := func(method, path string, rules auth.Rules) auth.Role {
		cfg := testConfig(newFeed().Collector)
		cfg.Roles = rules
		h := newHandler(cfg)
		return h.role(&http.Request{Method: method, URL: &url.URL{Path: path}})
	}
	for _, c := range []struct {
		path                            string
		get, head, post, delete, broken auth.Role
	}{
		{"/", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/app.js", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/healthz", auth.Nobody, auth.Nobody, auth.Operate, auth.Operate, auth.Operate},
		{"/readyz", auth.Nobody, auth.Nobody, auth.Operate, auth.Operate, auth.Operate},
		{"/healthz/", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/healthz/../api/v1/flows", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"//healthz", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/metrics", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/flows", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/admin", auth.Admin, auth.Admin, auth.Admin, auth.Admin, auth.Admin},
		{"/api/v1/admin/x", auth.Admin, auth.Admin, auth.Admin, auth.Admin, auth.Admin},
		{"/api/v1/query", auth.Operate, auth.Operate, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/decode", auth.Read, auth.Read, auth.Read, auth.Operate, auth.Operate},
		{"/api/v1/demo", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/events/1/acknowledge", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/query/", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"/api/v1/administer", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
		{"", auth.Read, auth.Read, auth.Operate, auth.Operate, auth.Operate},
	} {
		for method, want := range map[string]auth.Role{
			"GET": c.get, "HEAD": c.head, "POST": c.post, "DELETE": c.delete,
			"get": c.broken,
		} {
			if got := needed(method, c.path, auth.Rules{}); got != want {
				t.Errorf("%s %s: got %v, want %v", method, c.path, got, want)
			}
		}
	}
	open := auth.Rules{OpenMetrics: true, Query: auth.Read}
	if needed("GET", "/metrics", open) != auth.Nobody || needed("POST", "/metrics", open) != auth.Operate ||
		needed("GET", "/metrics/", open) != auth.Read ||
		needed("GET", "/api/v1/query", open) != auth.Read || needed("POST", "/api/v1/query", open) != auth.Operate {
		t.Error("open to more")
	}
}
