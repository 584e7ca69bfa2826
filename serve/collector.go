package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/datadir"
)

// A Collector is what waybill serve runs with role collect: it stands beside the switches, receives datagrams and gives
// them to the bus, divided by flow. It has no state but its spool.
type Collector struct {
	config     *Config
	log        *slog.Logger
	forwarders []*collect.Forwarder
	publisher  *bus.Publisher
	own        *ownMetrics
	dir        *datadir.Dir // nil: the spool is in memory
}

// NewCollector opens all files and sockets, so that what cannot be opened is known before anything runs.
func NewCollector(c *Config, logTo io.Writer) (*Collector, error) {
	level := new(slog.LevelVar)
	level.Set(c.Log.Level.Level)
	k := &Collector{config: c, log: command.NewLogger(logTo, level)}
	if err := k.open(); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *Collector) open() (err error) {
	c := k.config
	settings, err := c.settings()
	if err != nil {
		return err
	}
	name, err := c.Bus.ownName()
	if err != nil {
		return err
	}
	to, err := c.Bus.config("waybill collect " + name)
	if err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	size, _ := parseSize(c.Bus.Spool) // checkRole has seen it
	config := bus.PublisherConfig{
		Bus: to, Collector: name, Partitions: c.Bus.Partitions, SpoolBytes: int64(size), Log: k.log,
		Counters: k.counters, Whole: k.delivered,
	}
	if c.Data != "" {
		if k.dir, err = datadir.Open(c.Data); err != nil {
			return fmt.Errorf("data: %w", err)
		}
		config.Spool = filepath.Join(c.Data, "spool")
	}
	var sockets []*collect.Socket
	for _, address := range c.Listen {
		group, err := collect.Listen(collect.Config{
			Address: address, Sockets: c.Workers, ReceiveBuffer: c.receiveBuffer(), Coalesce: c.Coalesce,
			Stamp: true,
		})
		if err != nil {
			for _, s := range sockets {
				s.Close()
			}
			return err
		}
		if err := group[0].Fallback(); err != nil {
			k.log.Warn("frames of the interface cannot be read; reports are received by UDP sockets",
				"address", address, "err", err)
		}
		sockets = append(sockets, group...)
	}
	for _, socket := range sockets {
		k.forwarders = append(k.forwarders, collect.NewForwarder(socket, settings, c.Bus.Partitions, k.forward))
	}
	if k.publisher, err = bus.OpenPublisher(config); err != nil {
		return err
	}
	k.own, err = newOwnMetrics(c.HTTP, k.log, k, func() string {
		if !k.publisher.Stats().Connected {
			return "no connection to the bus"
		}
		return ""
	})
	return err
}

// forward gives a datagram to the bus.
func (k *Collector) forward(
	ctx context.Context, d *collect.Datagram, partition int, port uint16, atNs int64,
) error {
	return k.publisher.Add(ctx, partition, &bus.Datagram{
		ArrivedNs: atNs, Port: port, Source: d.Source, Payload: d.Payload, Truncated: d.Truncated,
	})
}

func (k *Collector) close() {
	if k.own != nil {
		_ = k.own.Stop()
	}
	if k.dir != nil {
		k.dir.Close()
	}
}

// counters returns those of all sockets.
func (k *Collector) counters() (n bus.Counters) {
	for _, f := range k.forwarders {
		s := f.Stats()
		n.Received += s.Received
		n.KernelDrops += s.KernelDrops
		n.Refused += s.Refused
	}
	return n
}

// delivered returns up to when all that arrived was given to the bus.
func (k *Collector) delivered(nowNs int64) int64 {
	at := nowNs
	for _, f := range k.forwarders {
		at = min(at, f.Delivered(nowNs))
	}
	return at
}

// Run receives until ctx is done or a socket has failed. Then it gives the bus what it has.
func (k *Collector) Run(ctx context.Context) error {
	defer k.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	publishing := background(k.publisher.Run)
	publishing.Start()
	k.own.Start()
	var receiving sync.WaitGroup
	for _, f := range k.forwarders {
		receiving.Go(func() {
			if err := f.Run(ctx); err != nil {
				stop(err)
			}
		})
		k.log.Info("receiving telemetry reports", "address", collect.URL(f.Stats().Address))
	}
	receiving.Wait()
	err := errors.Join(publishing.Stop(), k.own.Stop())
	unsent := uint64(0)
	for _, f := range k.forwarders {
		unsent += f.Stats().Unsent
	}
	n, sent := k.counters(), k.publisher.Stats()
	k.log.Info("stopped", "received", n.Received, "kernel_drops", n.KernelDrops, "refused", n.Refused, "unsent", unsent,
		"messages", sent.Published)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

var (
	collectReceivedDesc  = collectDesc("received_total", "Datagrams taken from the sockets.")
	collectDropsDesc     = collectDesc("kernel_drops_total", "Datagrams for which the receive buffers had no room.")
	collectRefusedDesc   = collectDesc("refused_total", "Datagrams of sources that the allow-list does not have.")
	collectUnsentDesc    = collectDesc("unsent_total", "Datagrams for which there was no room at the end.")
	collectPublishedDesc = collectDesc("published_messages_total", "Messages that the bus acknowledged.")
	collectAgainDesc     = collectDesc("republished_messages_total", "Messages that the bus had lost, and got again.")
	collectFailuresDesc  = collectDesc("publish_failures_total", "Attempts to publish that failed.")
	collectSpoolDesc     = collectDesc("spool_bytes", "What is kept until the analyzer confirms it.")
	collectConnectedDesc = collectDesc("connected", "1 while there is a connection to the bus.")
	collectConfirmedDesc = collectDesc("confirmed_timestamp_seconds",
		"When the analyzer last told what it has, in seconds since 1970.")
)

func collectDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("waybill_collect_"+name, help, nil, nil)
}

// Describe implements prometheus.Collector.
func (k *Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(k, ch) }

// Collect implements prometheus.Collector.
func (k *Collector) Collect(ch chan<- prometheus.Metric) {
	n, sent := k.counters(), k.publisher.Stats()
	unsent := uint64(0)
	for _, f := range k.forwarders {
		unsent += f.Stats().Unsent
	}
	connected := 0.0
	if sent.Connected {
		connected = 1
	}
	for _, m := range []struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value float64
	}{
		{collectReceivedDesc, prometheus.CounterValue, float64(n.Received)},
		{collectDropsDesc, prometheus.CounterValue, float64(n.KernelDrops)},
		{collectRefusedDesc, prometheus.CounterValue, float64(n.Refused)},
		{collectUnsentDesc, prometheus.CounterValue, float64(unsent)},
		{collectPublishedDesc, prometheus.CounterValue, float64(sent.Published)},
		{collectAgainDesc, prometheus.CounterValue, float64(sent.Republished)},
		{collectFailuresDesc, prometheus.CounterValue, float64(sent.Failures)},
		{collectSpoolDesc, prometheus.GaugeValue, float64(sent.SpoolBytes)},
		{collectConnectedDesc, prometheus.GaugeValue, connected},
		{collectConfirmedDesc, prometheus.GaugeValue, float64(sent.ConfirmedNs) / 1e9},
	} {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value)
	}
}
