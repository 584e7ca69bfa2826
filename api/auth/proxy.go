package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A Proxy has logged people in, and says in headers who asks. Only what comes from its addresses is believed: others
// that send these headers are who they would be without them.
type Proxy struct {
	From         []netip.Prefix
	UserHeader   string
	GroupsHeader string // groups, separated by commas; "": everybody has the role of AnyGroup
	Roles        Roles
}

// speaks reports whether what comes from an address is the proxy's.
func (p *Proxy) speaks(from netip.Addr) bool {
	return slices.ContainsFunc(p.From, func(prefix netip.Prefix) bool { return prefix.Contains(from) })
}

// identify returns who asks by r; ok is false if no proxy says so.
func (p *Proxy) identify(r *http.Request) (id Identity, ok bool, err error) {
	if !p.speaks(remoteOf(r)) {
		return id, false, nil
	}
	users := r.Header.Values(p.UserHeader)
	if len(users) != 1 || printable(users[0]) == "" || printable(users[0]) != users[0] {
		return id, false, nil
	}
	var groups []string
	if p.GroupsHeader != "" {
		for _, value := range r.Header.Values(p.GroupsHeader) {
			for group := range strings.SplitSeq(value, ",") {
				groups = append(groups, strings.TrimSpace(group))
			}
		}
	}
	id = Identity{Name: users[0], By: "proxy"}
	id.Role, err = p.Roles.Of(groups)
	return id, true, err
}
