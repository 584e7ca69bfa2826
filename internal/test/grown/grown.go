// Package grown has an item of a list whose fields are known to its declaration alone. Tests of filter, api, cli and
// docs look for them: a field that is added to a list is added in one place.
package grown

import (
	"net/netip"
	"time"
)

// An Item is an item of a list named grown.
type Item struct {
	Node    uint32     `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name    string     `json:"name" doc:"its name, if it has one"`
	Src     netip.Addr `json:"src" doc:"source address"`
	Last    time.Time  `json:"last" table:"LAST SEEN,end" doc:"when it was seen last"`
	Retries uint64     `json:"retries" table:"RETRIES" doc:"how often it was tried again"`
	Spent   *uint64    `json:"spent_ns" filter:",alias=again" table:"SPENT,wide" doc:"how long it was tried again"`
}

// Items are two of them: one with all fields, and one that knows the least.
func Items() []Item {
	spent := uint64(1500)
	return []Item{{Name: "a", Src: netip.MustParseAddr("10.0.0.1"), Retries: 7, Spent: &spent}, {Name: "b"}}
}
