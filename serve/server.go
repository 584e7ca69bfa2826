package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/inventory"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/mitigate/bgp"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/tables"
)

// MaxEvents is how many events that go on are kept, and how many that are over.
const MaxEvents = 4096

// A Server is everything that waybill serve runs.
type Server struct {
	Config      *Config // of the start; what can change while it runs is in current, settings and Collector
	log         *slog.Logger
	level       *slog.LevelVar  // of log
	troubles    *store.Troubles // what the disk does not take
	dialects    *dialectNotices
	Collector   *analyze.Collector
	shards      []*analyze.Shard // of the Collector, in this process
	tables      *tables.Analyzer // its shards are in others; nil: they are here
	Events      *eventlog.Log
	scanner     *scan.Scanner
	bursts      *burst.Log
	ledger      *ledger.Ledger
	incidents   *incident.Live // of alerts and exports
	checkpoints *checkpointer  // nil: nothing outlives the process
	keeper      *keeper        // nil: nothing is kept
	exports     exports
	raw         *rawReports       // nil: datagrams are not kept
	speaker     *bgp.Speaker      // nil: no routers are told of attacks
	alerts      *alert.Engine     // nil without rules
	mitigation  *mitigate.Manager // nil: nothing acts on attacks
	sockets     []*collect.Socket
	listens     []string         // the address of the configuration that each of them is of
	queues      []*collect.Queue // to the shards; none if there is one shard, which receivers call themselves
	Receivers   []*collect.Receiver
	samples     sampleMetrics
	endpoint    *endpoint
	demo        *demo // nil: there is none
	guard       *auth.Guard
	bus         *busReceiver // nil: datagrams come from sockets
	views       *views
	inventory   *inventory.Keeper
	// inventoryDir keeps what its sources say over a restart; nil: nothing does
	inventoryDir *datadir.Dir
	dir          *datadir.Dir // of data; nil: there is none
	tenure       *tenure      // nil: no other analyzer stands by
	receiving    atomic.Bool
	settings     atomic.Pointer[collect.Settings]
	reloading    sync.Mutex
	current      *Config    // that is in effect; under reloading
	failures     chan error // of components that cannot go on
	otherTables  chan struct{}
	opened       []func() // what closes what New has opened, if it fails
}

// New opens all files and sockets, so that what cannot be opened is known before anything runs. It waits for tables
// that are in other processes until ctx is done.
func New(ctx context.Context, c *Config, logTo io.Writer) (*Server, error) {
	s := &Server{
		Config: c, current: c, level: new(slog.LevelVar), Events: eventlog.New(MaxEvents),
		otherTables: make(chan struct{}, 1),
	}
	s.incidents = incident.NewLive(s.Events, func() incident.Arrivals { return s.ledger.Unheard() })
	s.level.Set(c.Log.Level.Level)
	s.log = command.NewLogger(logTo, s.level)
	s.Collector = &analyze.Collector{Timing: timing.New(), Losses: &loss.Estimates{}}
	s.troubles = store.NewTroubles(s.log)
	s.dialects = newDialectNotices(s.points, s.log)
	for _, open := range []func() error{
		func() error { return s.standBy(ctx) }, func() error { return s.newTables(ctx) }, s.openSockets,
		s.newReceivers, s.openData, s.openBus, s.newScanner, s.openKeeper, s.openRawReports, s.openEndpoint,
		s.openAlerts, s.openMitigation, s.openExports,
	} {
		if err := open(); err != nil {
			for _, undo := range slices.Backward(s.opened) {
				undo()
			}
			return nil, err
		}
	}
	s.demo = newDemo(s)
	s.endpoint.answer(s.handler(), s.log)
	return s, nil
}

// newTables makes the tables, a part of them for each worker.
func (s *Server) newTables(ctx context.Context) error {
	c := s.Config
	settings, err := c.settings()
	if err != nil {
		return err
	}
	s.settings.Store(settings)
	s.inventory = inventory.NewKeeper(c.inventory, s.log)
	configured, err := c.configured(s.inventory.Inventory())
	if err != nil {
		return err
	}
	s.Collector.Configure(configured)
	memory, _ := parseSize(c.Memory)
	s.bursts = burst.NewLog(memory / 64)
	debug.SetMemoryLimit(int64(memory))
	if len(c.Tables.Servers) > 0 {
		return s.openTables(ctx)
	}
	config := c.tableConfig()
	config.HashSeed = rand.Uint64()
	if c.policy != nil {
		config.Policy = c.policy
	}
	for range c.Workers {
		shard := analyze.NewShard(config)
		shard.Delivered = s.delivered
		s.shards = append(s.shards, shard)
		s.Collector.Owners = append(s.Collector.Owners, shard)
		if c.Workers > 1 {
			s.queues = append(s.queues, collect.NewQueue(shard))
		}
	}
	return nil
}

// openData opens the data directory and takes what the last process left there.
func (s *Server) openData() error {
	c := s.Config
	if c.Data == "" {
		s.views = &views{}
		return nil
	}
	var err error
	if s.dir == nil {
		if s.dir, err = datadir.Open(c.Data); err != nil {
			return fmt.Errorf("data: %w", err)
		}
		s.opened = append(s.opened, func() { s.dir.Close() })
	}
	s.checkpoints = &checkpointer{
		dir: s.dir, ledger: s.ledger, events: s.Events, collector: s.Collector, troubles: s.troubles, log: s.log,
		usual: func() *attack.Usual { return nil },
	}
	s.checkpoints.tasks = background(s.checkpoints.run)
	if s.views, err = openViews(s.dir, s.log); err != nil {
		return err
	}
	if err := s.openInventory(s.dir); err != nil {
		return err
	}
	if c.Role == roleAnalyze {
		return s.checkpoints.restore([]string{busListen})
	}
	return s.checkpoints.restore(s.listens)
}
