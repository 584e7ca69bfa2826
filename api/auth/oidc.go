package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// LogInCookie is the name of the cookie that ties a log-in at an OIDC provider to the browser that began it.
	LogInCookie = "waybill_login"
	// logInLife is how long a person may take there.
	logInLife = 10 * time.Minute
	// maxLogIns is how many may be under way; one more ends the oldest.
	maxLogIns = 1000
	// providerTimeout is how long the provider may take to answer this server.
	providerTimeout = 10 * time.Second
	// maxIdentity is how many bytes of a name are taken.
	maxIdentity = 128
)

// ErrNoRole says that somebody is known, and may do nothing here.
var ErrNoRole = errors.New("none of the groups of this account has a role here")

// Roles are those of groups. AnyGroup stands for everybody who is known.
type Roles map[string]Role

// AnyGroup in Roles stands for everybody.
const AnyGroup = "*"

// Of returns the highest role of these groups; ErrNoRole if there is none.
func (r Roles) Of(groups []string) (Role, error) {
	role := r[AnyGroup]
	for _, g := range groups {
		if g != AnyGroup {
			role = max(role, r[g])
		}
	}
	if role == Nobody {
		return role, ErrNoRole
	}
	return role, nil
}

// OIDC logs people in at a provider of OpenID Connect, by the authorization code flow with PKCE. Its fields must not
// change once it is used.
type OIDC struct {
	Issuer, ClientID string
	Secret           func() (string, error) // of the client; nil: there is none
	Redirect         string                 // the address of the callback, as browsers see it
	Scopes           []string
	NameClaim        string
	GroupsClaim      string
	Roles            Roles
	Client           *http.Client

	mu       sync.Mutex
	provider *oidc.Provider      // nil: not asked yet
	logIns   map[Digest]oneLogIn // by the digest of the cookie
}

// A oneLogIn is what a browser has begun.
type oneLogIn struct {
	state, nonce, verifier string
	expires                time.Time
}

// Begin starts a log-in: where the browser is to go, and the cookie to give it, without Secure.
func (o *OIDC) Begin(ctx context.Context, now time.Time) (location string, cookie *http.Cookie, err error) {
	config, _, err := o.config(ctx)
	if err != nil {
		return "", nil, err
	}
	id := rand.Text() + rand.Text() // 2 x 130 bits
	l := oneLogIn{rand.Text() + rand.Text(), rand.Text() + rand.Text(), oauth2.GenerateVerifier(), now.Add(logInLife)}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logIns == nil {
		o.logIns = map[Digest]oneLogIn{}
	}
	if len(o.logIns) >= maxLogIns {
		var first Digest
		for key, other := range o.logIns {
			if at, ok := o.logIns[first]; !ok || other.expires.Before(at.expires) {
				first = key
			}
		}
		delete(o.logIns, first)
	}
	o.logIns[DigestOf(id)] = l
	return config.AuthCodeURL(l.state, oidc.Nonce(l.nonce), oauth2.S256ChallengeOption(l.verifier)), &http.Cookie{
		Name: LogInCookie, Value: id, MaxAge: int(logInLife / time.Second), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, // it has to come back with what the provider sends the browser to
	}, nil
}

// Finish takes what the provider has sent the browser back with, and returns who it is. A log-in ends with its first
// answer, whatever that is.
func (o *OIDC) Finish(r *http.Request, now time.Time) (Identity, error) {
	cookie, err := r.Cookie(LogInCookie)
	if err != nil {
		return Identity{}, errors.New("this browser has begun no log-in, or its cookie is gone; begin again")
	}
	key := DigestOf(cookie.Value)
	o.mu.Lock()
	l, ok := o.logIns[key]
	delete(o.logIns, key)
	o.mu.Unlock()
	query := r.URL.Query()
	switch {
	case !ok || !now.Before(l.expires):
		return Identity{}, errors.New("the log-in took too long, or is over already; begin again")
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(l.state)) != 1:
		return Identity{}, errors.New("the answer is to another log-in; begin again")
	case query.Get("error") != "":
		return Identity{}, fmt.Errorf("the provider refused: %s", printable(query.Get("error")))
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(r.Context(), o.Client), providerTimeout)
	defer cancel()
	config, provider, err := o.config(ctx)
	if err != nil {
		return Identity{}, err
	}
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(l.verifier))
	if err != nil {
		return Identity{}, fmt.Errorf("the provider does not take the code: %w", err)
	}
	text, _ := token.Extra("id_token").(string)
	verifier := provider.VerifierContext(ctx, &oidc.Config{ClientID: o.ClientID, Now: func() time.Time { return now }})
	idToken, err := verifier.Verify(ctx, text)
	if err != nil {
		return Identity{}, fmt.Errorf("the ID token is not valid: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(l.nonce)) != 1 {
		return Identity{}, errors.New("the ID token is of another log-in; begin again")
	}
	claims := map[string]json.RawMessage{}
	if err := idToken.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("the ID token cannot be read: %w", err)
	}
	if _, has := claims[o.GroupsClaim]; !has && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err == nil && info.Subject == idToken.Subject {
			more := map[string]json.RawMessage{}
			if info.Claims(&more) == nil {
				claims[o.GroupsClaim] = more[o.GroupsClaim]
			}
		}
	}
	id := Identity{Name: idToken.Subject, By: "session"}
	for _, claim := range []string{"email", o.NameClaim} {
		var name string
		if json.Unmarshal(claims[claim], &name) == nil && printable(name) != "" {
			id.Name = printable(name)
		}
	}
	id.Role, err = o.Roles.Of(textsOf(claims[o.GroupsClaim]))
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", id.Name, err)
	}
	return id, nil
}

// textsOf returns the texts of a list, or the one that there is instead of a list.
func textsOf(claim json.RawMessage) []string {
	var one string
	var list []string
	if json.Unmarshal(claim, &one) == nil && one != "" {
		return []string{one}
	}
	_ = json.Unmarshal(claim, &list)
	return list
}

// printable returns a text without what is not printable, and not more than maxIdentity bytes of it.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), maxIdentity)], "")
}

// config asks the provider where its endpoints are, unless it has told before.
func (o *OIDC) config(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	secret := ""
	if o.Secret != nil {
		var err error
		if secret, err = o.Secret(); err != nil {
			return nil, nil, err
		}
	}
	o.mu.Lock()
	provider := o.provider
	o.mu.Unlock()
	if provider == nil {
		ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.Client), providerTimeout)
		defer cancel()
		var err error
		if provider, err = oidc.NewProvider(ctx, o.Issuer); err != nil {
			return nil, nil, fmt.Errorf("the provider does not answer: %w", err)
		}
		o.mu.Lock()
		o.provider = provider
		o.mu.Unlock()
	}
	return &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: secret, Endpoint: provider.Endpoint(), RedirectURL: o.Redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, slices.DeleteFunc(slices.Clone(o.Scopes), func(s string) bool {
			return s == oidc.ScopeOpenID
		})...),
	}, provider, nil
}
