package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/console"
)

// handler serves console, API and metrics.
func (s *Server) handler() http.Handler {
	var metrics prometheus.Gatherers
	if s.Config.Data != "" {
		metrics = prometheus.Gatherers{s.checkpoints.metrics(), s.keeper.metrics(), s.raw.metrics()}
	}
	metrics = append(metrics, s.bus.metrics(), s.tenure.metrics(), s.exports.metrics(), s.samples.metrics())
	config := api.Config{
		Version: s.Config.Version, Logger: s.log, Metrics: metrics,
		Roles:   auth.Rules{OpenMetrics: s.Config.Metrics == "open", Query: s.Config.Query.Role},
		Console: console.Files(), Hosts: s.Config.Hosts, Access: s.guard,
		RefusedConnections: s.endpoint.connections.Refused, Stopping: s.endpoint.stopping,
		Ready: s.ready, NotWritten: s.troubles.Failing,
		Collector: s.Collector, Events: s.Events, Incidents: s.incidents, Bursts: s.bursts,
		Attacks: s.scanner.AttackTotals, Ledger: s.ledger, Alerts: s.alerts,
		Listeners: s.listeners, Refused: s.refused, Reports: s.raw.kept(), Points: s.points, Reload: s.Reload,
		SQL: s.keeper.sql(), History: s.keeper.history(), Dialect: s.keeper.filterDialect(),
		Between: s.keeper.between(), Written: s.keeper.written(),
		Network: s.networkMetrics(), Views: s.views, InventorySources: s.inventory.Sources, Exports: s.exports.list,
		KeptFine: time.Duration(s.Config.Store.Keep10s), KeptMinute: time.Duration(s.Config.Store.Keep1m),
	}
	if s.bus != nil {
		config.Cluster, config.Term = s.cluster, s.tenure.term()
	}
	if s.mitigation != nil {
		config.Mitigation = s.mitigation
	}
	if s.demo != nil { // a nil demo in an interface would not be nil
		config.Demo = s.demo
	}
	return api.New(config)
}

// ready returns why reports are not received, or nil.
func (s *Server) ready() error {
	if !s.receiving.Load() {
		return errors.New("reports are not received: starting or stopping")
	}
	return nil
}

const (
	// maxConnections is how many TCP connections are open at a time.
	maxConnections = 1024
	// maxClientConnections is how many of them one client may have; a browser has six.
	maxClientConnections = 128
)

// newHTTPServer returns a server for handler that gives nobody long to say what they want.
func newHTTPServer(handler http.Handler, secure *auth.TLS, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 96 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if secure != nil {
		s.TLSConfig = secure.Config()
	}
	return s
}

// URL is where the console is.
func (s *Server) URL() string { return s.endpoint.URL() }

// An endpoint is the component that answers over HTTP.
type endpoint struct {
	listener    net.Listener
	secure      *auth.TLS // nil: plain HTTP
	connections *auth.Connections
	stopping    chan struct{} // closed when it stops
	server      *http.Server
	failed      func(error) // hears that it cannot go on
	ended       sync.WaitGroup
}

// listenHTTP opens the socket of console, API and metrics.
func listenHTTP(address string, secure *auth.TLS) (*endpoint, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf(
				"listen on http://%s: the port is in use; stop what uses it or choose another with --http", address)
		}
		return nil, fmt.Errorf("listen on http://%s: %w", address, err)
	}
	return &endpoint{
		listener: listener, secure: secure, stopping: make(chan struct{}),
		connections: auth.LimitConnections(listener, maxConnections, maxClientConnections),
	}, nil
}

// answer says who answers. It is called once, before Start.
func (e *endpoint) answer(handler http.Handler, log *slog.Logger) {
	e.server = newHTTPServer(handler, e.secure, log)
	e.server.RegisterOnShutdown(sync.OnceFunc(func() { close(e.stopping) }))
}

// URL is where the console is.
func (e *endpoint) URL() string {
	scheme := "http"
	if e.secure != nil {
		scheme = "https"
	}
	return scheme + "://" + e.listener.Addr().String()
}

// Start implements component.
func (e *endpoint) Start() {
	e.ended.Go(func() {
		var err error
		if e.secure != nil {
			err = e.server.ServeTLS(e.connections, "", "")
		} else {
			err = e.server.Serve(e.connections)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			e.failed(err)
		}
	})
}

// Stop implements component. Answers that take long have three seconds to end.
func (e *endpoint) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	e.ended.Wait()
	return err
}
