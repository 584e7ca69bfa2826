package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/export/network"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// exportSettings say what of the network other programs get, and how.
type exportSettings struct {
	Network  networkSettings           `yaml:"network" doc:"metrics of the network for Prometheus, at /metrics/network"`
	Interval unit.Duration             `yaml:"interval" doc:"how often outputs get metrics and traces; 1s to 10m"`
	Traces   traceSettings             `yaml:"traces" doc:"which flows have traces, of outputs that get traces"`
	Outputs  map[string]outputSettings `yaml:"outputs,omitempty" reload:"yes" doc:"where records are sent, by a name for it"`
}

// traceSettings say which flows have traces.
type traceSettings struct {
	Filter string `yaml:"filter" reload:"yes" doc:"filter of flows, such as dst in 10.0.2.0/24 and residence.p99 > 1ms; empty: all"`
	OneIn  uint64 `yaml:"one_in" reload:"yes" doc:"of these, one flow in so many, and always the same ones"`
}

// choice returns what selects flows.
func (t *traceSettings) choice(nodes map[uint32]string) (c traceChoice, err error) {
	if t.OneIn < 1 {
		return c, errors.New("export: traces: one_in: got 0, want at least 1")
	}
	e, err := filter.Parse(filter.FlowTable.Schema().WithNames(nodes), t.Filter)
	if err != nil {
		return c, fmt.Errorf("export: traces: filter: %w", err)
	}
	if e.String() == "" && t.OneIn == 1 {
		return c, nil
	}
	matcher := e.Matcher(time.Now)
	return traceChoice{filter.FlowCondition{Filter: e.String(), OneIn: t.OneIn}, func(f *telemetry.Flow) bool {
		id, _ := strconv.ParseUint(f.ID, 16, 64) // ids of flows are 16 digits
		return id%t.OneIn == 0 && matcher.Match(filter.FlowTable.Row(f))
	}}, nil
}

// A traceChoice selects flows that have traces: among those of the tables, and one by one. Without conditions all have.
type traceChoice struct {
	which analyze.FlowCondition
	match func(*telemetry.Flow) bool
}

// networkSettings say what /metrics/network has.
type networkSettings struct {
	Enabled bool `yaml:"enabled" doc:"serve them, where data names a directory"`
	Limit   int  `yaml:"limit" doc:"how many nodes, ports, queues, links and drop reasons of ports have series, of each; 1 to 65536"`
}

func defaultExportSettings() exportSettings {
	return exportSettings{
		Network: networkSettings{Enabled: true, Limit: network.DefaultLimit}, Interval: unit.Duration(15 * time.Second),
		Traces: traceSettings{OneIn: 1},
	}
}

func (e *exportSettings) check() error {
	if e.Network.Limit < 1 || e.Network.Limit > 1<<16 {
		return fmt.Errorf("export: network: limit: got %d, want 1 to 65536", e.Network.Limit)
	}
	if i := time.Duration(e.Interval); i < time.Second || i > 10*time.Minute {
		return fmt.Errorf("export: interval: got %v, want 1s to 10m", i)
	}
	return nil
}

// exports get what the tables count beside the store.
type exports struct {
	network   *network.Metrics // nil: nobody asks for them
	incidents func() []telemetry.Incident
	interval  time.Duration
	flows     func(analyze.FlowFilter) ([]telemetry.Flow, int)
	untraced  atomic.Uint64 // flows that had reports in an interval and no trace, as there were too many
	tasks     *tasks        // what offers records
	ending    sync.WaitGroup

	mu      sync.RWMutex
	traced  traceChoice      // which flows have traces
	outputs []*runningOutput // by name; the list is replaced, never changed
	running bool
	reports atomic.Bool // some output wants reports
}

// openExports makes what gets the differences of the tables, as far as it is configured.
func (s *Server) openExports() error {
	c := &s.Config.Export
	if s.keeper == nil {
		return nil // there are no outputs, and nobody looks at the differences of the tables, which take memory
	}
	s.exports.interval, s.exports.flows = time.Duration(c.Interval), s.Collector.Flows
	s.exports.incidents = s.incidents.Incidents
	if c.Network.Enabled {
		s.exports.network = network.New(network.Sources{
			Names: s.Collector.Names, Inventory: s.Collector.Inventory, Links: s.Collector.Links,
			Units: s.Collector.UtilizationUnits, Queues: s.Collector.QueueHistograms,
			Incidents: s.exports.incidents, Attacks: s.attacksNow,
		}, c.Network.Limit)
	}
	s.keeper.exports = &s.exports
	finish, err := s.openOutputs(s.Config)
	if err == nil {
		finish(true)
		s.opened = append(s.opened, s.exports.close)
	}
	return err
}

// take gives records to all exports, none of which changes them, or waits.
func (e *exports) take(v *telemetry.Intervals) {
	if e.network != nil {
		e.network.Take(v)
	}
	for _, o := range e.now() {
		o.Take(v)
	}
}

// networkMetrics serves those of the network; nil: they are off.
func (s *Server) networkMetrics() http.Handler {
	if s.exports.network == nil {
		return nil
	}
	return s.exports.network.Handler(s.log)
}
