// Package secure is what all that talks to other machines by configuration has in common: whom it trusts, and where a
// secret may be sent.
package secure

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"os"
)

// ReadCAs returns the certificates in a file, PEM, as those to trust.
func ReadCAs(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificates, want PEM", file)
	}
	return pool, nil
}

// IsPrivate reports whether nobody on the way reads what is sent to u: it is encrypted, or stays on this machine.
func IsPrivate(u *url.URL) bool {
	host, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && host.Unmap().IsLoopback()
}
