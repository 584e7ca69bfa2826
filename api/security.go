package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets the headers that every answer has.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// refuse returns why r is not answered, or nil.
func (h *handler) refuse(r *http.Request) *Problem {
	if len(r.URL.Path)+len(r.URL.RawQuery) > maxURL {
		return newProblem(http.StatusRequestURITooLong, "path and query are longer than %d bytes", maxURL)
	}
	// A page of another site can let its own name point to 127.0.0.1 and read what it gets from there (DNS rebinding). Its
	// requests carry that name.
	if onLoopback(r) && !h.knowsHost(r.Host) {
		return newProblem(http.StatusMisdirectedRequest, "this server is not %q; if a proxy asks by that name, configure it", r.Host)
	}
	return nil
}

// onLoopback reports whether r came in through a loopback address of this machine.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

// knowsHost reports whether hostPort, of a Host header, names this machine.
func (h *handler) knowsHost(hostPort string) bool {
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
	for _, name := range h.cfg.Hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}
