package serve

import (
	"fmt"
	"net/http"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/export/network"
	"github.com/waybill-int/waybill/telemetry"
)

// exportSettings say what of the network other programs get, and how.
type exportSettings struct {
	Network networkSettings `yaml:"network" doc:"metrics of the network for Prometheus, at /metrics/network"`
}

// networkSettings say what /metrics/network has.
type networkSettings struct {
	Enabled bool `yaml:"enabled" doc:"serve them, where data names a directory"`
	Limit   int  `yaml:"limit" doc:"how many nodes, ports, queues, links and drop reasons of ports have series, of each; 1 to 65536"`
}

func defaultExportSettings() exportSettings {
	return exportSettings{Network: networkSettings{Enabled: true, Limit: network.DefaultLimit}}
}

func (e *exportSettings) check() error {
	if e.Network.Limit < 1 || e.Network.Limit > 1<<16 {
		return fmt.Errorf("export: network: limit: got %d, want 1 to 65536", e.Network.Limit)
	}
	return nil
}

// exports get what the tables count beside the store.
type exports struct {
	network *network.Metrics // nil: nobody asks for them
}

// openExports makes what gets the differences of the tables, as far as it is configured.
func (s *Server) openExports() error {
	c := &s.Config.Export
	if s.keeper == nil {
		return nil // nobody looks at the differences of the tables, which take memory
	}
	if c.Network.Enabled {
		s.exports.network = network.New(network.Sources{
			Names: s.Collector.Names, Inventory: s.Collector.Inventory, Links: s.Collector.Links,
			Units: s.Collector.UtilizationUnits, Queues: s.Collector.QueueHistograms,
			Incidents: incident.NewLive(s.Events).Incidents, Attacks: s.attacksNow,
		}, c.Network.Limit)
	}
	s.keeper.exports = &s.exports
	return nil
}

// take gives records to all exports, none of which keeps them.
func (e *exports) take(v *telemetry.Intervals) {
	if e.network != nil {
		e.network.Take(v)
	}
}

// networkMetrics serves those of the network; nil: they are off.
func (s *Server) networkMetrics() http.Handler {
	if s.exports.network == nil {
		return nil
	}
	return s.exports.network.Handler(s.log)
}
