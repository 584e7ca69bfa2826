package serve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/conf/secure"
)

// The roles of a server.
const (
	roleAll     = "all"     // receives reports and analyzes them
	roleCollect = "collect" // receives reports and gives them to the bus
	roleAnalyze = "analyze" // takes reports from the bus
	roleTables  = "tables"  // has tables for an analyzer
	roleQuery   = "query"   // answers for an analyzer
)

// busSettings say where the bus is that carries datagrams from collectors to the analyzer.
type busSettings struct {
	URLs        []string `yaml:"urls" doc:"servers of NATS, nats://HOST:PORT or tls://HOST:PORT, or brokers of Kafka, kafka://HOST:PORT"`
	Embedded    string   `yaml:"embedded" doc:"address on which the analyzer runs a server of NATS itself, HOST:PORT"`
	Insecure    bool     `yaml:"insecure" doc:"allow embedded on an address that others can reach without nkeys, or without TLS"`
	NKeys       []string `yaml:"nkeys" doc:"public keys of those who may connect to embedded; without any, everybody may"`
	Standby     bool     `yaml:"standby" doc:"one of several analyzers works, elected on the bus, and the others stand by; needs urls of servers of NATS, data and store.clickhouse"`
	Name        string   `yaml:"name" doc:"of this server on the bus, letters, digits, - and _; without it that of the host"`
	Partitions  int      `yaml:"partitions" doc:"parts of the flows, whose datagrams a collector sends together; 1 to 256"`
	Replicas    int      `yaml:"replicas" doc:"servers that each keep all datagrams, 1 to 5; 3 of a cluster of three"`
	MaxSize     string   `yaml:"max_size" doc:"what the bus keeps at most; then collectors keep what arrives"`
	Spool       string   `yaml:"spool" doc:"what a collector keeps at most, in data or in memory; then the sockets fill"`
	Credentials string   `yaml:"credentials" doc:"file with a JWT and its key, or for Kafka USER:PASSWORD (SCRAM-SHA-512), to log in to the bus"`
	NKey        string   `yaml:"nkey" doc:"file with a seed, to log in to servers of NATS"`
	TLS         busTLS   `yaml:"tls" doc:"certificates on the way to the bus, and of embedded; connections to Kafka are secured if there is any"`
}

// busTLS are the files of TLS between Waybill and the bus.
type busTLS struct {
	CA   string `yaml:"ca" doc:"file with the authorities that sign the others' certificates, PEM; without it those of the system"`
	Cert string `yaml:"cert" doc:"file with the certificate to show, PEM"`
	Key  string `yaml:"key" doc:"file with its key, PEM"`
}

func defaultBusSettings() busSettings {
	return busSettings{Partitions: 8, Replicas: 1, MaxSize: "8GiB", Spool: "256MiB"}
}

// on reports whether there is a bus.
func (b *busSettings) on() bool { return len(b.URLs) > 0 || b.Embedded != "" }

// checkRole refuses roles that cannot work.
func (c *Config) checkRole() error {
	b := &c.Bus
	if err := c.Tables.check(c.Role); err != nil {
		return err
	}
	if err := c.Analyzer.check(c.Role); err != nil {
		return err
	}
	switch c.Role {
	case roleQuery:
		return c.checkQuery()
	case roleTables:
		switch {
		case b.Embedded != "" || bus.IsKafka(b.URLs):
			return errors.New("bus: role is tables, which takes messages from servers of NATS, in urls; without any, the analyzer relays to it")
		case c.Data != "":
			return errors.New("data: role is tables, which keeps nothing; the analyzer does")
		case c.Tokens != "" || c.TLS.on():
			return errors.New(
				"role tables answers metrics only, in the clear and to everybody; want no tokens and no tls, and http on a loopback address")
		}
		return b.checkConnection()
	case roleAll:
		if b.on() {
			return errors.New("bus: role is all, which needs no bus; want collect or analyze, or no bus")
		}
		return nil
	case roleCollect:
		if b.Embedded != "" {
			return errors.New("bus: embedded: the analyzer runs the server; a collector has its address in urls")
		}
		if c.Tokens != "" || c.TLS.on() {
			return errors.New(
				"role collect answers metrics only, in the clear and to everybody; want no tokens and no tls, and http on a loopback address")
		}
		name, err := b.ownName()
		if err == nil {
			err = bus.CheckName(name)
		}
		if err != nil {
			return fmt.Errorf("bus: name: got %q, %w", name, err)
		}
	case roleAnalyze:
		if c.RawReports != "" {
			return errors.New("raw_reports: a server that analyzes has none; they are kept with role all only")
		}
	default:
		return fmt.Errorf("role: got %q, want all, collect, analyze, tables or query", c.Role)
	}
	if !b.on() {
		return fmt.Errorf("bus: role %s needs urls of servers of NATS, or embedded at the analyzer", c.Role)
	}
	if len(b.URLs) > 0 && b.Embedded != "" {
		return errors.New("bus: want urls or embedded, not both")
	}
	if err := b.checkConnection(); err != nil {
		return err
	}
	if b.Partitions < 1 || b.Partitions > bus.MaxPartitions {
		return fmt.Errorf("bus: partitions: got %d, want 1 to 256", b.Partitions)
	}
	if b.Replicas < 1 || b.Replicas > 5 {
		return fmt.Errorf("bus: replicas: got %d, want 1 to 5", b.Replicas)
	}
	for _, size := range []struct{ key, text string }{{"max_size", b.MaxSize}, {"spool", b.Spool}} {
		if n, err := parseSize(size.text); err != nil {
			return fmt.Errorf("bus: %s: %w", size.key, err)
		} else if n < 16<<20 {
			return fmt.Errorf("bus: %s: got %s, want at least 16MiB", size.key, size.text)
		}
	}
	if err := c.checkStandby(); err != nil || b.Embedded == "" {
		return err
	}
	if c.Data == "" {
		return errors.New("bus: embedded: there is no directory for what it keeps; data names one")
	}
	address, err := netip.ParseAddrPort(b.Embedded)
	if err != nil {
		return fmt.Errorf("bus: embedded: got %q, want an address and a port, such as 127.0.0.1:4222", b.Embedded)
	}
	if !address.Addr().IsLoopback() && !b.Insecure && (len(b.NKeys) == 0 || b.TLS.Cert == "") {
		return errors.New(
			"bus: embedded: others can reach this address; give nkeys and tls, listen on 127.0.0.1, or set insecure")
	}
	return nil
}

// checkConnection refuses what no connection can be made with.
func (b *busSettings) checkConnection() error {
	if err := bus.CheckURLs(b.URLs); err != nil {
		return fmt.Errorf("bus: urls: %w", err)
	}
	if (b.TLS.Cert == "") != (b.TLS.Key == "") {
		return errors.New("bus: tls: cert and key are needed together")
	}
	if _, err := b.TLS.config(); err != nil {
		return fmt.Errorf("bus: tls: %w", err)
	}
	return nil
}

// ownName returns the name of this server on the bus.
func (b *busSettings) ownName() (string, error) {
	if b.Name != "" {
		return b.Name, nil
	}
	name, err := os.Hostname()
	return strings.ReplaceAll(name, ".", "-"), err
}

// config returns what connections use; nil: they are in the clear.
func (f *busTLS) config() (*tls.Config, error) {
	if *f == (busTLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		var err error
		if c.RootCAs, err = secure.ReadCAs(f.CA); err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		c.ClientCAs = c.RootCAs
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// config returns how to connect.
func (b *busSettings) config(name string) (bus.Config, error) {
	secure, err := b.TLS.config()
	size, _ := parseSize(b.MaxSize) // checkRole has seen it
	return bus.Config{
		URLs: b.URLs, Name: name, Credentials: b.Credentials, NKey: b.NKey, TLS: secure,
		Stream: bus.StreamConfig{Replicas: b.Replicas, MaxBytes: int64(size)},
	}, err
}

// A busReceiver is the component that takes datagrams from the bus, at the analyzer.
type busReceiver struct {
	*tasks
	consumer *bus.Consumer
	server   *bus.Server // nil: the servers are elsewhere
	kept     bool        // by the checkpointer
	name     string      // of the analyzer
	servers  []string    // of NATS
	list     []collect.Datagram
}

// busListen is what stands for an address where datagrams come from the bus.
const busListen = "bus"

// openBus opens what role analyze takes datagrams from. It goes on where the process before this one was.
func (s *Server) openBus() error {
	if s.Config.Role != roleAnalyze {
		return nil
	}
	b := &s.Config.Bus
	config, err := b.config("waybill analyze")
	if err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	name, err := b.ownName()
	if err != nil {
		return err
	}
	t := &busReceiver{kept: s.checkpoints != nil, name: name}
	if b.Embedded != "" {
		t.server, err = bus.OpenServer(bus.ServerConfig{
			Listen: b.Embedded, Dir: filepath.Join(s.Config.Data, "bus"), MaxBytes: 2 * config.Stream.MaxBytes,
			NKeys: b.NKeys, TLS: config.TLS, Log: s.log,
		})
		if err != nil {
			return err
		}
		s.opened = append(s.opened, t.server.Close)
		config.URLs = []string{t.server.URL()}
	}
	t.servers = redacted(config.URLs)
	var from *bus.Positions
	var connected func()
	if s.checkpoints != nil && s.checkpoints.bus != nil {
		from = new(bus.Positions)
		if err := json.Unmarshal(s.checkpoints.bus, from); err != nil {
			return fmt.Errorf("data: the checkpoint has no position of the bus that can be read: %w", err)
		}
	}
	if s.checkpoints != nil {
		s.Collector.Hold() // until the bus is there: it may be away for long
		connected = s.Collector.Release
		if err := s.Collector.RestoreWaiting(s.checkpoints.waiting, time.Now().UnixNano()); err != nil {
			return fmt.Errorf("data: the checkpoint has packets that cannot be read: %w", err)
		}
	}
	receiver := s.Receivers[0]
	consumer := bus.ConsumerConfig{
		Bus: config, From: from, Log: s.log, Connected: connected,
		Deliver: func(list []bus.Datagram) { t.deliver(receiver, list) },
	}
	if s.tables != nil && s.tables.Direct() {
		consumer.Holders = s.tables
	}
	t.consumer, err = bus.OpenConsumer(consumer)
	if err != nil {
		return err
	}
	t.tasks = background(t.consumer.Run, t.confirm)
	s.bus = t
	if s.checkpoints != nil {
		s.checkpoints.consumer = t.consumer
	}
	return nil
}

// together is how far apart datagrams may have arrived that are processed as one batch, at the time of the last.
const together = int64(time.Millisecond)

// deliver hands datagrams to the receiver: in pieces that arrived at about the same time.
func (t *busReceiver) deliver(receiver *collect.Receiver, list []bus.Datagram) {
	for len(list) > 0 {
		t.list = t.list[:0]
		first, lastNs := &list[0], int64(0)
		for i := range list {
			d := &list[i]
			if d.ArrivedNs-first.ArrivedNs > together || d.Port != first.Port {
				break
			}
			lastNs = max(lastNs, d.ArrivedNs)
			t.list = append(t.list, collect.Datagram{
				Collector: d.Collector, Source: d.Source, Payload: d.Payload, Truncated: d.Truncated,
				Kept: collect.Kept(d.Kept),
			})
		}
		receiver.Receive(t.list, first.Port, min(lastNs, time.Now().UnixNano()))
		list = list[len(t.list):]
	}
}

// confirm lets collectors forget what was taken, if nothing outlives the process anyway.
func (t *busReceiver) confirm(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for !t.kept {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var at *bus.Positions
		t.consumer.Hold(func(now *bus.Positions) { at = now })
		t.consumer.Confirm(at)
	}
}

// Stop implements component.
func (t *busReceiver) Stop() error {
	err := t.tasks.Stop()
	if t.server != nil {
		t.server.Close()
	}
	return err
}

// busSocket is the socket of the ledger that stands for the bus.
func (s *Server) busSocket() ledger.Socket {
	return ledger.Socket{Listen: busListen, Address: busListen, Drops: func() (uint64, error) {
		if s.bus == nil {
			return 0, errors.ErrUnsupported
		}
		return s.bus.consumer.KernelDrops(), nil
	}}
}

// clock returns the time by which the tables are looked at: that up to which all that arrived was taken.
func (s *Server) clock(now time.Time) int64 {
	if s.bus == nil {
		return now.UnixNano()
	}
	return s.bus.consumer.Delivered(now.UnixNano())
}

var (
	busDeliveredDesc = busDesc("collector_delivered_datagrams_total",
		"Datagrams of a collector that arrived here.", "collector")
	busLostDesc = busDesc("collector_lost_datagrams_total",
		"Datagrams that neither the bus nor the collector had any more.", "collector")
	busDropsDesc = busDesc("collector_kernel_drops_total",
		"Datagrams for which the receive buffers of a collector had no room, since it started.", "collector")
	busRefusedDesc = busDesc("collector_refused_total",
		"Datagrams of sources that the allow-list of a collector does not have, since it started.", "collector")
	busSpoolDesc = busDesc("collector_spool_bytes", "What a collector keeps until it is confirmed.", "collector")
	busSeenDesc  = busDesc("collector_seen_timestamp_seconds",
		"When the latest message of a collector arrived, in seconds since 1970.", "collector")
	busPendingDesc    = busDesc("pending_messages", "Messages on the bus that are not delivered yet.")
	busConnectedDesc  = busDesc("connected", "1 while there is a connection to the bus.")
	busDuplicatesDesc = busDesc("duplicate_messages_total", "Messages that arrived again, and were not delivered again.")
	busDamagedDesc    = busDesc("damaged_messages_total", "Messages that could not be read.")
)

func busDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_bus_"+name, help, labels, nil)
}

// metrics returns those of the bus.
func (t *busReceiver) metrics() prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	if t != nil {
		registry.MustRegister(t)
	}
	return registry
}

// Describe implements prometheus.Collector.
func (t *busReceiver) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(t, ch) }

// Collect implements prometheus.Collector.
func (t *busReceiver) Collect(ch chan<- prometheus.Metric) {
	metric := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	for _, c := range t.consumer.Collectors() {
		metric(busDeliveredDesc, prometheus.CounterValue, float64(c.Delivered), c.Name)
		metric(busLostDesc, prometheus.CounterValue, float64(c.Lost), c.Name)
		metric(busDropsDesc, prometheus.CounterValue, float64(c.Counters.KernelDrops), c.Name)
		metric(busRefusedDesc, prometheus.CounterValue, float64(c.Counters.Refused), c.Name)
		metric(busSpoolDesc, prometheus.GaugeValue, float64(c.Counters.Spooled), c.Name)
		metric(busSeenDesc, prometheus.GaugeValue, float64(c.SeenNs)/1e9, c.Name)
	}
	n := t.consumer.Stats()
	connected := 0.0
	if n.Connected {
		connected = 1
	}
	metric(busConnectedDesc, prometheus.GaugeValue, connected)
	metric(busPendingDesc, prometheus.GaugeValue, float64(n.Pending))
	metric(busDuplicatesDesc, prometheus.CounterValue, float64(n.Duplicates))
	metric(busDamagedDesc, prometheus.CounterValue, float64(n.Damaged))
}
