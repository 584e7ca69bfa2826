package auth

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// SessionCookie is the name of the cookie with the id of a session.
const SessionCookie = "waybill_session"

// AnyClient is the common name in Guard.Clients that stands for all that have no row of their own.
const AnyClient = "*"

// A Guard knows who asks. With neither Tokens nor Clients nobody has to say who they are: who asks from this machine
// may do everything, others may read.
type Guard struct {
	Tokens   *Tokens         // nil: there are none
	Clients  map[string]Role // by the common name of client certificates; nil: certificates are not asked for
	OIDC     *OIDC           // nil: no provider is asked
	Proxy    *Proxy          // nil: no proxy says who asks
	Sessions *Sessions

	// Trusting lets everybody do everything: the handler is guarded by something else.
	Trusting bool
}

// Required reports whether one has to say who one is.
func (g *Guard) Required() bool {
	return !g.Trusting && (g.Tokens != nil || g.Clients != nil || g.OIDC != nil || g.Proxy != nil)
}

// HasLogIn reports whether there is something to log in with at /login.
func (g *Guard) HasLogIn() bool { return g.Tokens != nil || g.OIDC != nil }

// Identify returns who sends r. A token is taken before a session, and a session before a certificate; a token that is
// not valid is an error whatever else there is.
func (g *Guard) Identify(r *http.Request, now time.Time) (Identity, error) {
	if g.Trusting {
		return Identity{Name: "anybody", Role: Admin, By: "address"}, nil
	}
	if !g.Required() {
		if remoteIsLoopback(r) {
			return Identity{Name: "local", Role: Admin, By: "address"}, nil
		}
		return Identity{Name: "anonymous", Role: Read, By: "address"}, nil
	}
	if g.Tokens != nil {
		if header := r.Header.Values("Authorization"); len(header) > 1 {
			return Identity{}, ErrScheme
		} else if len(header) == 1 {
			return g.byHeader(header[0], now)
		}
	}
	if g.HasLogIn() {
		if id, err := g.bySession(r, now); err == nil {
			return id, nil
		}
	}
	if g.Proxy != nil {
		if id, ok, err := g.Proxy.identify(r); ok {
			return id, err
		}
	}
	if g.Clients != nil && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return g.byCertificate(r.TLS.VerifiedChains[0][0])
	}
	return Identity{}, g.missing()
}

// missing returns an ErrMissing that says how to make oneself known.
func (g *Guard) missing() error {
	var ways []string
	for _, way := range []struct {
		there bool
		text  string
	}{
		{g.Tokens != nil, "a token is needed, as Authorization: Bearer wb_..."},
		{g.Clients != nil, "a client certificate is needed"},
		{g.OIDC != nil, "log in with a browser at login"},
		{g.Proxy != nil, "ask through the proxy that logs people in"},
	} {
		if way.there {
			ways = append(ways, way.text)
		}
	}
	return fmt.Errorf("%w: %s", ErrMissing, strings.Join(ways, ", or "))
}

func (g *Guard) byHeader(header string, now time.Time) (Identity, error) {
	text, err := ParseBearer(header)
	if err != nil {
		return Identity{}, err
	}
	t, err := g.Tokens.Find(DigestOf(text), now)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Name: t.Name, Role: t.Role, By: "token"}
	if !t.Expires.IsZero() {
		id.Expires = &t.Expires
	}
	return id, nil
}

// bySession looks the token up too: without it, because it was revoked, the session is over.
func (g *Guard) bySession(r *http.Request, now time.Time) (Identity, error) {
	cookie, err := r.Cookie(SessionCookie)
	if err != nil {
		return Identity{}, ErrMissing
	}
	digest, who, expires, ok := g.Sessions.Find(cookie.Value, now)
	if !ok {
		return Identity{}, ErrMissing
	}
	if who != nil {
		id := *who
		id.Expires = &expires
		return id, nil
	}
	if g.Tokens == nil {
		return Identity{}, ErrMissing
	}
	t, err := g.Tokens.Find(digest, now)
	if err != nil {
		g.Sessions.End(cookie.Value)
		return Identity{}, ErrMissing
	}
	return Identity{Name: t.Name, Role: t.Role, By: "session", Expires: &expires}, nil
}

func (g *Guard) byCertificate(c *x509.Certificate) (Identity, error) {
	name := c.Subject.CommonName
	role, ok := g.Clients[name]
	if !ok || name == AnyClient {
		role, ok = g.Clients[AnyClient]
	}
	if !ok {
		return Identity{}, ErrCertificate
	}
	return Identity{Name: name, Role: role, By: "certificate"}, nil
}

// LogIn exchanges a token for a session, and returns the cookie of it, without Secure and Path.
func (g *Guard) LogIn(token string, now time.Time) (Identity, *http.Cookie, error) {
	if g.Tokens == nil {
		return Identity{}, nil, errors.New("there are no tokens here")
	}
	text, err := ParseBearer("Bearer " + token)
	if err != nil {
		return Identity{}, nil, ErrUnknown
	}
	t, err := g.Tokens.Find(DigestOf(text), now)
	if err != nil {
		return Identity{}, nil, err
	}
	id, expires := g.Sessions.Begin(&t, now)
	return Identity{Name: t.Name, Role: t.Role, By: "session", Expires: &expires}, sessionCookie(id, expires, now), nil
}

// FinishLogIn takes what the provider has sent a browser back with, and returns the cookie of a session, without Secure
// and Path.
func (g *Guard) FinishLogIn(r *http.Request, now time.Time) (Identity, *http.Cookie, error) {
	who, err := g.OIDC.Finish(r, now)
	if err != nil {
		return who, nil, err
	}
	id, expires := g.Sessions.BeginFor(who, now)
	return who, sessionCookie(id, expires, now), nil
}

func sessionCookie(id string, expires, now time.Time) *http.Cookie {
	return &http.Cookie{
		Name: SessionCookie, Value: id, MaxAge: int((expires.Sub(now) + time.Second - 1) / time.Second), HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}
