package collect

import "time"

// A Summary says what a Replay sent. Datagrams count as sent also if nobody listens. Refused is above 0 then, but says
// not how many: ICMP answers come late, or not at all, and the kernel reports several as one.
type Summary struct {
	Sent    uint64        // datagrams handed to the kernel
	Bytes   uint64        // their payloads, in bytes
	Refused uint64        // times that the kernel reported that nobody listens at the address (ICMP port unreachable)
	Elapsed time.Duration // since the first datagram was due
}

// Rate returns the datagrams sent per second, and 0 when no time has passed.
func (s Summary) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Sent) / s.Elapsed.Seconds()
}
