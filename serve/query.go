package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/console"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/store/clickhouse"
)

// analyzerSettings say where the analyzer is of a server with role query.
type analyzerSettings struct {
	URL       string   `yaml:"url" doc:"where the API of the analyzer is, https://HOST:PORT or http://HOST:PORT"`
	Standby   []string `yaml:"standby_urls" doc:"where the APIs of those are that stand by for it (bus.standby)"`
	TokenFile string   `yaml:"token_file" doc:"file with a token to log in there, if the analyzer does not take the word of this server (proxy_login)"`
	Insecure  bool     `yaml:"insecure" doc:"allow http:// to an address outside of this machine"`
	TLS       busTLS   `yaml:"tls" doc:"certificates on the way to the analyzer"`
}

// check refuses what cannot work with a role, and what is not safe.
func (a *analyzerSettings) check(role string) error {
	if role != roleQuery {
		if a.URL != "" || len(a.Standby) > 0 || a.TokenFile != "" || a.Insecure || a.TLS != (busTLS{}) {
			return fmt.Errorf("analyzer: got role %s, want query", role)
		}
		return nil
	}
	if err := a.checkURL(a.URL); err != nil {
		return fmt.Errorf("analyzer: url: %w", err)
	}
	for _, text := range a.Standby {
		if err := a.checkURL(text); err != nil {
			return fmt.Errorf("analyzer: standby_urls: %w", err)
		}
	}
	if (a.TLS.Cert == "") != (a.TLS.Key == "") {
		return errors.New("analyzer: tls: cert and key are needed together")
	}
	if _, err := a.TLS.config(); err != nil {
		return fmt.Errorf("analyzer: tls: %w", err)
	}
	if a.TokenFile != "" {
		if _, err := a.token(); err != nil {
			return fmt.Errorf("analyzer: token_file: %w", err)
		}
	}
	return nil
}

// checkURL refuses what is no URL of an analyzer, or not safe.
func (a *analyzerSettings) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err == nil && u.User != nil:
		return errors.New("want no user and no password; token_file has what to log in with")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "":
		return fmt.Errorf("got %q, want where its API is, such as https://analyzer:8080", text)
	case !isSafeURL(text) && !a.Insecure:
		return fmt.Errorf("others can read what is sent to %s; want https://, or insecure", text)
	}
	return nil
}

// token returns what the file has now.
func (a *analyzerSettings) token() (string, error) {
	text, err := os.ReadFile(a.TokenFile)
	return strings.TrimSpace(string(text)), err
}

// checkQuery refuses what a server with role query has no use for.
func (c *Config) checkQuery() error {
	switch {
	case c.Bus.on():
		return errors.New("bus: role is query, which needs no bus; it asks the analyzer")
	case c.Data != "":
		return errors.New("data: role is query, which keeps nothing; the analyzer does")
	case c.RawReports != "":
		return errors.New("raw_reports: role is query, which receives none")
	case len(c.Export.Outputs) > 0:
		return errors.New("export: outputs: role is query; records are exported by the analyzer")
	case c.Alerts != "":
		return errors.New("alerts: role is query; rules are the analyzer's")
	case c.Inventory != "" || c.Policy != "" || len(c.Names) > 0:
		return errors.New("names, inventory and policy: role is query, which has those of the analyzer")
	}
	return nil
}

// A Query is what waybill serve runs with role query: console and API. It answers from the store what that has alone,
// and passes on everything else to the analyzer. It keeps nothing.
type Query struct {
	log       *slog.Logger
	guard     *auth.Guard
	endpoint  *endpoint
	analyzer  *api.Analyzer
	store     *clickhouse.Store // nil: the analyzer answers about the past, too
	collector analyze.Collector // which has what is configured at the analyzer, and nothing else
}

// NewQuery opens the socket and the store, so that what cannot be opened is known before anything runs. It waits for
// the tables of the store, which the analyzer makes, until ctx is done.
func NewQuery(ctx context.Context, c *Config, logTo io.Writer) (*Query, error) {
	level := new(slog.LevelVar)
	level.Set(c.Log.Level.Level)
	q := &Query{log: command.NewLogger(logTo, level)}
	most, _ := parseSize(c.Memory) // check has seen it
	debug.SetMemoryLimit(int64(most))
	guard, secure, err := openAccess(c, toldBy(q.log))
	if err != nil {
		return nil, err
	}
	q.guard = guard
	if err := q.openStore(ctx, c); err != nil {
		return nil, err
	}
	if err := q.openAnalyzer(c); err != nil {
		return nil, errors.Join(err, q.close())
	}
	if q.endpoint, err = listenHTTP(c.HTTP, secure); err != nil {
		return nil, errors.Join(err, q.close())
	}
	config := api.Config{
		Version: c.Version, Logger: q.log, Console: console.Files(), Hosts: c.Hosts, Access: guard,
		Roles:     auth.Rules{OpenMetrics: c.Metrics == "open", Query: c.Query.Role},
		Collector: &q.collector, Analyzer: q.analyzer,
		RefusedConnections: q.endpoint.connections.Refused, Stopping: q.endpoint.stopping,
		KeptFine: time.Duration(c.Store.Keep10s), KeptMinute: time.Duration(c.Store.Keep1m),
	}
	if q.store != nil {
		config.SQL, config.History, config.Between = q.store.SQL, q.store.Query, q.store.Between
		config.Dialect, config.Written = filter.ClickHouse, q.analyzer.Written
	}
	q.endpoint.answer(api.New(config), q.log)
	return q, nil
}

// openAnalyzer makes what asks the analyzer.
func (q *Query) openAnalyzer(c *Config) error {
	to := &c.Analyzer
	var urls []*url.URL
	for _, text := range append([]string{to.URL}, to.Standby...) {
		u, err := url.Parse(text)
		if err != nil {
			return fmt.Errorf("analyzer: url: %w", err)
		}
		urls = append(urls, u)
	}
	config := api.AnalyzerConfig{
		URLs: urls, Access: q.guard, Configure: q.collector.Configure, Stored: q.store != nil, Version: c.Version,
		Log: q.log,
	}
	var err error
	if config.TLS, err = to.TLS.config(); err != nil {
		return fmt.Errorf("analyzer: tls: %w", err)
	}
	if to.TokenFile != "" {
		config.Token = to.token
	}
	q.analyzer = api.NewAnalyzer(config)
	return nil
}

// openStore connects to the store, if there is one that several servers can read, and waits until it has tables.
func (q *Query) openStore(ctx context.Context, c *Config) error {
	if c.Store.ClickHouse == nil {
		return nil
	}
	config, err := c.Store.ClickHouse.compile()
	if err != nil {
		return fmt.Errorf("store: clickhouse: %w", err)
	}
	memory, _ := parseSize(c.Store.Memory) // check has seen it
	config.Memory, config.ReadOnly = int64(memory), true
	for said := false; ; said = true {
		if q.store, err = clickhouse.Open(ctx, config); err == nil || !errors.Is(err, clickhouse.ErrNoTables) {
			return err
		}
		if !said {
			q.log.Info("waiting for the analyzer to make the tables of the store", "url", c.Store.ClickHouse.URL)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// URL is where the console is.
func (q *Query) URL() string { return q.endpoint.URL() }

// Run answers until ctx is done, or the server cannot go on.
func (q *Query) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	q.endpoint.failed = stop
	watching := background(q.analyzer.Watch, func(ctx context.Context) {
		onHangup(ctx, q.guard, q.endpoint.secure, func() {})
	})
	watching.Start()
	q.endpoint.Start()
	q.log.Info("serving console and API", "url", q.URL())
	<-ctx.Done()
	err := errors.Join(q.endpoint.Stop(), watching.Stop(), q.close())
	passed, unanswered := q.analyzer.Totals()
	q.log.Info("stopped", "passed_on", passed, "unanswered", unanswered)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

// close closes what NewQuery has opened, but for the socket.
func (q *Query) close() error {
	if q.store == nil {
		return nil
	}
	return q.store.Close()
}
