package alert

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf/unit"
)

// An Output is where notifications go: one of its fields is set.
type Output struct {
	Webhook      *Webhook      `yaml:"webhook"`
	Syslog       *Syslog       `yaml:"syslog"`
	Alertmanager *Alertmanager `yaml:"alertmanager"`
	Command      *Command      `yaml:"command"`
}

// HTTP is how a server is reached.
type HTTP struct {
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`
	Timeout *unit.Duration    `yaml:"timeout"`
	CA      string            `yaml:"ca"` // file of certificates to trust instead of those of the system
}

// A Webhook is an HTTP server that takes notifications as JSON.
type Webhook struct {
	HTTP       `yaml:",inline"`
	Secret     string `yaml:"secret"`      // what notifications are signed with
	SecretFile string `yaml:"secret_file"` // holds it
}

// An Alertmanager is one of Prometheus.
type Alertmanager struct {
	HTTP `yaml:",inline"`
}

// A Syslog is a server that takes messages of RFC 5424.
type Syslog struct {
	Address  string         `yaml:"address"`  // udp://, tcp:// or tls://HOST:PORT
	Facility string         `yaml:"facility"` // daemon, local0 and so on
	Timeout  *unit.Duration `yaml:"timeout"`
	CA       string         `yaml:"ca"`
}

// A Command is a program that gets a notification as JSON on its standard input.
type Command struct {
	Path    string         `yaml:"path"`
	Args    []string       `yaml:"args"`
	Timeout *unit.Duration `yaml:"timeout"`
}

// What an output has that does not say otherwise, and how long it may take at most.
const (
	defaultTimeout  = 10 * time.Second
	maxTimeout      = 30 * time.Second
	defaultFacility = "daemon"
)

var (
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110 §5.6.2
	headerValue = regexp.MustCompile(`^[\x20-\x7e]*$`)
	// ownHeaders are set by the senders, or by the HTTP client.
	ownHeaders = []string{
		"content-type", "content-length", "host", "user-agent", "connection", "transfer-encoding",
		"webhook-id", "webhook-timestamp", "webhook-signature",
	}
)

// check returns what is wrong with an output. Messages do not repeat URLs, headers and secrets.
func (o *Output) check() error {
	kinds := 0
	var err error
	if o.Webhook != nil {
		kinds++
		err = o.Webhook.check()
	}
	if o.Alertmanager != nil {
		kinds++
		if err = o.Alertmanager.HTTP.check(); err == nil && strings.Contains(o.Alertmanager.URL, "?") {
			err = errors.New("url: want http://HOST:9093, without a query")
		}
	}
	if o.Syslog != nil {
		kinds++
		err = o.Syslog.check()
	}
	if o.Command != nil {
		kinds++
		err = o.Command.check()
	}
	if kinds != 1 {
		return fmt.Errorf("got %d kinds, want one of webhook, syslog, alertmanager, command", kinds)
	}
	return err
}

func (w *Webhook) check() error {
	if w.Secret != "" && w.SecretFile != "" {
		return errors.New("want secret or secret_file, not both")
	}
	if _, err := signingKey(w.Secret); err != nil {
		return err
	}
	return w.HTTP.check()
}

func (h *HTTP) check() error {
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" ||
		!headerValue.MatchString(h.URL) {
		return errors.New("url: want http://HOST/PATH or https://HOST/PATH")
	}
	for name, value := range h.Headers {
		switch {
		case !headerName.MatchString(name) || slices.Contains(ownHeaders, strings.ToLower(name)):
			return fmt.Errorf("headers: %.40q cannot be set", name)
		case !headerValue.MatchString(value):
			return fmt.Errorf("headers: the value of %.40q has more than printable ASCII", name)
		}
	}
	return checkTimeout(h.Timeout)
}

func (s *Syslog) check() error {
	network, address, ok := strings.Cut(s.Address, "://")
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" || !ok ||
		!slices.Contains([]string{"udp", "tcp", "tls"}, network) {
		return errors.New("address: want udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT")
	}
	if s.CA != "" && network != "tls" {
		return errors.New("ca: only tls:// has certificates")
	}
	if s.Facility != "" && !slices.Contains(facilities, s.Facility) {
		return fmt.Errorf("facility: want one of %s", strings.Join(facilities, ", "))
	}
	return checkTimeout(s.Timeout)
}

func (c *Command) check() error {
	if !filepath.IsAbs(c.Path) || strings.ContainsRune(c.Path, 0) {
		return errors.New("path: want an absolute path")
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return errors.New("args: an argument has the character 0")
		}
	}
	return checkTimeout(c.Timeout)
}

func checkTimeout(d *unit.Duration) error {
	if d != nil && (time.Duration(*d) < 100*time.Millisecond || time.Duration(*d) > maxTimeout) {
		return fmt.Errorf("timeout: want 100ms to %v", maxTimeout)
	}
	return nil
}
