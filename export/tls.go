package export

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/waybill-int/waybill/internal/conf/secure"
)

// TLS says how an output makes sure of the other side, and shows who it is.
type TLS struct {
	On   bool   `yaml:"on" doc:"encrypt the connection"`
	CA   string `yaml:"ca" doc:"file with the authorities that sign its certificate, PEM; without it those of the system"`
	Cert string `yaml:"cert" doc:"file with the certificate to show, PEM"`
	Key  string `yaml:"key" doc:"file with its key, PEM"`
}

// Config returns what connections use; nil: they are in the clear.
func (t *TLS) Config() (*tls.Config, error) {
	if !t.On {
		if *t != (TLS{}) {
			return nil, errors.New("tls: want on: true with ca, cert and key")
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		var err error
		if c.RootCAs, err = secure.ReadCAs(t.CA); err != nil {
			return nil, fmt.Errorf("tls: ca: %w", err)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("tls: cert and key are needed together")
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Secret reads the secret in a file, without the end of its line; "" without a file.
func Secret(key, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s: %s is empty", key, file)
	}
	return secret, nil
}
