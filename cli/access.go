package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/client"
)

// clientAccess is how a client says who it is, and knows whom it asks. A token is never on the command line, where
// every user of the machine could read it.
type clientAccess struct {
	tokenFile     string
	ca, cert, key string
}

// serverFlags say which server is asked, and how.
type serverFlags struct {
	url     string
	access  clientAccess
	context string // its name
	flags   *pflag.FlagSet
	chosen  bool // url and access are those of a context
}

func (s *serverFlags) register(f *pflag.FlagSet) {
	s.flags = f
	f.StringVar(&s.context, "context", "", "`NAME` of a server that waybill context knows, instead of --server")
	f.StringVarP(&s.url, "server", "s", cmp.Or(os.Getenv("WAYBILL_SERVER"), defaultServer),
		"`URL` of the server; the default is $WAYBILL_SERVER if set")
	s.access.register(f)
}

func (s *serverFlags) client() (*client.Client, error) {
	if err := s.choose(); err != nil {
		return nil, err
	}
	return s.access.client(s.url)
}

func (a *clientAccess) register(f *pflag.FlagSet) {
	f.StringVar(&a.tokenFile, "token-file", "", "`FILE` with the token for the server; else it is $WAYBILL_TOKEN")
	f.StringVar(&a.ca, "ca", "",
		"`FILE` with the authorities that sign the server's certificate, PEM, instead of the system's")
	f.StringVar(&a.cert, "cert", "", "`FILE` with a client certificate, PEM")
	f.StringVar(&a.key, "key", "", "`FILE` with its key, PEM")
}

// client returns a client of the server at url.
func (a *clientAccess) client(url string) (*client.Client, error) {
	c, err := client.New(url)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	token := os.Getenv("WAYBILL_TOKEN")
	if a.tokenFile != "" {
		if token, err = readToken(a.tokenFile); err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	config, err := auth.ClientTLS(a.ca, a.cert, a.key)
	if err != nil {
		return nil, fmt.Errorf("--ca, --cert, --key: %w", err)
	}
	return c, c.Use(strings.TrimSpace(token), config)
}

// readToken reads a file that holds a token and nothing else.
func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.New("the file should hold one token and nothing else")
	}
	return token, nil
}
