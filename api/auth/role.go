package auth

import (
	"cmp"
	"fmt"
	"strings"
)

// A Role says what somebody may do. Each role may do what those before it may.
type Role uint8

// Roles.
const (
	Nobody  Role = iota // only what is open to all: health and logging in
	Read                // ask
	Operate             // change what is going on: acknowledge, silence; ask in SQL
	Admin               // what is below /api/v1/admin/
)

var roleNames = [...]string{"nobody", "read", "operate", "admin"}

func (r Role) String() string { return roleNames[min(r, Admin)] }

// ParseRole reads read, operate or admin.
func ParseRole(text string) (Role, error) {
	for r := Read; r <= Admin; r++ {
		if text == roleNames[r] {
			return r, nil
		}
	}
	return Nobody, fmt.Errorf("got %q, want read, operate or admin", text)
}

// MarshalText implements encoding.TextMarshaler.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

// Rules are what a configuration says of the roles that requests need.
type Rules struct {
	OpenMetrics bool // everybody may read /metrics
	Query       Role // who may send statements in SQL; Operate if it is not said
}

// Needed returns the role that a request with this method for this path needs. Only these exact paths are open, so that
// nothing behind them can be reached by "..".
func Needed(method, path string, rules Rules) Role {
	safe := method == "GET" || method == "HEAD" || method == "OPTIONS"
	switch {
	case safe && (path == "/healthz" || path == "/readyz"), safe && path == "/metrics" && rules.OpenMetrics:
		return Nobody
	case path == "/api/v1/admin" || strings.HasPrefix(path, "/api/v1/admin/"):
		return Admin
	case safe && path == "/api/v1/query": // which takes a process and some of the machine
		return cmp.Or(rules.Query, Operate)
	case safe, method == "POST" && path == "/api/v1/decode": // which changes nothing
		return Read
	}
	return Operate
}
