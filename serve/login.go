package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/internal/conf/secure"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// oidcSettings say at which provider of OpenID Connect people log in.
type oidcSettings struct {
	Issuer      string            `yaml:"issuer" doc:"of the provider, such as https://login.example.net"`
	ClientID    string            `yaml:"client_id" doc:"what the provider knows this server by"`
	SecretFile  string            `yaml:"client_secret_file" doc:"file with the secret of the client; without it there is none"`
	URL         string            `yaml:"url" doc:"where browsers reach this server, such as https://waybill.example.net/"`
	Scopes      []string          `yaml:"scopes" doc:"what is asked for beside openid"`
	NameClaim   string            `yaml:"name_claim" doc:"claim with the name of a person; else email, else sub"`
	GroupsClaim string            `yaml:"groups_claim" doc:"claim with the groups of a person"`
	Roles       map[string]string `yaml:"roles" doc:"role of each group; the highest counts; * is everybody whom the provider knows"`
	CA          string            `yaml:"ca" doc:"file of certificates to trust instead of those of the system, PEM"`
}

// proxySettings say which proxy logs people in, and how it says who they are.
type proxySettings struct {
	From         []string          `yaml:"from" doc:"addresses and prefixes of the proxy; nobody else is believed"`
	UserHeader   string            `yaml:"user_header" doc:"header with the name of a person"`
	GroupsHeader string            `yaml:"groups_header" doc:"header with groups, separated by commas; without it * counts alone"`
	Roles        map[string]string `yaml:"roles" doc:"role of each group; the highest counts; * is everybody whom the proxy names"`
}

func defaultOIDCSettings() oidcSettings {
	return oidcSettings{
		Scopes: []string{"profile", "email", "groups"}, NameClaim: "preferred_username", GroupsClaim: "groups",
	}
}

func rolesOf(text map[string]string) (auth.Roles, error) {
	if len(text) == 0 {
		return nil, errors.New("roles: want a role for a group, such as {noc: operate}")
	}
	roles := auth.Roles{}
	for group, name := range text {
		role, err := auth.ParseRole(name)
		if err != nil {
			return nil, fmt.Errorf("roles: %s: %w", group, err)
		}
		roles[group] = role
	}
	return roles, nil
}

// isSafeURL reports whether what is sent there cannot be read on the way.
func isSafeURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		(u.Scheme == "http" || u.Scheme == "https") && secure.IsPrivate(u)
}

// open returns what logs people in; nil: nothing is configured.
func (o *oidcSettings) open() (*auth.OIDC, error) {
	if o.Issuer == "" {
		if o.ClientID != "" || o.URL != "" || len(o.Roles) > 0 {
			return nil, errors.New("oidc: issuer: want the address of the provider, such as https://login.example.net")
		}
		return nil, nil
	}
	switch {
	case !isSafeURL(o.Issuer):
		return nil, fmt.Errorf("oidc: issuer: got %q, want https://HOST", o.Issuer)
	case !isSafeURL(o.URL):
		return nil, fmt.Errorf("oidc: url: got %q, want https://HOST/, where browsers reach this server", o.URL)
	case o.ClientID == "":
		return nil, errors.New("oidc: client_id: want what the provider knows this server by")
	case o.GroupsClaim == "" || o.NameClaim == "":
		return nil, errors.New("oidc: name_claim and groups_claim are needed")
	}
	roles, err := rolesOf(o.Roles)
	if err != nil {
		return nil, fmt.Errorf("oidc: %w", err)
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if o.CA != "" {
		if transport.TLSClientConfig.RootCAs, err = secure.ReadCAs(o.CA); err != nil {
			return nil, fmt.Errorf("oidc: ca: %w", err)
		}
	}
	answer := &auth.OIDC{
		Issuer: o.Issuer, ClientID: o.ClientID, Redirect: strings.TrimSuffix(o.URL, "/") + "/login-oidc-callback",
		Scopes: o.Scopes, NameClaim: o.NameClaim, GroupsClaim: o.GroupsClaim, Roles: roles,
		Client: &http.Client{Transport: transport, Timeout: 10 * time.Second},
	}
	if o.SecretFile != "" {
		answer.Secret = func() (string, error) {
			text, err := os.ReadFile(o.SecretFile)
			return strings.TrimSpace(string(text)), err
		}
		if _, err := answer.Secret(); err != nil {
			return nil, fmt.Errorf("oidc: client_secret_file: %w", err)
		}
	}
	return answer, nil
}

// open returns what takes the word of a proxy; nil: nothing is configured.
func (p *proxySettings) open() (*auth.Proxy, error) {
	if len(p.From) == 0 && p.UserHeader == "" && p.GroupsHeader == "" && len(p.Roles) == 0 {
		return nil, nil
	}
	if len(p.From) == 0 || p.UserHeader == "" {
		return nil, errors.New("proxy_login: from and user_header are needed together: whose word counts, and for what")
	}
	var from []netip.Prefix
	for _, text := range p.From {
		prefix, err := unit.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("proxy_login: from: got %q, %w", text, err)
		}
		if prefix.Bits() == 0 {
			return nil, fmt.Errorf("proxy_login: from: %s is everybody, want the addresses of the proxy", text)
		}
		from = append(from, prefix.Prefix)
	}
	roles, err := rolesOf(p.Roles)
	if err != nil {
		return nil, fmt.Errorf("proxy_login: %w", err)
	}
	return &auth.Proxy{From: from, UserHeader: p.UserHeader, GroupsHeader: p.GroupsHeader, Roles: roles}, nil
}
