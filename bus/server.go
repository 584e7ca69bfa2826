package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A ServerConfig describes a NATS server in this process.
type ServerConfig struct {
	Listen   string // HOST:PORT, port 0 for any
	Dir      string // of JetStream
	MaxBytes int64  // that JetStream may take on disk
	// NKeys are the public keys of those who may connect; empty: everybody may.
	NKeys []string
	TLS   *tls.Config // nil: in the clear
	Log   *slog.Logger
}

// A Server is a NATS server with JetStream in this process.
type Server struct{ server *server.Server }

// OpenServer starts a server.
func OpenServer(c ServerConfig) (*Server, error) {
	host, portText, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("bus: listen: %w", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, fmt.Errorf("bus: listen: got port %q, want a number", portText)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: "waybill", Host: host, Port: port, NoSigs: true, JetStream: true, StoreDir: c.Dir,
		JetStreamMaxStore: c.MaxBytes, JetStreamMaxMemory: 16 << 20, SyncAlways: true, TLSConfig: c.TLS,
		MaxPayload: MaxMessageBytes,
	}
	if c.TLS != nil {
		o.TLS, o.TLSVerify = true, c.TLS.ClientAuth == tls.RequireAndVerifyClientCert
		o.TLSTimeout = 5
	}
	for _, key := range c.NKeys {
		o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: key})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	s.SetLoggerV2(serverLog{c.Log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("bus: the NATS server did not start; the port may be taken")
	}
	return &Server{s}, nil
}

// URL returns where the server is.
func (s *Server) URL() string { return s.server.ClientURL() }

// Close stops the server. What it has stays on disk.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// serverLog is the log of a server: what goes wrong.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Noticef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}

func (l serverLog) Warnf(format string, v ...any) { l.log.Warn("nats: " + fmt.Sprintf(format, v...)) }

func (l serverLog) Fatalf(format string, v ...any) { l.log.Error("nats: " + fmt.Sprintf(format, v...)) }

func (l serverLog) Errorf(format string, v ...any) { l.log.Error("nats: " + fmt.Sprintf(format, v...)) }
func (l serverLog) Debugf(string, ...any)          {}
func (l serverLog) Tracef(string, ...any)          {}
