package attack

import (
	"net/netip"
	"time"
)

// A Limit is a rate. 0 is none.
type Limit struct {
	BPS uint64 // bits a second, of IP packets
	PPS uint64 // packets a second
}

// of returns how many times the limit a rate is: by bits or by packets, whichever is more.
func (l *Limit) of(bps, pps float64) float64 {
	times := 0.0
	if l.BPS > 0 {
		times = bps / float64(l.BPS)
	}
	if l.PPS > 0 {
		times = max(times, pps/float64(l.PPS))
	}
	return times
}

// A Group is a number of addresses with limits of their own.
type Group struct {
	Prefixes []netip.Prefix
	Floor    Limit // zero: that of the Config
	Fixed    Limit // more than this is an attack, whatever is usual and whatever the signs; zero: nothing is
}

// A Config says what an attack is. Use DefaultConfig and change what is needed.
type Config struct {
	// Floor is how much more than usual there must be at least.
	Floor Limit
	// Factor is how many times what is usual is still usual.
	Factor float64
	// Learn is how long it takes until something is known to be usual.
	Learn time.Duration
	// EndAfter is how long nothing of an attack comes, and no filter drops any of it, until it is over.
	EndAfter time.Duration
	// Groups are asked in their order; the first that an address is in has its limits.
	Groups []Group
	// Safe are addresses that are never the target of an attack.
	Safe []netip.Prefix
	// MaxTargets bounds the addresses of which is known what is usual, TargetBytes each.
	MaxTargets int
}

// TargetBytes is what a target takes of memory.
const TargetBytes = 1200

// DefaultConfig returns limits for a network of many users.
func DefaultConfig() Config {
	return Config{
		Floor: Limit{BPS: 100e6, PPS: 20_000}, Factor: 3, Learn: time.Minute, EndAfter: 30 * time.Second,
		MaxTargets: 1 << 14,
	}
}

// limits returns the limits of an address, and whether it may be a target.
func (c *Config) limits(a netip.Addr) (floor, fixed Limit, may bool) {
	for _, p := range c.Safe {
		if p.Contains(a) {
			return floor, fixed, false
		}
	}
	for i := range c.Groups {
		for _, p := range c.Groups[i].Prefixes {
			if !p.Contains(a) {
				continue
			}
			floor = c.Groups[i].Floor
			if floor == (Limit{}) {
				floor = c.Floor
			}
			return floor, c.Groups[i].Fixed, true
		}
	}
	return c.Floor, Limit{}, true
}
