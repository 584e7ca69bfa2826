package analyze

import "github.com/waybill-int/waybill/telemetry"

// A Policy says what paths should look like. It must not change, and is asked from several goroutines; package policy
// has one that is read from a file.
type Policy interface {
	// Judge appends how the path along hops breaks the policy for packets of flow k with that DSCP. A hop that does not
	// tell its node may be any; ended says that no hops are missing behind the last one.
	Judge(k *telemetry.FlowKey, dscp uint8, hops []telemetry.Hop, ended bool,
		breaches []telemetry.Breach) []telemetry.Breach
	// HiddenNodes returns how many of the nodes that a packet passed added no metadata, by the TTL in the report of it
	// and the number of hops in it; 0 if that is not known.
	HiddenNodes(ttl uint8, hops int) int
	// RuleName returns the name of the rule with the index of a Breach.
	RuleName(rule int32) string
}
