package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/console"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/store"
	"golang.org/x/sync/errgroup"
)

// MaxEvents is how many events that go on are kept, and how many that are over.
const MaxEvents = 4096

// A Server is everything that waybill serve runs.
type Server struct {
	Config      *Config
	log         *slog.Logger
	troubles    *store.Troubles // what the disk does not take
	Collector   *analyze.Collector
	Events      *eventlog.Log
	bursts      *analyze.BurstLog
	ledger      *ledger.Ledger
	checkpoints *checkpointer    // nil: nothing outlives the process
	keeper      *keeper          // nil: nothing is kept
	raw         *rawReports      // nil: datagrams are not kept
	alerts      *alert.Engine    // nil without rules
	queues      []*collect.Queue // to the shards; none if there is one shard, which receivers call themselves
	Receivers   []*collect.Receiver
	listener    net.Listener
	http        *http.Server
	demo        *demo // nil: there is none
	guard       *auth.Guard
	secure      *auth.TLS // nil: plain HTTP
	connections *auth.Connections
	receiving   atomic.Bool
	stopping    chan struct{} // closed when the HTTP server stops
}

// New opens all sockets, so that what cannot be opened is known before anything runs.
func New(c *Config, logTo io.Writer) (_ *Server, err error) {
	s := &Server{Config: c, log: command.NewLogger(logTo), Collector: &analyze.Collector{Names: c.NodeNames(), Timing: analyze.NewTiming()}, Events: eventlog.New(MaxEvents)}
	if s.guard, s.secure, err = openAccess(c, toldBy(s.log)); err != nil {
		return nil, err
	}
	permits, err := c.permits()
	if err != nil {
		return nil, err
	}
	if s.Collector.Sampling, err = c.samplingByNode(); err != nil {
		return nil, err
	}
	memory, _ := parseSize(c.Memory)
	shardConfig := analyze.ConfigFor(tableMemory(c, memory), c.Workers)
	shardConfig.HashSeed = rand.Uint64()
	s.bursts = analyze.NewBurstLog(memory / 64)
	if c.policy != nil {
		shardConfig.Policy = c.policy
	}
	debug.SetMemoryLimit(int64(memory))
	for range c.Workers {
		shard := analyze.NewShard(shardConfig)
		s.Collector.Shards = append(s.Collector.Shards, shard)
		if c.Workers > 1 {
			s.queues = append(s.queues, collect.NewQueue(shard))
		}
	}
	var sockets []*collect.Socket
	defer func() {
		if err != nil {
			for _, socket := range sockets {
				socket.Close()
			}
			s.keeper.close()
		}
	}()
	for _, address := range c.Listen {
		group, err := collect.Listen(collect.Config{Address: address, Sockets: c.Workers, ReceiveBuffer: c.receiveBuffer(), Coalesce: c.Coalesce})
		if err != nil {
			return nil, err
		}
		if wanted, got := group[0].ReceiveBuffer(); got < wanted {
			s.log.Warn("the kernel gave a smaller receive buffer than asked; bursts of reports may be lost (they are counted)",
				"address", address, "asked", wanted, "got", got, "help", fmt.Sprintf("sysctl -w net.core.rmem_max=%d", wanted))
		}
		if c.Coalesce && !group[0].Coalesced() {
			s.log.Info("the kernel hands over datagrams one by one, which takes three times as long; runs need Linux 5.7 and root or CAP_BPF",
				"address", address, "help", "setcap cap_bpf,cap_net_admin+ep, or coalesce: false")
		}
		sockets = append(sockets, group...)
	}
	ledgerSockets := make([]ledger.Socket, len(sockets))
	for i, socket := range sockets {
		ledgerSockets[i] = ledger.Socket{Listen: c.Listen[i/(len(sockets)/len(c.Listen))], Address: socket.Addr().String(), Drops: socket.Drops}
		exporters := ledger.NewExporters(exporterLimit(memory, len(sockets)))
		s.Collector.Exporters = append(s.Collector.Exporters, exporters)
		receiver := collect.NewReceiver(socket, c.Points, exporters, s.owners())
		if permits != nil {
			receiver.Only(permits)
		}
		s.Receivers = append(s.Receivers, receiver)
	}
	s.ledger = ledger.New(s.Collector.Exporters, ledgerSockets, s.Collector.Names, s.Collector)
	s.troubles = store.NewTroubles(s.log)
	if c.Data != "" {
		if err = s.openData(len(sockets) / len(c.Listen)); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.checkpoints.dir.Close()
			}
		}()
	}
	if s.keeper, err = openKeeper(c, s.Collector, s.Events, s.bursts, s.troubles, s.log); err != nil {
		return nil, err
	}
	if s.raw, err = openRawReports(c, sockets, s.Receivers, s.troubles); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", c.HTTP); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("listen on http://%s: the port is in use; stop what uses it or choose another with --http", c.HTTP)
		}
		return nil, fmt.Errorf("listen on http://%s: %w", c.HTTP, err)
	}
	if s.alerts, err = newAlerts(c, s.Events, s.log); err != nil {
		s.listener.Close()
		return nil, err
	}
	s.connections = auth.LimitConnections(s.listener, maxClientConnections)
	s.stopping = make(chan struct{})
	s.demo = newDemo(s)
	s.http = newHTTPServer(s.handler(), s.secure, s.log)
	s.http.RegisterOnShutdown(sync.OnceFunc(func() { close(s.stopping) }))
	return s, nil
}

// openData opens the data directory and takes what the last process left there.
func (s *Server) openData(perAddress int) error {
	dir, err := datadir.Open(s.Config.Data)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	s.checkpoints = &checkpointer{dir: dir, ledger: s.ledger, events: s.Events, troubles: s.troubles, log: s.log}
	if err := s.checkpoints.restore(s.Config.Listen, perAddress); err != nil {
		dir.Close()
		return err
	}
	return nil
}

// owners returns what a receiver hands its reports to.
func (s *Server) owners() []collect.Handover {
	if len(s.queues) == 0 {
		return []collect.Handover{collect.Direct(s.Collector.Shards[0])}
	}
	owners := make([]collect.Handover, len(s.queues))
	for i, q := range s.queues {
		owners[i] = q
	}
	return owners
}

// tick tells the time to the shards that no queue does it for.
func (s *Server) tick(ctx context.Context) {
	if len(s.queues) > 0 {
		return
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C: // maybe a while ago
			s.Collector.Shards[0].Tick(time.Now().UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// scan looks for events until ctx is done.
func (s *Server) scan(ctx context.Context) {
	scanner := analyze.NewScanner(s.Collector, s.Events)
	scanner.KeepBursts(s.Config.burstConfig(), s.bursts)
	ticker := time.NewTicker(time.Duration(analyze.TickNs))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			s.ledger.Tick(now.UnixNano())
			scanner.Scan(now.UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// exporterLimit returns how many exporters each of the receivers may keep an account of: a sixteenth of the memory.
func exporterLimit(memory uint64, receivers int) int {
	const perExporter = 5000 // bytes, with intervals
	return int(min(max(memory/16/uint64(receivers)/perExporter, 64), 4096))
}

// Run receives and serves until ctx is done, then takes what is still in the sockets.
func (s *Server) Run(ctx context.Context) error {
	hangups, stopHangups := s.hangups() // before anybody can know that it runs
	defer stopHangups()
	for _, r := range s.Receivers {
		s.log.Info("receiving telemetry reports", "address", "udp://"+r.Stats().Address)
	}
	s.log.Info("serving console and API", "url", s.URL())
	s.sayWhoMayAsk()

	s.keeper.start()
	s.raw.start()
	owning, stopOwners := context.WithCancel(context.Background())
	var owners errgroup.Group
	for _, q := range s.queues {
		owners.Go(func() error { q.Run(owning); return nil })
	}
	owners.Go(func() error { s.tick(owning); return nil })
	owners.Go(func() error { s.scan(owning); return nil })
	owners.Go(func() error { s.reloadOnHangup(owning); return nil })
	owners.Go(func() error { s.sayRefused(owning); return nil })
	if s.checkpoints != nil {
		owners.Go(func() error { s.checkpoints.run(owning); return nil })
	}
	owners.Go(func() error { return s.runAlerts(owning, hangups) })
	group, ctx := errgroup.WithContext(ctx)
	s.receiving.Store(true)
	context.AfterFunc(ctx, func() { s.receiving.Store(false) })
	var receivers errgroup.Group
	for _, r := range s.Receivers {
		receivers.Go(func() error { return r.Run(ctx) })
	}
	group.Go(receivers.Wait)
	group.Go(s.serveHTTP)
	group.Go(func() error {
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		return s.http.Shutdown(closing)
	})
	err := group.Wait()
	s.demo.Stop()
	stopOwners()
	owners.Wait()
	if s.checkpoints != nil {
		s.checkpoints.finish()
	}
	s.keeper.stop()
	s.raw.stop()
	s.sayGoodbye()
	return err
}

// sayGoodbye tells in one line what came and what was lost.
func (s *Server) sayGoodbye() {
	var received, drops, damaged, malformed, refused uint64
	for _, r := range s.Receivers {
		n := r.Stats()
		received += n.Received
		drops += n.KernelDrops
		damaged += n.Damaged
		malformed += n.Malformed
		refused += n.Refused
	}
	s.log.Info("stopped", "received", received, "kernel_drops", drops, "damaged", damaged, "malformed", malformed, "refused", refused)
}

// handler serves console, API and metrics.
func (s *Server) handler() http.Handler {
	var metrics prometheus.Gatherers
	if s.Config.Data != "" {
		metrics = prometheus.Gatherers{s.checkpoints.metrics(), s.keeper.metrics(), s.raw.metrics()}
	}
	config := api.Config{
		Metrics: metrics, Collector: s.Collector, Events: s.Events, Bursts: s.bursts, Ledger: s.ledger, Alerts: s.alerts, Listeners: s.listeners, Refused: s.refused, Ready: s.ready, Console: console.Files(), Hosts: s.Config.Hosts,
		Version: s.Config.Version, Logger: s.log, Access: s.guard, RefusedConnections: s.connections.Refused, OpenMetrics: s.Config.Metrics == "open", SQL: s.keeper.sql(), History: s.keeper.history(), Between: s.keeper.between(), Written: s.keeper.written(), Reports: s.raw.kept(), Points: s.Config.Points, Stopping: s.stopping, KeptFine: s.Config.Store.Keep10s, KeptMinute: s.Config.Store.Keep1m,
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

// listeners returns the state of the sockets as the API shows it.
func (s *Server) listeners() []types.Listener {
	list := make([]types.Listener, len(s.Receivers))
	for i, r := range s.Receivers {
		n := r.Stats()
		list[i] = types.Listener{
			Address: n.Address, Received: n.Received, Decoded: n.Decoded, Damaged: n.Damaged, Malformed: n.Malformed,
			Refused: n.Refused, RefusedUnlisted: n.RefusedUnlisted,
			KernelDrops: &n.KernelDrops, ReceiveBufferWanted: n.ReceiveBufferWanted, ReceiveBuffer: n.ReceiveBuffer,
		}
	}
	return list
}
