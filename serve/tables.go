package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/tables"
)

// ErrBeginAnew says that a server does not go on, and that one that begins where the latest checkpoint is should.
var ErrBeginAnew = errors.New("reports since the latest checkpoint are replayed from the bus")

// errOtherTables says why a server begins anew whose configuration was read again.
var errOtherTables = errors.New("tables.servers changed")

// tablesSettings say where the tables of flows are, if not in the process of the analyzer.
type tablesSettings struct {
	Servers  []string `yaml:"servers" reload:"yes" doc:"where servers with role tables listen, HOST:PORT; the analyzer has none of its own then"`
	Listen   string   `yaml:"listen" doc:"address on which a server with role tables has them for an analyzer, HOST:PORT"`
	Insecure bool     `yaml:"insecure" doc:"allow listen on an address that others can reach without certificates"`
	TLS      busTLS   `yaml:"tls" doc:"certificates of both sides; ca says whose the other one may have"`
}

// check refuses what cannot work with a role, and what is not safe.
func (t *tablesSettings) check(role string) error {
	if role != roleTables && t.Listen != "" {
		return errors.New("tables: listen: want role tables, or servers at the analyzer")
	}
	if role != roleAnalyze && len(t.Servers) > 0 {
		return fmt.Errorf("tables: servers: got role %s, want analyze: reports from sockets cannot be replayed", role)
	}
	for i, server := range t.Servers {
		if _, _, err := net.SplitHostPort(server); err != nil || slices.Contains(t.Servers[:i], server) {
			return fmt.Errorf("tables: servers: got %q, want HOST:PORT, each once", server)
		}
	}
	if (t.TLS.Cert == "") != (t.TLS.Key == "") {
		return errors.New("tables: tls: cert and key are needed together")
	}
	if _, err := t.TLS.config(); err != nil {
		return fmt.Errorf("tables: tls: %w", err)
	}
	if role != roleTables {
		return nil
	}
	address, err := netip.ParseAddrPort(t.Listen)
	if err != nil {
		return fmt.Errorf("tables: listen: got %q, want an address and a port, such as 127.0.0.1:7100", t.Listen)
	}
	if !address.Addr().IsLoopback() && !t.Insecure && (t.TLS.Cert == "" || t.TLS.CA == "") {
		return errors.New(
			"tables: listen: others can reach this address; give tls with cert, key and ca, listen on 127.0.0.1, or set insecure")
	}
	return nil
}

// tablesConfig says which servers have the tables, and how they are asked.
func (s *Server) tablesConfig(t *tablesSettings) (c tables.Config, err error) {
	c = tables.Config{
		Addresses: t.Servers, Version: s.Config.Version, Points: s.points(), Delivered: s.delivered, Log: s.log,
		Partitions: s.Config.Bus.Partitions, Direct: !bus.IsKafka(s.Config.Bus.URLs),
	}
	if c.TLS, err = t.TLS.config(); err != nil {
		err = fmt.Errorf("tables: tls: %w", err)
	}
	return c, err
}

// openTables asks servers for tables, and waits for them.
func (s *Server) openTables(ctx context.Context) error {
	c, err := s.tablesConfig(&s.Config.Tables)
	if err != nil {
		return err
	}
	if s.tables, err = tables.Open(ctx, c); err != nil {
		return err
	}
	s.opened = append(s.opened, s.tables.Close)
	s.Collector.Owners = s.tables.Owners()
	if s.Config.policy != nil {
		for _, owner := range s.Collector.Owners {
			owner.SetPolicy(s.Config.policy)
		}
	}
	return nil
}

// checkTables returns an error if servers that are to have the tables do not answer.
func (s *Server) checkTables(next *Config) error {
	if slices.Equal(next.Tables.Servers, s.current.Tables.Servers) {
		return nil
	}
	c, err := s.tablesConfig(&next.Tables)
	if err == nil {
		err = tables.Check(c)
	}
	if err != nil {
		return fmt.Errorf("tables: servers: %w", err)
	}
	return nil
}

// beginAnewWith ends the server, if others are to have the tables: one that begins anew gives out the flows to them.
func (s *Server) beginAnewWith(next *Config) {
	if slices.Equal(next.Tables.Servers, s.current.Tables.Servers) {
		return
	}
	select {
	case s.otherTables <- struct{}{}:
	default:
	}
}

// tablesGone has an error when a server with tables is gone.
func (s *Server) tablesGone() <-chan error {
	if s.tables == nil {
		return nil
	}
	return s.tables.Gone()
}

// tableServers lists those that have the tables.
func (s *Server) tableServers() []types.TableServer {
	list := []types.TableServer{}
	if s.tables == nil {
		return list
	}
	for _, t := range s.tables.Servers() {
		list = append(list, types.TableServer{
			Address: t.Address, Shards: t.Shards, Reports: t.Reports, Flows: t.Flows, FlowLimit: t.FlowLimit,
			RelayedBytes: t.Relayed, Partitions: append([]int{}, t.Partitions...),
		})
	}
	return list
}

// Tables is what waybill serve runs with role tables: the tables of flows for an analyzer elsewhere. It keeps nothing.
type Tables struct {
	log    *slog.Logger
	server *tables.Server
	bus    *bus.Reader // nil: the analyzer relays
	own    *ownMetrics
}

// NewTables opens all sockets, so that what cannot be opened is known before anything runs.
func NewTables(c *Config, logTo io.Writer) (*Tables, error) {
	level := new(slog.LevelVar)
	level.Set(c.Log.Level.Level)
	t := &Tables{log: command.NewLogger(logTo, level)}
	memory, _ := parseSize(c.Memory) // check has seen it
	debug.SetMemoryLimit(int64(memory))
	secure, err := c.Tables.TLS.config()
	if err != nil {
		return nil, fmt.Errorf("tables: tls: %w", err)
	}
	if secure != nil && secure.ClientCAs != nil {
		secure.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if c.Bus.on() {
		from, err := c.Bus.config("waybill tables " + c.Tables.Listen)
		if err != nil {
			return nil, fmt.Errorf("bus: %w", err)
		}
		if t.bus, err = bus.OpenReader(from, t.log); err != nil {
			return nil, err
		}
	}
	t.server, err = tables.Listen(tables.ServerConfig{
		Listen: c.Tables.Listen, TLS: secure, Shards: c.Workers, Tables: c.tableConfig(), Version: c.Version,
		Bus: t.bus, Held: heldMemory(memory, c.Workers), Log: t.log,
	})
	if err != nil {
		t.closeBus()
		return nil, fmt.Errorf("tables: listen: %w", err)
	}
	if t.own, err = newOwnMetrics(c.HTTP, t.log, t, func() string {
		if !t.server.Stats().Connected {
			return "no analyzer connected"
		}
		if t.bus != nil && !t.bus.Connected() {
			return "no connection to the bus"
		}
		return ""
	}); err != nil {
		t.server.Close()
		t.closeBus()
	}
	return t, err
}

// heldMemory returns how much each of some shards may keep of what it has taken from the bus: an eighth of all memory
// together, or what is sent at once.
func heldMemory(memory uint64, shards int) int { return int(max(memory/8/uint64(shards), 16<<20)) }

func (t *Tables) closeBus() {
	if t.bus != nil {
		t.bus.Close()
	}
}

// Address is where the analyzer finds the tables.
func (t *Tables) Address() string { return t.server.Address() }

// Run has the tables until ctx is done.
func (t *Tables) Run(ctx context.Context) error {
	defer t.closeBus()
	t.own.Start()
	t.log.Info("serving tables to an analyzer", "address", t.Address())
	t.server.Run(ctx)
	n := t.server.Stats()
	t.log.Info("stopped", "reports", n.Reports, "analyzers", n.Analyzers)
	return t.own.Stop()
}

var (
	tablesReportsDesc   = tablesDesc("reports", "Reports that the tables of the analyzer at hand got.")
	tablesFlowsDesc     = tablesDesc("flows", "Flows in them.")
	tablesLimitDesc     = tablesDesc("flow_limit", "Flows for which they have room.")
	tablesConnectedDesc = tablesDesc("connected", "1 while an analyzer has them.")
	tablesAnalyzersDesc = tablesDesc("analyzers_total", "Analyzers that took them, one after the other; they were empty for each.")
	tablesRelayedDesc   = tablesDesc("relayed_bytes_total", "Bytes of datagrams that the analyzer relayed.")
	tablesTakenDesc     = tablesDesc("taken_bytes_total", "Bytes of messages that were taken from the bus.")
	tablesHeldDesc      = tablesDesc("held_bytes", "Messages taken from the bus that wait until the analyzer says when.")
	tablesAnsweredDesc  = tablesDesc("questions_total", "Questions of analyzers.")
	tablesRefusedDesc   = tablesDesc("refused_connections_total", "Connections of others than analyzers of the same build.")
)

func tablesDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_tables_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (t *Tables) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(t, ch) }

// Collect implements prometheus.Collector.
func (t *Tables) Collect(ch chan<- prometheus.Metric) {
	n := t.server.Stats()
	connected := 0.0
	if n.Connected {
		connected = 1
	}
	for _, m := range []struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value float64
	}{
		{tablesReportsDesc, prometheus.GaugeValue, float64(n.Reports)},
		{tablesFlowsDesc, prometheus.GaugeValue, float64(n.Flows)},
		{tablesLimitDesc, prometheus.GaugeValue, float64(n.FlowLimit)},
		{tablesConnectedDesc, prometheus.GaugeValue, connected},
		{tablesAnalyzersDesc, prometheus.CounterValue, float64(n.Analyzers)},
		{tablesRelayedDesc, prometheus.CounterValue, float64(n.Received)},
		{tablesTakenDesc, prometheus.CounterValue, float64(n.Taken)},
		{tablesHeldDesc, prometheus.GaugeValue, float64(n.Held)},
		{tablesAnsweredDesc, prometheus.CounterValue, float64(n.Answered)},
		{tablesRefusedDesc, prometheus.CounterValue, float64(n.Refused)},
	} {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value)
	}
}

// tableConfig returns the bounds of the tables, of one of the workers.
func (c *Config) tableConfig() analyze.Config {
	memory, _ := parseSize(c.Memory) // check has seen it
	return analyze.ConfigFor(tableMemory(c, memory), c.Workers)
}
