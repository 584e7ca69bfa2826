package clock

// A Sample is what two neighbouring nodes say of one packet on the link from one to the other. Parallel links need not
// be told apart: they join the same two clocks.
type Sample struct {
	From, To  uint32 // nodes
	EgressNs  uint64 // when it left From, by the clock of From
	IngressNs uint64 // when it came to To, by the clock of To

	// WrapNs is the time after which the stamps begin at 0 again: 0 for 64 bits, 1<<32 for 32 bits of nanoseconds. If
	// the two nodes differ, the smaller one. What is found out is then known up to a multiple of it.
	WrapNs uint64
	// ResolutionNs is the step in which the stamps count, in nanoseconds; 0 counts as 1. If the nodes differ, the
	// larger.
	ResolutionNs uint32
	// ArrivalNs is when the report came here, nanoseconds since 1970. It finds the window, and the turn of clocks that
	// wrap.
	ArrivalNs int64
}

// usable reports whether the stamps say anything. Reports may be late by lateNs.
func (s *Sample) usable(lateNs int64) bool {
	const longest = 1 << 62 // differences must fit into an int64
	return s.From != s.To && (s.WrapNs == 0 || s.WrapNs > 2*uint64(lateNs) && s.WrapNs <= longest)
}

// resolution is how wrong the difference of two stamps can be by their steps alone.
func (s *Sample) resolution() int64 { return int64(max(s.ResolutionNs, 1)) }

// Wrapped returns what is congruent to d modulo wrap and nearest to 0: at least -wrap/2, less than wrap/2. A wrap of 0
// stands for 2^64, at which an int64 wraps by itself.
func Wrapped(d int64, wrap uint64) int64 {
	if wrap == 0 {
		return d
	}
	w := int64(wrap)
	d = floorMod(d, w)
	if d >= w-w/2 {
		d -= w
	}
	return d
}

// floorMod returns d modulo m, at least 0.
func floorMod(d, m int64) int64 {
	if d %= m; d < 0 {
		d += m
	}
	return d
}
