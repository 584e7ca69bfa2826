package telemetry

// A Breach is one way in which a path breaks a policy.
type Breach struct {
	Kind    EventKind // EventUnexpectedNode, EventPathNotAllowed or EventWaypointMissed
	Why     BreachWhy // of EventPathNotAllowed
	NoNode  bool      // Node is not known
	HasPort bool
	Rule    int32  // in the policy file, from 0; NoRule
	Node    uint32 // where; of EventWaypointMissed the node that should have been there
	Port    uint32 // level 1 interface, of EventUnexpectedNode
}

// NoRule says that a Breach is not of one rule.
const NoRule = -1

// A BreachWhy says what a path that is not allowed has done.
type BreachWhy uint8

// Reasons of EventPathNotAllowed.
const (
	OffPath     BreachWhy = iota // it is none of the paths
	MustAvoid                    // it has a node that it must avoid
	TooManyHops                  // it has more nodes than it may
)
