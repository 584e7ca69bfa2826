package api

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/ring"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A Config says what a handler serves. Only Collector is needed.
type Config struct {
	Collector *analyze.Collector

	// Events holds what happened; without it there are none.
	Events *eventlog.Log

	// Bursts holds what queues met; without it there are none.
	Bursts *burst.Log

	// Attacks returns totals of the search for attacks; nil: there is none. The attacks are in Events.
	Attacks func() attack.Totals

	// Incidents are those of Events; without it, they are made of them and the ledger.
	Incidents *incident.Live
	// Ledger says what became of every datagram; without it, /api/v1/loss knows no sockets.
	Ledger *ledger.Ledger

	// SQL answers statements over what is kept; without it nothing is.
	SQL SQL

	// History answers questions about a time range; without it lists are about now only.
	History History
	// Dialect is the SQL of conditions in those questions.
	Dialect filter.Dialect
	// Between says when links and hosts were there; without it, as without History.
	Between Between
	// Written returns until when all records of a table are on disk: lists of a time range end there. Without it, it is
	// not known.
	Written func(store.Table) time.Time
	// KeptFine and KeptMinute are how long the store keeps intervals of 10 s and less, and of 1 min; 0: not known.
	KeptFine, KeptMinute time.Duration

	// Reports holds datagrams as they came; without it none are kept.
	Reports *ring.Ring

	// Points returns what announces telemetry and how its sources speak, compiled; without it, as the specifications
	// say.
	Points func() *codepoint.Config

	// Reload reads the configuration again, for who asks; nil: it cannot be.
	Reload func(ctx context.Context, by string) (*types.Reload, error)

	// InventorySources returns what became of the sources of the inventory beside its file; nil: there are none.
	InventorySources func() []telemetry.InventorySource

	// Cluster returns who receives reports, and how they come here; nil: this server does everything.
	Cluster func() types.Cluster
	// Term is that in which this server was elected, where several may be; 0: there is no other one.
	Term uint64

	// Exports returns what became of records for other programs, by output; nil: there are none.
	Exports func() []types.Export

	// Analyzer answers what the store does not; nil: this server does.
	Analyzer *Analyzer

	// Alerts makes alerts of events; without it there are none.
	Alerts *alert.Engine

	// Mitigation acts on attacks; nil: nothing does.
	Mitigation Mitigation

	// Views keeps pages that were given a name; nil: nothing does.
	Views Views

	// Demo sends reports of an emulated network; nil: there is none.
	Demo Demo

	// Listeners returns the state of every UDP socket that receives reports.
	Listeners func() []types.Listener

	// Refused returns the sources whose datagrams are refused, by source; they are listed behind the exporters.
	Refused func() []telemetry.Exporter

	// Ready returns why reports are not received (yet), or nil.
	Ready func() error

	// NotWritten returns what cannot be written to disk now, and whether that is full; nil: nothing is written.
	NotWritten func() (what []string, full bool)

	// Metrics are served at /metrics beside those of this package, whose names it must not use.
	Metrics prometheus.Gatherer

	// Network serves the metrics of the network; nil: nobody asks for them.
	Network http.Handler

	// Console holds the files that are served at /, with index.html at its root. Without it there is no console.
	Console fs.FS

	// Hosts are host names, without port, by which this server is asked through a loopback address, beside localhost
	// and the loopback addresses themselves: those that a proxy on the same machine forwards.
	Hosts []string

	// Access knows who asks, and what they may do. Without it everybody may do everything.
	Access *auth.Guard

	// RefusedConnections returns how many connections were closed because their client had too many.
	RefusedConnections func() uint64

	// Stopping is closed when the server stops, which ends streams; nil: they end with their connections.
	Stopping <-chan struct{}

	// Roles are those that requests need.
	Roles auth.Rules

	Version string
	Logger  *slog.Logger     // nil: slog.Default()
	Now     func() time.Time // nil: time.Now
}

// withDefaults returns c without nil functions.
func (c Config) withDefaults() Config {
	if c.Events == nil {
		c.Events = eventlog.New(0)
	}
	if c.Bursts == nil {
		c.Bursts = burst.NewLog(0)
	}
	if c.Ledger == nil {
		c.Ledger = ledger.New(c.Collector.Exporters, nil, c.Collector.Names, c.Collector)
	}
	if c.Incidents == nil {
		c.Incidents = incident.NewLive(c.Events, func() incident.Arrivals { return c.Ledger.Unheard() })
	}
	if c.Listeners == nil {
		c.Listeners = func() []types.Listener { return nil }
	}
	if c.Refused == nil {
		c.Refused = func() []telemetry.Exporter { return nil }
	}
	if c.RefusedConnections == nil {
		c.RefusedConnections = func() uint64 { return 0 }
	}
	if c.Ready == nil {
		c.Ready = func() error { return nil }
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.Gatherers{}
	}
	if c.Access == nil {
		c.Access = &auth.Guard{Trusting: true}
	}
	if c.Points == nil {
		points := codepoint.New()
		points.Compile()
		c.Points = func() *codepoint.Config { return points }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
