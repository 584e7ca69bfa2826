package collect

import (
	"math"
	"time"
)

// A schedule says when each of a stream of datagrams is due: number n, from 0, n/rate seconds after the start. It
// counts from the start and not from the last datagram, so a wake-up that comes late delays some datagrams and not the
// stream.
type schedule struct {
	rate float64 // datagrams per second; 0 is without a limit
}

// at returns when datagram n is due, as the time since the start.
func (s schedule) at(n uint64) time.Duration {
	if s.rate == 0 {
		return 0
	}
	return time.Duration(min(float64(n)/s.rate*float64(time.Second), 1<<62)) // 1<<62 is 146 years
}

// due returns how many datagrams are due when that much time has passed since the start.
func (s schedule) due(elapsed time.Duration) uint64 {
	if s.rate == 0 {
		return math.MaxUint64
	}
	return uint64(min(elapsed.Seconds()*s.rate, math.MaxInt64)) + 1
}
