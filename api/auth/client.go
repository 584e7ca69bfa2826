package auth

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientOf returns the address that r comes from. What comes from this machine, or from the proxy that logs people in,
// may come for others: it says who asked it in the last element of X-Forwarded-For. Only limits and logs rest on it,
// never rights.
func (g *Guard) ClientOf(r *http.Request) netip.Addr {
	remote := remoteOf(r)
	if !remote.IsLoopback() && (g.Proxy == nil || !g.Proxy.speaks(remote)) {
		return remote
	}
	values := r.Header.Values("X-Forwarded-For")
	if len(values) == 0 {
		return remote
	}
	last := values[len(values)-1]
	if addr, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); err == nil {
		return addr.Unmap().WithZone("")
	}
	return remote
}

func remoteOf(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddrPort(r.RemoteAddr) // else the zero Addr, which is not loopback
	return addr.Addr().Unmap().WithZone("")
}

func remoteIsLoopback(r *http.Request) bool { return remoteOf(r).IsLoopback() }
