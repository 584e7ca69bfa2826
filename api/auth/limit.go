package auth

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients is how many clients a Limit remembers.
const maxClients = 4096

// A Limit is how often each client may do something. A client is an IPv4 address, or the /64 of an IPv6 address, which
// is what one subscriber has. Clients beyond maxClients share one allowance.
type Limit struct {
	every rate.Limit
	burst int

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
	others  *rate.Limiter
	swept   time.Time
}

// NewLimit allows perSecond events a second, and burst at once.
func NewLimit(perSecond float64, burst int) *Limit {
	every := rate.Limit(perSecond)
	return &Limit{
		every: every, burst: burst, clients: map[netip.Addr]*rate.Limiter{},
		others: rate.NewLimiter(every, burst),
	}
}

// Take reports whether client may do it now, and if not, in what time.
func (l *Limit) Take(client netip.Addr, now time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.of(clientOf(client), now)
	if limiter.AllowN(now, 1) {
		return 0, true
	}
	return time.Duration((1 - limiter.TokensAt(now)) / float64(l.every) * float64(time.Second)), false
}

// clientOf returns the client that an address belongs to.
func clientOf(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is6() && !a.IsLoopback() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// of returns the allowance of client.
func (l *Limit) of(client netip.Addr, now time.Time) *rate.Limiter {
	if x := l.clients[client]; x != nil {
		return x
	}
	// Looking for those that can be forgotten takes its time, and strangers must not make it happen often.
	if len(l.clients) >= maxClients && now.Sub(l.swept) >= time.Second {
		l.swept = now
		for c, x := range l.clients {
			if x.TokensAt(now) >= float64(l.burst) { // as if it had never come
				delete(l.clients, c)
			}
		}
	}
	if len(l.clients) >= maxClients {
		return l.others
	}
	x := rate.NewLimiter(l.every, l.burst)
	l.clients[client] = x
	return x
}
