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

// SetPolicy replaces what paths are compared with; nil: nothing. The path of each flow is judged anew with its next
// report. It may be called from any goroutine.
func (s *Shard) SetPolicy(p Policy) {
	s.mu.Lock()
	s.policy = p
	s.findings.restart() // their rules are those of the policy before
	s.mu.Unlock()
	for from, done := 0, false; !done; from += chunkSize {
		s.mu.Lock()
		end := min(from+chunkSize, s.flows.count)
		for place := from; place < end; place++ {
			s.flows.at(place).verdict = notJudged
		}
		done = end == s.flows.count
		s.mu.Unlock()
	}
}
