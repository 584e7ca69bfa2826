package auth

import (
	"fmt"
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
