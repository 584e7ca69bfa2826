package analyze

import "github.com/waybill-int/waybill/analyze/finding"

// SetPolicy replaces what paths are compared with; nil: nothing. The path of each flow is judged anew with its next
// report. It may be called from any goroutine.
func (s *Shard) SetPolicy(p finding.Policy) {
	s.mu.Lock()
	s.policy = p
	s.findings.Restart() // their rules are those of the policy before
	s.mu.Unlock()
	for from, done := 0, false; !done; from += chunkSize {
		s.mu.Lock()
		end := min(from+chunkSize, s.flows.count)
		for place := from; place < end; place++ {
			s.flows.at(place).verdict = finding.NotJudged
		}
		done = end == s.flows.count
		s.mu.Unlock()
	}
}
