package auth

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// tokenFile writes tokens into a file, and returns how they are told of again.
func tokenFile(t *testing.T, tokens ...Token) (file string, told func(error), said *[]error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens.yaml")
	if err := WriteTokens(file, tokens); err != nil {
		t.Fatal(err)
	}
	said = new([]error)
	return file, func(err error) { *said = append(*said, err) }, said
}

func request(remote, token, cookie string, names ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = remote
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: SessionCookie, Value: cookie})
	}
	for _, name := range names {
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{Subject: pkix.Name{CommonName: name}}}}}
	}
	return r
}

const (
	here  = "127.0.0.1:1234"
	there = "192.0.2.1:1234"
)

func TestIdentify(t *testing.T) {
	secret, expired, revoked := NewToken(), NewToken(), NewToken()
	now := time.Now()
	file, told, _ := tokenFile(t,
		Token{Name: "alice", Role: Operate, SHA256: DigestOf(secret)},
		Token{Name: "bob", Role: Admin, SHA256: DigestOf(expired), Expires: now.Add(-time.Minute)})
	tokens, err := OpenTokens(file, told)
	if err != nil {
		t.Fatal(err)
	}
	sessions := NewSessions()
	session, _ := sessions.Begin(&Token{SHA256: DigestOf(secret)}, now)
	orphan, _ := sessions.Begin(&Token{SHA256: DigestOf(revoked)}, now)
	stale, _ := sessions.Begin(&Token{SHA256: DigestOf(expired)}, now)
	clients := map[string]Role{"noc": Admin, "probe": Read}
	open, byToken := &Guard{Sessions: sessions}, &Guard{Tokens: tokens, Sessions: sessions}
	byCert, both := &Guard{Clients: clients, Sessions: sessions},
		&Guard{Tokens: tokens, Clients: clients, Sessions: sessions}
	any := &Guard{Clients: map[string]Role{"*": Read, "noc": Admin}}
	for what, c := range map[string]struct {
		guard *Guard
		r     *http.Request
		name  string
		role  Role
		err   error
	}{
		"open, here":                {open, request(here, "", ""), "local", Admin, nil},
		"open, here, IPv6":          {open, request("[::1]:5", "", ""), "local", Admin, nil},
		"open, mapped":              {open, request("[::ffff:127.0.0.1]:5", "", ""), "local", Admin, nil},
		"open, there":               {open, request(there, "", ""), "anonymous", Read, nil},
		"open, no address":          {open, request("@", "", ""), "anonymous", Read, nil},
		"open, there, session":      {open, request(there, "", session), "anonymous", Read, nil},
		"trusting":                  {&Guard{Trusting: true}, request(there, "", ""), "anybody", Admin, nil},
		"nothing, here":             {byToken, request(here, "", ""), "", 0, ErrMissing},
		"nothing":                   {byToken, request(there, "", ""), "", 0, ErrMissing},
		"token":                     {byToken, request(there, secret, ""), "alice", Operate, nil},
		"expired":                   {byToken, request(there, expired, ""), "", 0, ErrExpired},
		"revoked":                   {byToken, request(there, revoked, ""), "", 0, ErrUnknown},
		"the hash is no token":      {byToken, request(there, sum, ""), "", 0, ErrUnknown},
		"session":                   {byToken, request(there, "", session), "alice", Operate, nil},
		"session of revoked":        {byToken, request(there, "", orphan), "", 0, ErrMissing},
		"session of expired":        {byToken, request(there, "", stale), "", 0, ErrMissing},
		"no session":                {byToken, request(there, "", "x"), "", 0, ErrMissing},
		"bad token, session":        {byToken, request(there, revoked, session), "", 0, ErrUnknown},
		"certificate not asked for": {byToken, request(there, "", "", "noc"), "", 0, ErrMissing},
		"certificate":               {byCert, request(there, "", "", "noc"), "noc", Admin, nil},
		"other certificate":         {byCert, request(there, "", "", "who"), "", 0, ErrCertificate},
		"named * ":                  {byCert, request(there, "", "", "*"), "", 0, ErrCertificate},
		"any certificate":           {any, request(there, "", "", "who"), "who", Read, nil},
		"any but this":              {any, request(there, "", "", "noc"), "noc", Admin, nil},
		"no certificate":            {byCert, request(there, "", ""), "", 0, ErrMissing},
		"token without tokens":      {byCert, request(there, secret, ""), "", 0, ErrMissing},
		"token before certificate":  {both, request(there, secret, "", "noc"), "alice", Operate, nil},
		"bad token, certificate":    {both, request(there, revoked, "", "noc"), "", 0, ErrUnknown},
		"certificate, both":         {both, request(there, "", "", "probe"), "probe", Read, nil},
	} {
		id, err := c.guard.Identify(c.r, now)
		if !errors.Is(err, c.err) || id.Name != c.name || id.Role != c.role {
			t.Errorf("%s: got %+v, %v; want %s %v, %v", what, id, err, c.name, c.role, c.err)
		}
	}
	two := request(there, secret, "")
	two.Header.Add("Authorization", "Bearer "+secret)
	if _, err := byToken.Identify(two, now); !errors.Is(err, ErrScheme) {
		t.Errorf("two headers: got %v", err)
	}
	if sessions.Len() != 1 {
		t.Errorf("%d sessions are left, those without token should be gone", sessions.Len())
	}
}

// A file that changes is read again within a second; one that is broken or gone changes nothing.
func TestTokensAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := NewToken(), NewToken()
		file, told, said := tokenFile(t, Token{Name: "a", Role: Read, SHA256: DigestOf(first)})
		tokens, err := OpenTokens(file, told)
		if err != nil {
			t.Fatal(err)
		}
		guard := &Guard{Tokens: tokens, Sessions: NewSessions()}
		_, cookie, err := guard.LogIn(first, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		known := func(token, cookie string) bool {
			_, err := guard.Identify(request(there, token, cookie), time.Now())
			return err == nil
		}
		if !known(first, "") || !known("", cookie.Value) {
			t.Fatal("the token, or the session, is not known")
		}
		if err := os.WriteFile(file, []byte("tokens: ["), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkEvery)
		if !known(first, "") || len(*said) != 1 || (*said)[0] == nil {
			t.Errorf("a broken file: %v", *said)
		}
		time.Sleep(checkEvery)
		if !known(first, "") || len(*said) != 1 {
			t.Errorf("a broken file is read once: %v", *said)
		}
		if err := WriteTokens(file, []Token{{Name: "b", Role: Read, SHA256: DigestOf(second)}}); err != nil {
			t.Fatal(err)
		}
		if !known(first, "") {
			t.Error("the file is looked at with every request")
		}
		time.Sleep(checkEvery)
		if known(first, "") || known("", cookie.Value) || !known(second, "") || len(*said) != 2 || (*said)[1] != nil {
			t.Errorf("the token was revoked, and another made: %v", *said)
		}
		os.Remove(file)
		tokens.Reload()
		if !known(second, "") || len(*said) != 3 || !errors.Is((*said)[2], os.ErrNotExist) {
			t.Errorf("the file is gone: %v", *said)
		}
	})
}

func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions()
		id, expires := s.Begin(&Token{SHA256: DigestOf("a")}, time.Now())
		if time.Until(expires) != SessionLife || len(id) < 43 {
			t.Errorf("got %q, %v", id, expires)
		}
		short, _ := s.Begin(&Token{SHA256: DigestOf("b"), Expires: time.Now().Add(time.Hour)}, time.Now())
		is := func(id string) bool { _, _, _, ok := s.Find(id, time.Now()); return ok }
		if digest, _, _, ok := s.Find(id, time.Now()); !ok || digest != DigestOf("a") || is("") || is(id+"x") {
			t.Error("Find")
		}
		time.Sleep(time.Hour)
		if !is(id) || is(short) {
			t.Error("a session ends with its token, and not before")
		}
		time.Sleep(SessionLife - time.Hour)
		if is(id) || s.Len() != 0 {
			t.Error("a session goes on after its end")
		}
		oldest, _ := s.Begin(&Token{}, time.Now())
		for range 3 * maxSessions {
			time.Sleep(time.Millisecond)
			id, _ = s.Begin(&Token{}, time.Now())
		}
		if s.Len() != maxSessions || is(oldest) || !is(id) {
			t.Errorf("%d sessions, want %d, the latest", s.Len(), maxSessions)
		}
		s.End(id)
		if is(id) {
			t.Error("a session goes on after End")
		}
	})
}
