package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/waybill-int/waybill/api/auth"
)

// TestLogInAtProvider: a browser goes from the page to the provider, comes back with a session, and not without its
// cookie; who has no role is told so, and there is no form for tokens where there are none.
func TestLogInAtProvider(t *testing.T) {
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	cfg := testConfig(newFeed().Collector)
	cfg.Access = &auth.Guard{Sessions: auth.NewSessions(), OIDC: &auth.OIDC{
		Issuer: m.Issuer(), ClientID: m.ClientID, Secret: func() (string, error) { return m.ClientSecret, nil },
		Redirect: "https://192.0.2.1/login-oidc-callback", Scopes: []string{"profile", "groups"},
		NameClaim: "preferred_username", GroupsClaim: "groups", Roles: auth.Roles{"noc": auth.Read},
		Client: http.DefaultClient,
	}}
	h := New(cfg)
	get := func(target string, cookies ...*http.Cookie) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "https://192.0.2.1"+target, nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	logIn := func() (back string, cookie *http.Cookie) {
		begun := get("/login-oidc")
		if begun.StatusCode != http.StatusSeeOther || len(begun.Cookies()) != 1 {
			t.Fatalf("got %v", begun)
		}
		cookie = begun.Cookies()[0]
		if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %v", cookie)
		}
		answer, err := browser.Get(begun.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return strings.TrimPrefix(answer.Header.Get("Location"), "https://192.0.2.1"), cookie
	}
	m.QueueUser(&mockoidc.MockUser{Subject: "7", PreferredUsername: "alice", Groups: []string{"noc"}})
	back, cookie := logIn()
	done := get(back, cookie)
	if done.StatusCode != http.StatusOK || done.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %v", done)
	}
	session := done.Cookies()[0]
	if session.Name != auth.SessionCookie || !session.Secure || !session.HttpOnly ||
		session.SameSite != http.SameSiteStrictMode {
		t.Errorf("the session's cookie is %v", session)
	}
	if answer := get("/api/v1/session", session); answer.StatusCode != http.StatusOK {
		t.Errorf("got %v", answer)
	}
	if answer := get("/api/v1/session"); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a session: %v", answer)
	}
	if answer := get(back, cookie); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a log-in counts twice: %v", answer)
	}
	back, _ = logIn()
	if answer := get(back); answer.StatusCode != http.StatusUnauthorized || len(answer.Cookies()) != 0 {
		t.Errorf("without the cookie: %v", answer)
	}
	back, cookie = logIn() // jane.doe is in other groups
	if answer := get(back, cookie); answer.StatusCode != http.StatusForbidden {
		t.Errorf("without a role: %v", answer)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://192.0.2.1/login", nil))
	if page := w.Body.String(); !strings.Contains(page, `href="login-oidc"`) || strings.Contains(page, "<form") {
		t.Errorf("got %s", page)
	}
}
