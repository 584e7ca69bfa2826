package serve

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ownMetrics are the component that answers about a process without an API: its metrics, and whether it works. They
// are in the clear and for everybody.
type ownMetrics struct {
	listener  net.Listener
	server    *http.Server
	log       *slog.Logger
	answering sync.WaitGroup
}

// newOwnMetrics listens on an address. notReady says why the process is not ready; "": it is.
func newOwnMetrics(address string, log *slog.Logger, of prometheus.Collector, notReady func() string,
) (*ownMetrics, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on http://%s: %w", address, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	answer := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, "{\"status\":%q}\n", text)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := notReady(); why != "" {
			answer(w, http.StatusServiceUnavailable, why)
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	return &ownMetrics{listener: listener, log: log, server: &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
}

// Start implements component.
func (m *ownMetrics) Start() {
	m.answering.Go(func() { _ = m.server.Serve(m.listener) })
	m.log.Info("serving metrics", "url", "http://"+m.listener.Addr().String()+"/metrics")
}

// Stop implements component.
func (m *ownMetrics) Stop() error {
	err := m.server.Close()
	m.listener.Close() // if it did not start
	m.answering.Wait()
	return err
}
