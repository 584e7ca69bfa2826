package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"

	"github.com/waybill-int/waybill/api/auth"
)

// tlsFiles are the files that HTTPS needs, and the roles of clients with certificates.
type tlsFiles struct {
	Cert     string            `yaml:"cert" flag:"tls-cert" doc:"file with the certificate and its chain, PEM"`
	Key      string            `yaml:"key" flag:"tls-key" doc:"file with its key, PEM"`
	ClientCA string            `yaml:"client_ca" flag:"tls-client-ca" doc:"file with the authorities that sign client certificates, PEM"`
	Clients  map[string]string `yaml:"clients" doc:"role of each client, by the common name in its certificate; * is all others"`
}

// on reports whether HTTP is HTTPS.
func (t *tlsFiles) on() bool { return t.Cert != "" || t.Key != "" }

// clients returns the roles by common name; nil if certificates are not asked for.
func (t *tlsFiles) clients() (map[string]auth.Role, error) {
	if t.ClientCA == "" {
		return nil, nil
	}
	roles := map[string]auth.Role{}
	for name, text := range t.Clients {
		role, err := auth.ParseRole(text)
		if err != nil {
			return nil, fmt.Errorf("tls: clients: %s: %w", name, err)
		}
		roles[name] = role
	}
	return roles, nil
}

// metricsReaders are the values of metrics.
var metricsReaders = []string{"read", "open"}

// checkAccess refuses what would let strangers in, and files that cannot be read.
func (c *Config) checkAccess() error {
	if !slices.Contains(metricsReaders, c.Metrics) {
		return fmt.Errorf("metrics: got %q, want read (a role is needed) or open (to everybody)", c.Metrics)
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return errors.New("tls: cert and key are needed together")
	}
	if !c.TLS.on() && (c.TLS.ClientCA != "" || len(c.TLS.Clients) > 0) {
		return errors.New("tls: client certificates need a cert and a key of the server")
	}
	if (c.TLS.ClientCA == "") != (len(c.TLS.Clients) == 0) {
		return errors.New(
			"tls: client_ca and clients are needed together: who signs certificates, and the role for each common name")
	}
	if _, _, err := openAccess(c, func(string) func(error) { return func(error) {} }); err != nil {
		return err
	}
	return c.checkExposure()
}

// checkExposure refuses an address that other machines can reach, unless who asks is known and nobody can listen in.
func (c *Config) checkExposure() error {
	host, port, err := net.SplitHostPort(c.HTTP)
	if err != nil {
		return fmt.Errorf("http: got %q, want HOST:PORT, for example 127.0.0.1:8080", c.HTTP)
	}
	if host == "" { // what is shown is sensitive, so that :8080 means this machine only
		c.HTTP = net.JoinHostPort("127.0.0.1", port)
		return nil
	}
	if ip := net.ParseIP(host); c.Insecure || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	known := c.Tokens != "" || c.TLS.ClientCA != "" || c.OIDC.Issuer != "" || len(c.ProxyLogin.From) > 0
	switch {
	case !known && !c.TLS.on():
		return fmt.Errorf(
			"http: %s can be reached from other machines, and there is no log-in; listen on 127.0.0.1, or give --tokens, --tls-cert and --tls-key, "+
				"or say --insecure if the network is trusted", c.HTTP)
	case !known:
		return fmt.Errorf(
			"http: %s can be reached from other machines, and there is no log-in; give --tokens or --tls-client-ca, or say --insecure if everybody may read", c.HTTP)
	case !c.TLS.on():
		return fmt.Errorf(
			"http: tokens would cross the network to %s in the clear; give --tls-cert and --tls-key, or say --insecure if nobody can listen in", c.HTTP)
	}
	return nil
}

// openAccess reads the files that say who may ask. told returns what hears when the files of that name are read again.
func openAccess(c *Config, told func(what string) func(error)) (*auth.Guard, *auth.TLS, error) {
	guard := &auth.Guard{Sessions: auth.NewSessions()}
	var err error
	if guard.Clients, err = c.TLS.clients(); err != nil {
		return nil, nil, err
	}
	if guard.OIDC, err = c.OIDC.open(); err != nil {
		return nil, nil, err
	}
	if guard.Proxy, err = c.ProxyLogin.open(); err != nil {
		return nil, nil, err
	}
	if c.Tokens != "" {
		if guard.Tokens, err = auth.OpenTokens(c.Tokens, told("tokens")); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				err = fmt.Errorf("%w; waybill token create makes the file", err)
			}
			return nil, nil, fmt.Errorf("tokens: %w", err)
		}
	}
	if !c.TLS.on() {
		return guard, nil, nil
	}
	secure, err := auth.OpenTLS(c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA, told("certificates"))
	if err != nil {
		return nil, nil, fmt.Errorf("tls: %w", err)
	}
	return guard, secure, nil
}

// openEndpoint reads the files that say who may ask, and opens the socket where they do.
func (s *Server) openEndpoint() error {
	guard, secure, err := openAccess(s.Config, toldBy(s.log))
	if err != nil {
		return err
	}
	s.guard = guard
	if s.endpoint, err = listenHTTP(s.Config.HTTP, secure); err != nil {
		return err
	}
	s.endpoint.failed = func(err error) { s.failures <- err }
	s.opened = append(s.opened, func() { s.endpoint.listener.Close() })
	return nil
}

// toldBy returns a function for openAccess that writes to log.
func toldBy(log *slog.Logger) func(what string) func(error) {
	return func(what string) func(error) {
		return func(err error) {
			if err != nil {
				log.Error("cannot read "+what+" again; those from before stay in use", "error", err)
				return
			}
			log.Info("read " + what + " again")
		}
	}
}

// sayWhoMayAsk warns of what an operator may not have meant.
func (s *Server) sayWhoMayAsk() {
	switch {
	case s.guard.Tokens != nil && s.guard.Tokens.Len() == 0 && s.guard.Clients == nil && s.guard.OIDC == nil &&
		s.guard.Proxy == nil:
		s.log.Warn("the tokens file is empty: nobody can log in", "file", s.Config.Tokens, "help",
			"waybill token create")
	case s.Config.Insecure && !s.guard.Required():
		s.log.Warn("everybody who reaches the HTTP address may read everything: there is no log-in", "address",
			s.Config.HTTP)
	}
}
