package dropreason

// A Severity says what drops for a Reason are a sign of, before anybody looks at how many there are.
type Severity uint8

// Severities.
const (
	Info     Severity = iota // somebody wants these packets dropped, or every network has some
	Warning                  // traffic suffers or will, or somebody sends what nobody should
	Critical                 // the network does not do what it is for
	numSeverities
)

// String returns the name for filters and JSON.
func (s Severity) String() string {
	if s < numSeverities {
		return [...]string{"info", "warning", "critical"}[s]
	}
	return "unknown"
}
