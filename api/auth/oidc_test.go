package auth

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
)

// provider runs an OIDC provider that takes everybody, and returns what logs in there.
func provider(t *testing.T) (*mockoidc.MockOIDC, *OIDC) {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	return m, &OIDC{
		Issuer: m.Issuer(), ClientID: m.ClientID, Secret: func() (string, error) { return m.ClientSecret, nil },
		Redirect:  "https://waybill.example/login-oidc-callback",
		Scopes:    []string{"openid", "profile", "email", "groups"},
		NameClaim: "preferred_username", GroupsClaim: "groups", Roles: Roles{"noc": Operate, "admins": Admin},
		Client: &http.Client{Timeout: time.Minute},
	}
}

// atProvider is a browser that goes to the provider and comes back: it returns the request that it comes back with.
func atProvider(t *testing.T, location string, cookie *http.Cookie) *http.Request {
	t.Helper()
	browser := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := browser.Get(location)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	back := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusFound ||
		!strings.HasPrefix(back, "https://waybill.example/login-oidc-callback?") {
		t.Fatalf("got %s to %q", answer.Status, back)
	}
	r := httptest.NewRequest(http.MethodGet, back, nil)
	if cookie != nil {
		r.AddCookie(cookie)
	}
	return r
}

func changed(t *testing.T, address, parameter, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get(parameter) == "" {
		t.Fatalf("no %s in %s", parameter, address)
	}
	q.Set(parameter, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestOIDC: people get the highest role of their groups, once for each log-in that they began themselves.
func TestOIDC(t *testing.T) {
	m, o := provider(t)
	now := time.Now()
	begin := func() (string, *http.Cookie) {
		t.Helper()
		location, cookie, err := o.Begin(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || len(cookie.Value) < 43 {
			t.Errorf("the cookie is %v", cookie)
		}
		return location, cookie
	}
	g := &Guard{OIDC: o, Sessions: NewSessions()}
	m.QueueUser(&mockoidc.MockUser{
		Subject: "7", PreferredUsername: "alice", Groups: []string{"admins", "noc", "other"},
	})
	location, cookie := begin()
	r := atProvider(t, location, cookie)
	id, session, err := g.FinishLogIn(r, now)
	if err != nil || id.Name != "alice" || id.Role != Admin {
		t.Fatalf("got %+v, %v", id, err)
	}
	if !session.HttpOnly || session.SameSite != http.SameSiteStrictMode {
		t.Errorf("the session's cookie is %v", session)
	}
	asks := httptest.NewRequest(http.MethodGet, "https://waybill.example/", nil)
	asks.AddCookie(session)
	if who, err := g.Identify(asks, now); err != nil || who.Name != "alice" || who.Role != Admin || who.Expires == nil {
		t.Errorf("got %+v, %v", who, err)
	}
	if _, err := g.Identify(asks, now.Add(SessionLife)); err == nil {
		t.Error("the session does not end")
	}
	if _, err := g.Identify(httptest.NewRequest(http.MethodGet, "https://waybill.example/", nil), now); err == nil {
		t.Error("somebody without a session is let in")
	}
	if _, _, err := g.FinishLogIn(r, now); err == nil {
		t.Error("a log-in counts twice")
	}

	for want, finish := range map[string]func() error{
		"begun no log-in": func() error {
			location, _ := begin()
			_, err := o.Finish(atProvider(t, location, nil), now)
			return err
		},
		"answer is to another log-in": func() error { // the address of somebody else's log-in
			mine, _ := begin()
			_, other := begin()
			_, err := o.Finish(atProvider(t, mine, other), now)
			return err
		},
		"took too long": func() error {
			location, cookie := begin()
			_, err := o.Finish(atProvider(t, location, cookie), now.Add(logInLife))
			return err
		},
		"ID token is of another log-in": func() error {
			location, cookie := begin()
			_, err := o.Finish(atProvider(t, changed(t, location, "nonce", "other"), cookie), now)
			return err
		},
		"does not take the code": func() error { // PKCE
			location, cookie := begin()
			location = changed(t, location, "code_challenge", strings.Repeat("a", 43))
			_, err := o.Finish(atProvider(t, location, cookie), now)
			return err
		},
		"ID token is not valid": func() error { // it is over
			location, cookie := begin()
			r := atProvider(t, location, cookie)
			o.logIns[DigestOf(cookie.Value)] = func(l oneLogIn) oneLogIn {
				l.expires = now.Add(48 * time.Hour)
				return l
			}(o.logIns[DigestOf(cookie.Value)])
			_, err := o.Finish(r, now.Add(24*time.Hour))
			return err
		},
		"jane.doe: none of the groups": func() error {
			location, cookie := begin()
			_, err := o.Finish(atProvider(t, location, cookie), now)
			return err
		},
	} {
		if err := finish(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for range maxLogIns + 10 {
		begin()
	}
	if len(o.logIns) > maxLogIns {
		t.Errorf("%d log-ins are kept", len(o.logIns))
	}
}

// TestProxy: what a proxy says counts from its addresses only, and a token comes before it.
func TestProxy(t *testing.T) {
	g := &Guard{Sessions: NewSessions(), Proxy: &Proxy{
		From: []netip.Prefix{netip.MustParsePrefix("192.0.2.7/32")}, UserHeader: "X-Forwarded-User",
		GroupsHeader: "X-Forwarded-Groups", Roles: Roles{"noc": Operate, AnyGroup: Read},
	}}
	ask := func(from string, headers ...string) (Identity, error) {
		r := httptest.NewRequest(http.MethodGet, "http://waybill.example/", nil)
		r.RemoteAddr = from
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		return g.Identify(r, time.Now())
	}
	const proxy, other = "192.0.2.7:4000", "192.0.2.8:4000"
	if id, err := ask(proxy, "X-Forwarded-User", "bob", "X-Forwarded-Groups", "x, noc"); err != nil ||
		id.Name != "bob" || id.Role != Operate || id.By != "proxy" {
		t.Errorf("got %+v, %v", id, err)
	}
	if id, err := ask(proxy, "X-Forwarded-User", "bob", "X-Forwarded-Groups", "*"); err != nil || id.Role != Read {
		t.Errorf("got %+v, %v", id, err)
	}
	for _, headers := range [][]string{
		{}, {"X-Forwarded-User", ""}, {"X-Forwarded-User", "a", "X-Forwarded-User", "b"}, {"X-Forwarded-User", "a\tb"},
	} {
		if id, err := ask(proxy, headers...); err == nil {
			t.Errorf("%q: got %+v", headers, id)
		}
	}
	for _, from := range []string{other, "127.0.0.1:4000", "[::1]:4000"} {
		if id, err := ask(from, "X-Forwarded-User", "bob", "X-Forwarded-Groups", "noc"); err == nil {
			t.Errorf("from %s: got %+v", from, id)
		}
	}
	g.Proxy.Roles = Roles{"noc": Operate}
	if id, err := ask(proxy, "X-Forwarded-User", "bob"); err == nil {
		t.Errorf("without a role: got %+v", id)
	}
}
