package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// contentSecurityPolicy allows what the console needs, and forms to be sent to formAction.
func contentSecurityPolicy(formAction string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; form-action " + formAction + "; frame-ancestors 'none'"
}

// secure sets the headers that every answer has.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", contentSecurityPolicy("'none'"))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// onLoopback reports whether r came in through a loopback address of this machine.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

// knowsHost reports whether hostPort, of a Host header, names this machine.
func (c *Config) knowsHost(hostPort string) bool {
	host := hostPort
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, name := range c.Hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}
