package auth

import (
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(2, 3)
		take := func(client string) bool {
			_, ok := l.Take(netip.MustParseAddr(client), time.Now())
			return ok
		}
		count := func(client string, n int) (taken int) {
			for range n {
				if take(client) {
					taken++
				}
			}
			return taken
		}
		if got := count("10.0.0.1", 10); got != 3 {
			t.Errorf("got %d at once, want 3", got)
		}
		if wait, ok := l.Take(netip.MustParseAddr("10.0.0.1"), time.Now()); ok || wait != 500*time.Millisecond {
			t.Errorf("got %v, want to wait for half a second", wait)
		}
		if got := count("10.0.0.2", 10); got != 3 {
			t.Errorf("another client: got %d, want 3", got)
		}
		time.Sleep(time.Second)
		if got := count("10.0.0.1", 10); got != 2 {
			t.Errorf("got %d after a second, want 2", got)
		}
		if got := count("2001:db8::1", 10) + count("2001:db8::2", 10) + count("2001:db8:0:1::1", 10); got != 6 {
			t.Errorf("got %d, want 3 for each /64", got)
		}
	})
}

// Clients that are forgotten make room; while there is none, the others share what one may have.
func TestLimitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(1, 2)
		addr := netip.MustParseAddr("10.0.0.0")
		taken := 0
		for range maxClients + 1000 {
			addr = addr.Next()
			if _, ok := l.Take(addr, time.Now()); ok {
				taken++
			}
		}
		if taken != maxClients+2 || len(l.clients) != maxClients {
			t.Errorf("got %d of %d clients, want %d", taken, len(l.clients), maxClients+2)
		}
		time.Sleep(time.Minute)
		if _, ok := l.Take(addr.Next(), time.Now()); !ok || len(l.clients) != 1 {
			t.Errorf("%d clients after a minute, want the new one", len(l.clients))
		}
	})
}

func TestClientOf(t *testing.T) {
	g := &Guard{Proxy: &Proxy{From: []netip.Prefix{netip.MustParsePrefix("198.51.100.7/32")}}}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"192.0.2.1:5", "10.0.0.1", "192.0.2.1"}, // anybody can write that
		{"127.0.0.1:5", "", "127.0.0.1"},
		{"127.0.0.1:5", "10.0.0.1", "10.0.0.1"},
		{"[::1]:5", "6.6.6.6, 2001:db8::1", "2001:db8::1"}, // the last one is the proxy's own
		{"127.0.0.1:5", "nobody", "127.0.0.1"},
		{"[fe80::1%eth0]:5", "", "fe80::1"},
		{"198.51.100.7:5", "6.6.6.6, 10.0.0.1", "10.0.0.1"}, // the proxy that logs people in
		{"198.51.100.8:5", "10.0.0.1", "198.51.100.8"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := g.ClientOf(r).String(); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
