package dropreason

import (
	"github.com/waybill-int/waybill/telemetry"
)

// A Reason is why packets are dropped. All values of this type belong to the catalogue: compare pointers, change
// nothing.
type Reason struct {
	Number   uint16 // stable; the hundreds are the group's
	ID       string // snake_case, stable: for JSON, filters, counters
	Name     string // for people
	Group    Group
	Severity telemetry.Severity
	Meaning  string // what happened to the packet, in one sentence
	Action   string // what an operator does about it
}

// Unknown is the reason of a device that gave none.
var Unknown = &general[0]

// Unmapped is the reason of a number or a name that the source's table does not have.
var Unmapped = &general[1]

// catalogue has the reasons of each group, in the order of their numbers.
var catalogue = [numGroups][]Reason{
	General: general, L2: layer2, L3: layer3, ACL: filters, Buffer: buffers,
	Tunnel: tunnels, Policy: policies, Hardware: hardware, Host: hosts, UserPlane: userPlane,
}

// byID finds a reason by its ID.
var byID = func() map[string]*Reason {
	m := map[string]*Reason{}
	for g := range catalogue {
		for i := range catalogue[g] {
			r := &catalogue[g][i]
			r.Group = Group(g)
			r.Number = uint16(100*g + i + 1)
			m[r.ID] = r
		}
	}
	return m
}()

// ByID returns the reason with an ID, and whether there is one.
func ByID(id string) (*Reason, bool) {
	r, ok := byID[id]
	return r, ok
}
