package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/console"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/store"
)

func newServeCommand() *cobra.Command {
	var file string
	var check, dump bool
	var points pointFlags
	flags := defaultServeConfig()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "receive telemetry reports and answer questions about them",
		Long: `Serve receives telemetry reports of every version on UDP ports, reconstructs flows and paths, finds events, and serves the
console, the API and metrics over HTTP. The configuration comes from --config FILE, WAYBILL_* variables and flags; later ones win.`,
		Example: `  waybill serve
  waybill serve --listen udp://:8555 --listen udp://:32766 --dialect :32766=onos-int10-ver0
  waybill serve --int-port 17768 --memory 2GiB --workers 2
  waybill serve --data /var/lib/waybill
  waybill serve --config waybill.yaml --check`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadServeConfig(cmd, file, &flags, &points)
			if err != nil {
				return usageError{err}
			}
			if dump || check {
				return c.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), dump)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			s, err := newServer(c, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return s.run(ctx)
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "config", "", "configuration `FILE`, YAML")
	f.BoolVar(&check, "check", false, "check the configuration and exit")
	f.BoolVar(&dump, "dump", false, "print the configuration and exit")
	f.StringArrayVar(&flags.Listen, "listen", flags.Listen, "`ADDRESS` to receive reports on; may be repeated")
	f.StringVar(&flags.HTTP, "http", flags.HTTP, "`ADDRESS` of console, API and metrics; without a host only this machine")
	f.BoolVar(&flags.Insecure, "insecure", false, "allow --http on an address that other machines can reach without log-in, or without TLS")
	f.StringVar(&flags.Tokens, "tokens", "", "`FILE` with the hashes of tokens that one has to log in with; see waybill token")
	f.StringVar(&flags.TLS.Cert, "tls-cert", "", "`FILE` with the certificate for HTTPS and its chain, PEM")
	f.StringVar(&flags.TLS.Key, "tls-key", "", "`FILE` with its key, PEM")
	f.StringVar(&flags.TLS.ClientCA, "tls-client-ca", "", "`FILE` with the authorities that sign client certificates, PEM; their roles are tls.clients of the configuration")
	f.StringArrayVar(&flags.Hosts, "host", nil, "`NAME` under which browsers reach the console, besides localhost; may be repeated")
	f.StringVar(&flags.Memory, "memory", flags.Memory, "`SIZE` that the tables may grow to")
	f.IntVar(&flags.Workers, "workers", flags.Workers, "`NUMBER` of receivers for each address, and of shards of the tables")
	f.StringVar(&flags.ReceiveBuffer, "receive-buffer", flags.ReceiveBuffer, "`SIZE` of kernel memory for each receiver, or auto: a share of the memory, up to 1GiB, or 4MiB with --coalesce=false")
	f.StringVar(&flags.Policy, "policy", "", "`FILE` that says which nodes and paths are expected")
	f.StringVar(&flags.Data, "data", flags.Data, "`DIRECTORY` to keep records in, and what has to outlive a restart; without it nothing is kept")
	f.StringVar(&flags.RawReports, "raw-reports", flags.RawReports, "`SIZE` of the latest datagrams to keep in --data as they came; without it none are kept")
	f.BoolVar(&flags.Coalesce, "coalesce", flags.Coalesce, "take runs of datagrams from the kernel in one piece (UDP_GRO) where it can: a third of the processor time; needs root or CAP_BPF")
	f.StringVar(&flags.Alerts, "alerts", "", "`FILE` of alert rules, YAML")
	points.register(f)
	return cmd
}

// loadServeConfig puts file, environment and flags together.
func loadServeConfig(cmd *cobra.Command, file string, flags *serveConfig, points *pointFlags) (*serveConfig, error) {
	c := defaultServeConfig()
	if file != "" {
		if err := c.readFile(file); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	if err := c.readEnvironment(); err != nil {
		return nil, err
	}
	set := cmd.Flags().Changed
	for name, take := range map[string]func(){
		"listen": func() { c.Listen = flags.Listen }, "http": func() { c.HTTP = flags.HTTP }, "coalesce": func() { c.Coalesce = flags.Coalesce }, "insecure": func() { c.Insecure = flags.Insecure },
		"host": func() { c.Hosts = flags.Hosts }, "memory": func() { c.Memory = flags.Memory }, "workers": func() { c.Workers = flags.Workers },
		"tokens": func() { c.Tokens = flags.Tokens }, "tls-cert": func() { c.TLS.Cert = flags.TLS.Cert }, "tls-key": func() { c.TLS.Key = flags.TLS.Key },
		"tls-client-ca": func() { c.TLS.ClientCA = flags.TLS.ClientCA }, "receive-buffer": func() { c.ReceiveBuffer = flags.ReceiveBuffer }, "policy": func() { c.Policy = flags.Policy }, "data": func() { c.Data = flags.Data },
		"alerts": func() { c.Alerts = flags.Alerts }, "raw-reports": func() { c.RawReports = flags.RawReports },
	} {
		if set(name) {
			take()
		}
	}
	if err := points.apply(c.points); err != nil {
		return nil, err
	}
	c.points.Compile()
	return &c, c.check()
}

// maxEvents is how many events that go on are kept, and how many that are over.
const maxEvents = 4096

// A server is everything that waybill serve runs.
type server struct {
	config      *serveConfig
	log         *slog.Logger
	troubles    *store.Troubles // what the disk does not take
	collector   *analyze.Collector
	events      *eventlog.Log
	bursts      *analyze.BurstLog
	ledger      *ledger.Ledger
	checkpoints *checkpointer    // nil: nothing outlives the process
	keeper      *keeper          // nil: nothing is kept
	raw         *rawReports      // nil: datagrams are not kept
	alerts      *alert.Engine    // nil without rules
	queues      []*collect.Queue // to the shards; none if there is one shard, which receivers call themselves
	receivers   []*collect.Receiver
	listener    net.Listener
	http        *http.Server
	demo        *demo // nil: there is none
	guard       *auth.Guard
	secure      *auth.TLS // nil: plain HTTP
	connections *auth.Connections
	receiving   atomic.Bool
	stopping    chan struct{} // closed when the HTTP server stops
}

// newServer opens all sockets, so that what cannot be opened is known before anything runs.
func newServer(c *serveConfig, logTo io.Writer) (_ *server, err error) {
	s := &server{config: c, log: newLogger(logTo), collector: &analyze.Collector{Names: c.nodeNames(), Timing: analyze.NewTiming()}, events: eventlog.New(maxEvents)}
	if s.guard, s.secure, err = openAccess(c, toldBy(s.log)); err != nil {
		return nil, err
	}
	permits, err := c.permits()
	if err != nil {
		return nil, err
	}
	if s.collector.Sampling, err = c.samplingByNode(); err != nil {
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
		s.collector.Shards = append(s.collector.Shards, shard)
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
		s.collector.Exporters = append(s.collector.Exporters, exporters)
		receiver := collect.NewReceiver(socket, c.points, exporters, s.owners())
		if permits != nil {
			receiver.Only(permits)
		}
		s.receivers = append(s.receivers, receiver)
	}
	s.ledger = ledger.New(s.collector.Exporters, ledgerSockets, s.collector.Names, s.collector)
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
	if s.keeper, err = openKeeper(c, s.collector, s.events, s.bursts, s.troubles, s.log); err != nil {
		return nil, err
	}
	if s.raw, err = openRawReports(c, sockets, s.receivers, s.troubles); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", c.HTTP); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("listen on http://%s: the port is in use; stop what uses it or choose another with --http", c.HTTP)
		}
		return nil, fmt.Errorf("listen on http://%s: %w", c.HTTP, err)
	}
	if s.alerts, err = newAlerts(c, s.events, s.log); err != nil {
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
func (s *server) openData(perAddress int) error {
	dir, err := datadir.Open(s.config.Data)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	s.checkpoints = &checkpointer{dir: dir, ledger: s.ledger, events: s.events, troubles: s.troubles, log: s.log}
	if err := s.checkpoints.restore(s.config.Listen, perAddress); err != nil {
		dir.Close()
		return err
	}
	return nil
}

// owners returns what a receiver hands its reports to.
func (s *server) owners() []collect.Handover {
	if len(s.queues) == 0 {
		return []collect.Handover{collect.Direct(s.collector.Shards[0])}
	}
	owners := make([]collect.Handover, len(s.queues))
	for i, q := range s.queues {
		owners[i] = q
	}
	return owners
}

// tick tells the time to the shards that no queue does it for.
func (s *server) tick(ctx context.Context) {
	if len(s.queues) > 0 {
		return
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C: // maybe a while ago
			s.collector.Shards[0].Tick(time.Now().UnixNano())
		case <-ctx.Done():
			return
		}
	}
}

// scan looks for events until ctx is done.
func (s *server) scan(ctx context.Context) {
	scanner := analyze.NewScanner(s.collector, s.events)
	scanner.KeepBursts(s.config.burstConfig(), s.bursts)
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

// run receives and serves until ctx is done, then takes what is still in the sockets.
func (s *server) run(ctx context.Context) error {
	hangups, stopHangups := s.hangups() // before anybody can know that it runs
	defer stopHangups()
	for _, r := range s.receivers {
		s.log.Info("receiving telemetry reports", "address", "udp://"+r.Stats().Address)
	}
	s.log.Info("serving console and API", "url", s.url())
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
	for _, r := range s.receivers {
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
func (s *server) sayGoodbye() {
	var received, drops, damaged, malformed, refused uint64
	for _, r := range s.receivers {
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
func (s *server) handler() http.Handler {
	var metrics prometheus.Gatherers
	if s.config.Data != "" {
		metrics = prometheus.Gatherers{s.checkpoints.metrics(), s.keeper.metrics(), s.raw.metrics()}
	}
	config := api.Config{
		Metrics: metrics, Collector: s.collector, Events: s.events, Bursts: s.bursts, Ledger: s.ledger, Alerts: s.alerts, Listeners: s.listeners, Refused: s.refused, Ready: s.ready, Console: console.Files(), Hosts: s.config.Hosts,
		Version: version, Logger: s.log, Access: s.guard, RefusedConnections: s.connections.Refused, OpenMetrics: s.config.Metrics == "open", SQL: s.keeper.sql(), History: s.keeper.history(), Between: s.keeper.between(), Written: s.keeper.written(), Reports: s.raw.kept(), Points: s.config.points, Stopping: s.stopping, KeptFine: s.config.Store.Keep10s, KeptMinute: s.config.Store.Keep1m,
	}
	if s.demo != nil { // a nil demo in an interface would not be nil
		config.Demo = s.demo
	}
	return api.New(config)
}

// ready returns why reports are not received, or nil.
func (s *server) ready() error {
	if !s.receiving.Load() {
		return errors.New("reports are not received: starting or stopping")
	}
	return nil
}

// listeners returns the state of the sockets as the API shows it.
func (s *server) listeners() []api.Listener {
	list := make([]api.Listener, len(s.receivers))
	for i, r := range s.receivers {
		n := r.Stats()
		list[i] = api.Listener{
			Address: n.Address, Received: n.Received, Decoded: n.Decoded, Damaged: n.Damaged, Malformed: n.Malformed,
			Refused: n.Refused, RefusedUnlisted: n.RefusedUnlisted,
			KernelDrops: &n.KernelDrops, ReceiveBufferWanted: n.ReceiveBufferWanted, ReceiveBuffer: n.ReceiveBuffer,
		}
	}
	return list
}
