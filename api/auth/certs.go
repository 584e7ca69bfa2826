package auth

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/waybill-int/waybill/internal/conf/secure"
)

// A TLS serves a certificate that is read again when its files change.
type TLS struct{ config *fresh[*tls.Config] }

// OpenTLS reads a certificate with its chain, its key, and, unless clientCA is empty, the authorities whose client
// certificates are accepted; all are PEM. told hears of each time that they are read again, with the error if that
// failed; what was there then stays in use.
func OpenTLS(cert, key, clientCA string, told func(error)) (*TLS, error) {
	files := []string{cert, key}
	if clientCA != "" {
		files = append(files, clientCA)
	}
	config, err := newFresh(func() (*tls.Config, error) { return serverTLS(cert, key, clientCA) }, told, files...)
	if err != nil {
		return nil, err
	}
	return &TLS{config}, nil
}

// Config returns the configuration for a server. Each handshake has the files of its time.
func (t *TLS) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.config.get(), nil },
	}
}

// Reload reads the files now.
func (t *TLS) Reload() { t.config.reload() }

func serverTLS(cert, key, clientCA string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		NextProtos: []string{"h2", "http/1.1"},
	}
	if clientCA == "" {
		return c, nil
	}
	if c.ClientCAs, err = secure.ReadCAs(clientCA); err != nil {
		return nil, err
	}
	// Who has none may still ask whether the server is healthy, or have a token; one that is not valid ends the
	// handshake.
	c.ClientAuth = tls.VerifyClientCertIfGiven
	return c, nil
}

// ClientTLS returns the configuration of a client: ca are the authorities that it trusts instead of those of the
// system, cert and key what it says who it is with. Files that are not needed are empty.
func ClientTLS(ca, cert, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if ca != "" {
		if c.RootCAs, err = secure.ReadCAs(ca); err != nil {
			return nil, err
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("a certificate needs its key, and a key its certificate")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
