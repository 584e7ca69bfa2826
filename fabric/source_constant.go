package fabric

// A constant is one long conversation between two hosts.
type constant struct {
	talk
	from, to *host
	bytes    uint64 // 0: until the traffic stops
}

func (s *constant) fire(f *Fabric) int64 {
	bytes := s.bytes
	if bytes == 0 {
		bytes = endless
	}
	c := f.begin(&s.shape, s.from, s.to, s.v6(), bytes, s.bytes != 0)
	if s.bytes == 0 {
		f.schedule(c, s.stopNs, evStop)
	}
	return never
}
