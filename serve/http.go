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
	metrics = append(metrics, s.bus.metrics(), s.exports.metrics(), s.samples.metrics())
	config := api.Config{
		Version: s.Config.Version, Logger: s.log, Metrics: metrics,
		Roles:   auth.Rules{OpenMetrics: s.Config.Metrics == "open", Query: s.Config.Query.Role},
		Console: console.Files(), Hosts: s.Config.Hosts, Access: s.guard,
		RefusedConnections: s.connections.Refused, Ready: s.ready, NotWritten: s.troubles.Failing, Stopping: s.stopping,
		Collector: s.Collector, Events: s.Events, Incidents: s.incidents, Bursts: s.bursts,
		Attacks: s.scanner.AttackTotals, Ledger: s.ledger, Alerts: s.alerts,
		Listeners: s.listeners, Refused: s.refused, Reports: s.raw.kept(), Points: s.points, Reload: s.Reload,
		SQL: s.keeper.sql(), History: s.keeper.history(), Dialect: s.keeper.filterDialect(),
		Between: s.keeper.between(), Written: s.keeper.written(),
		Network: s.networkMetrics(), Views: s.views, InventorySources: s.inventory.Sources, Exports: s.exports.list,
		KeptFine: time.Duration(s.Config.Store.Keep10s), KeptMinute: time.Duration(s.Config.Store.Keep1m),
	}
	if s.bus != nil {
		config.Cluster = s.cluster
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

// serveHTTP answers until the server is shut down.
func (s *Server) serveHTTP() error {
	var err error
	if s.secure != nil {
		err = s.http.ServeTLS(s.connections, "", "")
	} else {
		err = s.http.Serve(s.connections)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// URL is where the console is.
func (s *Server) URL() string {
	scheme := "http"
	if s.secure != nil {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String()
}

// listenHTTP opens the socket of console, API and metrics.
func (s *Server) listenHTTP() (err error) {
	if s.listener, err = net.Listen("tcp", s.Config.HTTP); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf(
				"listen on http://%s: the port is in use; stop what uses it or choose another with --http",
				s.Config.HTTP)
		}
		return fmt.Errorf("listen on http://%s: %w", s.Config.HTTP, err)
	}
	s.opened = append(s.opened, func() { s.listener.Close() })
	s.connections = auth.LimitConnections(s.listener, maxConnections, maxClientConnections)
	return nil
}

// answering is the component that answers over HTTP.
type answering struct {
	server *Server
	ended  sync.WaitGroup
}

// Start implements component.
func (a *answering) Start() {
	a.ended.Go(func() {
		if err := a.server.serveHTTP(); err != nil {
			a.server.failed <- err
		}
	})
}

// Stop implements component. Answers that take long have three seconds to end.
func (a *answering) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := a.server.http.Shutdown(ctx)
	a.ended.Wait()
	return err
}
