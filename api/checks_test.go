package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

// secrets are the tokens of a test, by role.
type secrets map[auth.Role]string

// openTokens writes a file of tokens and opens it.
func openTokens(t *testing.T, tokens ...auth.Token) (file string, opened *auth.Tokens) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens.yaml")
	if err := auth.WriteTokens(file, tokens); err != nil {
		t.Fatal(err)
	}
	opened, err := auth.OpenTokens(file, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	return file, opened
}

// guarded returns the configuration of a server that wants tokens, one for each role, and what it logs.
func guarded(t *testing.T) (Config, secrets, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	all := secrets{}
	var tokens []auth.Token
	for role := auth.Read; role <= auth.Admin; role++ {
		all[role] = auth.NewToken()
		tokens = append(tokens, auth.Token{Name: "the-" + role.String(), Role: role, SHA256: auth.DigestOf(all[role])})
	}
	_, opened := openTokens(t, tokens...)
	cfg := testConfig(newFeed().Collector)
	cfg.Access = &auth.Guard{Tokens: opened, Sessions: auth.NewSessions()}
	cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	return cfg, all, log
}

// behind puts the checks of cfg in front of a handler that takes everything, and echoes what it got.
func behind(cfg Config) http.Handler {
	return newChecks(cfg.withDefaults(),
		newHandler(cfg).role).before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
}

func bearing(token string) func(*http.Request) {
	return func(r *http.Request) {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
}

func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// form makes a request one that sends a form, as a page of this server does.
func form(body string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
}

// Who may do what: each role, method and path.
func TestRoles(t *testing.T) {
	cfg, all, _ := guarded(t)
	open := cfg
	open.Roles = auth.Rules{OpenMetrics: true, Query: auth.Read}
	for _, c := range []struct {
		cfg     Config
		method  string
		path    string
		answers string // to nobody, read, operate, admin
	}{
		{cfg, "GET", "/healthz", "200 200 200 200"},
		{cfg, "HEAD", "/readyz", "200 200 200 200"},
		{cfg, "POST", "/healthz", "401 403 200 200"},
		{cfg, "GET", "/metrics", "401 200 200 200"},
		{open, "GET", "/metrics", "200 200 200 200"},
		{open, "POST", "/metrics", "401 403 200 200"},
		{cfg, "GET", "/", "401 200 200 200"},
		{cfg, "GET", "/app.js", "401 200 200 200"},
		{cfg, "GET", "/api/v1/flows", "401 200 200 200"},
		{cfg, "HEAD", "/api/v1/flows", "401 200 200 200"},
		{cfg, "OPTIONS", "/api/v1/flows", "401 200 200 200"},
		{cfg, "GET", "/api/v1/query", "401 403 200 200"},
		{open, "GET", "/api/v1/query", "401 200 200 200"},
		{cfg, "POST", "/api/v1/silences", "401 403 200 200"},
		{cfg, "PUT", "/api/v1/silences/1", "401 403 200 200"},
		{cfg, "DELETE", "/api/v1/silences/1", "401 403 200 200"},
		{cfg, "BREW", "/api/v1/flows", "401 403 200 200"},
		{cfg, "GET", "/api/v1/admin/x", "401 403 403 200"},
		{cfg, "POST", "/api/v1/admin/x", "401 403 403 200"},
		{cfg, "GET", "/healthz/../api/v1/flows", "401 200 200 200"},
		{cfg, "GET", "/login/../api/v1/flows", "401 200 200 200"},
		{cfg, "GET", "/login.css/../app.js", "401 200 200 200"},
		{cfg, "GET", "/%2e%2e/api/v1/flows", "401 200 200 200"},
		{cfg, "GET", "/login", "200 200 200 200"},
		{cfg, "GET", "/login.css", "200 200 200 200"},
		{cfg, "GET", "/login.js", "200 200 200 200"},
		{cfg, "DELETE", "/login", "401 403 200 200"},
	} {
		h := behind(c.cfg)
		var got []string
		for role := auth.Nobody; role <= auth.Admin; role++ {
			w := ask(h, c.method, c.path, bearing(all[role]))
			got = append(got, fmt.Sprint(w.Code))
			if w.Code == 401 && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") &&
				(w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != types.MediaProblem) {
				t.Errorf("%s %s: %v", c.method, c.path, w.Header())
			}
		}
		if got := strings.Join(got, " "); got != c.answers {
			t.Errorf("%s %s: got %s, want %s", c.method, c.path, got, c.answers)
		}
	}
}

// Without tokens this machine may do everything, and others may read.
func TestRolesWithoutTokens(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	cfg.Access = &auth.Guard{Sessions: auth.NewSessions()}
	h := behind(cfg)
	for _, c := range []struct {
		remote, method, path string
		want                 int
	}{
		{"127.0.0.1:9", "GET", "/api/v1/flows", 200},
		{"127.0.0.1:9", "POST", "/api/v1/silences", 200},
		{"[::1]:9", "DELETE", "/api/v1/admin/x", 200},
		{"192.0.2.1:9", "GET", "/api/v1/flows", 200},
		{"192.0.2.1:9", "POST", "/api/v1/silences", 403},
		{"192.0.2.1:9", "GET", "/api/v1/admin/x", 403},
		{"192.0.2.1:9", "POST", "/login", 403},
	} {
		if w := ask(h, c.method, c.path, func(r *http.Request) { r.RemoteAddr = c.remote }); w.Code != c.want {
			t.Errorf("%+v: got %d", c, w.Code)
		}
	}
}

// A browser logs in with a token, asks with a cookie, and logs out.
func TestLogIn(t *testing.T) {
	cfg, all, log := guarded(t)
	h := New(cfg)
	page := ask(h, "GET", "/")
	if page.Code != 401 || !strings.Contains(page.Body.String(), `action="login"`) ||
		strings.Contains(page.Body.String(), "app.js") ||
		!strings.Contains(page.Header().Get("Content-Security-Policy"), "form-action 'self'") {
		t.Errorf("before: got %d, %s", page.Code, page.Body)
	}
	if w := ask(h, "GET", "/app.js"); w.Code != 401 || strings.Contains(w.Body.String(), "use strict") {
		t.Errorf("a script: got %d", w.Code)
	}
	wrong := ask(h, "POST", "/login", form("token="+auth.NewToken()))
	if wrong.Code != 401 || len(wrong.Result().Cookies()) != 0 ||
		!strings.Contains(wrong.Body.String(), "not known here") {
		t.Errorf("a wrong token: got %d, %v", wrong.Code, wrong.Result().Cookies())
	}
	if w := ask(h, "POST", "/login?token="+all[auth.Read], form("")); w.Code != 401 {
		t.Errorf("a token in the query: got %d", w.Code)
	}
	w := ask(h, "POST", "/login", form(url.Values{"token": {all[auth.Read]}}.Encode()),
		through("127.0.0.1:80", "localhost"))
	cookies := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "./" || len(cookies) != 1 {
		t.Fatalf("the right token: got %d, %v", w.Code, w.Header())
	}
	c := cookies[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "" || c.Domain != "" ||
		c.MaxAge != 12*60*60 ||
		strings.Contains(c.String(), all[auth.Read][3:]) {
		t.Errorf("the cookie: %v", c)
	}
	session := func(r *http.Request) { r.AddCookie(c) }
	var id auth.Identity
	w = ask(h, "GET", "/api/v1/session", session)
	if err := json.Unmarshal(w.Body.Bytes(), &id); err != nil || id.Name != "the-read" || id.Role != auth.Read ||
		id.By != "session" {
		t.Errorf("session: got %s", w.Body)
	}
	if w := ask(h, "GET", "/", session); w.Code != 200 || strings.Contains(w.Body.String(), "login") {
		t.Errorf("the console: got %d, %s", w.Code, w.Body)
	}
	if w := ask(h, "POST", "/api/v1/x", session); w.Code != 403 {
		t.Errorf("a session has more rights than its token: got %d", w.Code)
	}
	if w := ask(h, "POST", "/logout", session, with("Sec-Fetch-Site", "cross-site")); w.Code != 403 {
		t.Errorf("another site logs out: got %d", w.Code)
	}
	if w := ask(h, "POST", "/logout", session, with("Sec-Fetch-Site", "same-origin")); w.Code != 204 ||
		w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("logging out: got %d, %v", w.Code, w.Header())
	}
	if w := ask(h, "GET", "/api/v1/session", session); w.Code != 401 {
		t.Errorf("after: got %d", w.Code)
	}
	if text := log.String(); !strings.Contains(text, "who=the-read") || !strings.Contains(text, "log-in failed") ||
		strings.Contains(text, "wb_") {
		t.Errorf("log:\n%s", text)
	}
}

// Over plain HTTP between machines a Secure cookie would be dropped.
func TestCookieWithoutTLS(t *testing.T) {
	cfg, all, _ := guarded(t)
	w := ask(New(cfg), "POST", "/login", form("token="+all[auth.Read]), through("192.0.2.9:80", "noc.example"))
	if cookies := w.Result().Cookies(); w.Code != 303 || cookies[0].Secure {
		t.Errorf("got %d, %v", w.Code, cookies)
	}
}

// Pages of other sites ask and change nothing, whoever the browser is logged in as.
func TestCrossOrigin(t *testing.T) {
	cfg, all, _ := guarded(t)
	local := testConfig(newFeed().Collector)
	local.Access = &auth.Guard{}
	for what, h := range map[string]http.Handler{"tokens": behind(cfg), "this machine": behind(local)} {
		for _, c := range []struct {
			method, name, value string
			want                int
		}{
			{"POST", "", "", 200}, // not a browser
			{"POST", "Sec-Fetch-Site", "same-origin", 200},
			{"POST", "Sec-Fetch-Site", "none", 200},
			{"POST", "Sec-Fetch-Site", "same-site", 403},
			{"POST", "Sec-Fetch-Site", "cross-site", 403},
			{"DELETE", "Sec-Fetch-Site", "cross-site", 403},
			{"GET", "", "", 200},
			{"GET", "Sec-Fetch-Site", "same-origin", 200},
			{"GET", "Sec-Fetch-Site", "none", 200}, // an address that a user typed
			{"GET", "Sec-Fetch-Site", "same-site", 403},
			{"GET", "Sec-Fetch-Site", "cross-site", 403},
			{"HEAD", "Sec-Fetch-Site", "cross-site", 403},
			{"OPTIONS", "Sec-Fetch-Site", "cross-site", 403},
			{"GET", "Origin", "https://evil.example", 403}, // a browser that knows no Sec-Fetch-Site
			{"POST", "Origin", "http://localhost", 200},
			{"POST", "Origin", "http://localhost.evil.example", 403},
			{"POST", "Origin", "null", 403},
		} {
			w := ask(h, c.method, "/api/v1/x", bearing(all[auth.Operate]), through("127.0.0.1:80", "localhost"),
				func(r *http.Request) {
					r.RemoteAddr = "127.0.0.1:1"
					if c.name != "" {
						r.Header.Set(c.name, c.value)
					}
				})
			if w.Code != c.want {
				t.Errorf("%s: %s with %s %s: got %d, want %d", what, c.method, c.name, c.value, w.Code, c.want)
			}
		}
	}
}

// Pages of other sites may link to the console and the docs, and have nothing else of the server.
func TestLinksFromOtherSites(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	cfg.Access = &auth.Guard{}
	h := behind(cfg)
	for _, c := range []struct {
		method, path, mode, dest string
		want                     int
	}{
		{"GET", "/", "navigate", "document", 200},
		{"GET", "/docs/reference/store", "navigate", "document", 200},
		{"GET", "/", "navigate", "iframe", 403},
		{"GET", "/app.js", "no-cors", "script", 403},
		{"POST", "/", "navigate", "document", 403},
		{"GET", "/api/v1/query", "navigate", "document", 403},
		{"GET", "/api/v1/query", "no-cors", "image", 403},
		{"GET", "/api/v1/flows", "cors", "empty", 403},
		{"GET", "/api/v1/events/stream", "cors", "empty", 403},
		{"GET", "/api/v1/heatmap", "navigate", "document", 403},
		{"GET", "/metrics", "navigate", "document", 403},
		{"DELETE", "/api/v1/demo", "cors", "empty", 403},
	} {
		for _, site := range []string{"cross-site", "same-site"} {
			w := ask(h, c.method, c.path, func(r *http.Request) {
				r.RemoteAddr = "127.0.0.1:1"
				r.Header.Set("Sec-Fetch-Site", site)
				r.Header.Set("Sec-Fetch-Mode", c.mode)
				r.Header.Set("Sec-Fetch-Dest", c.dest)
			})
			if w.Code != c.want {
				t.Errorf("%s %s from %s as %s: got %d, want %d", c.method, c.path, site, c.dest, w.Code, c.want)
			}
		}
	}
}

// What is done is written down with who did it; what is only asked is not.
func TestAudit(t *testing.T) {
	cfg, all, log := guarded(t)
	h := New(cfg)
	ask(h, "GET", "/api/v1/flows", bearing(all[auth.Operate]))
	ask(h, "POST", "/api/v1/flows", bearing(all[auth.Read]))
	if log.Len() > 0 {
		t.Errorf("said %s", log)
	}
	ask(h, "DELETE", "/api/v1/silences/7", bearing(all[auth.Operate]),
		func(r *http.Request) { r.RemoteAddr = "10.1.2.3:4" })
	for _, want := range []string{
		"msg=audit", "who=the-operate", "role=operate", "by=token", "from=10.1.2.3",
		"method=DELETE", "path=/api/v1/silences/7", "status=404",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
}

// A client may ask so often, and others are not hindered by it.
func TestFrequency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, all, _ := guarded(t)
		h := New(cfg)
		asked := func(from string, n int) (answered int) {
			for range n {
				w := ask(h, "GET", "/healthz", func(r *http.Request) { r.RemoteAddr = from })
				switch {
				case w.Code == 200:
					answered++
				case w.Code != 429 || w.Header().Get("Retry-After") != "1" ||
					w.Header().Get("Content-Type") != types.MediaProblem:
					t.Fatalf("got %d, %v", w.Code, w.Header())
				}
			}
			return answered
		}
		if got := asked("192.0.2.1:1", requestBurst+100); got != requestBurst {
			t.Errorf("got %d answers, want %d", got, requestBurst)
		}
		if got := asked("192.0.2.2:1", 5); got != 5 {
			t.Errorf("another client got %d answers, want 5", got)
		}
		time.Sleep(time.Second)
		if got := asked("192.0.2.1:1", requestBurst); got != requestsPerSecond {
			t.Errorf("got %d answers a second later, want %d", got, requestsPerSecond)
		}
		metrics := ask(h, "GET", "/metrics", bearing(all[auth.Read]),
			func(r *http.Request) { r.RemoteAddr = "192.0.2.3:1" }).Body.String()
		if want := fmt.Sprintf("waybill_http_refused_total{reason=\"too_often\"} %d\n",
			100+requestBurst-requestsPerSecond); !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	})
}

// Failed log-ins are counted, and soon answered by 429; who has a token is not locked out by others at the same
// address.
func TestFailedLogIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, all, log := guarded(t)
		h := New(cfg)
		guess := func() *httptest.ResponseRecorder { return ask(h, "GET", "/api/v1/flows", bearing(auth.NewToken())) }
		for range failureBurst {
			if w := guess(); w.Code != 401 {
				t.Errorf("got %d, want 401", w.Code)
			}
		}
		for range 20 {
			if w := guess(); w.Code != 429 || w.Header().Get("Retry-After") != "12" {
				t.Errorf("got %d, Retry-After %s, want 429 and 12", w.Code, w.Header().Get("Retry-After"))
			}
		}
		if w := ask(h, "POST", "/login", form("token=x")); w.Code != 429 ||
			!strings.Contains(w.Body.String(), "too many") {
			t.Errorf("the form: got %d", w.Code)
		}
		if w := ask(h, "GET", "/api/v1/flows", bearing(all[auth.Read])); w.Code != 200 {
			t.Errorf("the right token: got %d", w.Code)
		}
		time.Sleep(failureEvery)
		if w := guess(); w.Code != 401 {
			t.Errorf("later: got %d, want 401", w.Code)
		}
		if n := strings.Count(log.String(), "log-in failed"); n != 1 {
			t.Errorf("said so %d times in a minute, want once", n)
		}
		metrics := ask(h, "GET", "/metrics", bearing(all[auth.Read])).Body.String()
		if !strings.Contains(metrics, "waybill_http_failed_logins_total 27\n") {
			t.Error("27 log-ins failed, the metrics say otherwise")
		}
	})
}

// Requests beyond the limit are sent away, and those that are being answered are not hindered.
func TestConcurrency(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	c := newChecks(testConfig(newFeed().Collector).withDefaults(), func(*http.Request) auth.Role { return auth.Read })
	h := c.before(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-finish
	}))
	answers := make(chan int)
	for range maxRequests {
		go func() { answers <- ask(h, "GET", "/").Code }()
		<-begun
	}
	if w := ask(h, "GET", "/"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: got %d", w.Code)
	}
	close(finish)
	for range maxRequests {
		if code := <-answers; code != 200 {
			t.Errorf("got %d", code)
		}
	}
	go func() { <-begun }()
	if w := ask(h, "GET", "/"); w.Code != 200 {
		t.Errorf("afterwards: got %d", w.Code)
	}
}

// endless is a body that says nothing of its length.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

func TestBodySize(t *testing.T) {
	cfg, all, _ := guarded(t)
	h := behind(cfg)
	post := func(target string, body io.Reader, change ...func(*http.Request)) *httptest.ResponseRecorder {
		return ask(h, "POST", target,
			append(change, bearing(all[auth.Operate]), func(r *http.Request) { r.Body = io.NopCloser(body) })...)
	}
	if w := post("/api/v1/x", strings.NewReader(strings.Repeat("x", maxBody))); w.Code != 200 ||
		w.Body.Len() != maxBody {
		t.Errorf("the largest body: got %d, %d bytes", w.Code, w.Body.Len())
	}
	if w := post("/api/v1/x", strings.NewReader(strings.Repeat("x", maxBody+1))); w.Code != 413 ||
		w.Header().Get("Content-Type") != types.MediaProblem {
		t.Errorf("a byte more: got %d", w.Code)
	}
	without := &endless{}
	if w := post("/api/v1/x", without); w.Code != 413 || without.read > 4*maxBody {
		t.Errorf("no end: got %d after %d bytes", w.Code, without.read)
	}
	without = &endless{}
	w := post("/login", without, with("Content-Type", "application/x-www-form-urlencoded"))
	if w.Code != 413 || without.read > 4*maxLogIn {
		t.Errorf("a form without end: got %d after %d bytes", w.Code, without.read)
	}
	refused := &endless{}
	if w := ask(h, "POST", "/api/v1/x", func(r *http.Request) { r.Body = io.NopCloser(refused) }); w.Code != 401 ||
		refused.read > 0 {
		t.Errorf("of a stranger: got %d after %d bytes", w.Code, refused.read)
	}
}
