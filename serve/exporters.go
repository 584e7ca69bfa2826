package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/telemetry"
)

// An ExporterRule lets a source send reports of nodes.
type ExporterRule struct {
	Source string  `yaml:"source" doc:"an address or a prefix; the longest that holds a source counts"`
	Nodes  NodeIDs `yaml:"nodes,omitempty" doc:"ids in its reports; missing, or any: all"`
	Name   string  `yaml:"name,omitempty" doc:"for people"`
}

// NodeIDs is a list of ids, or nil for any.
type NodeIDs []uint32

// UnmarshalConf reads a list, or the word any.
func (n *NodeIDs) UnmarshalConf(v conf.Value) {
	switch text, single := v.Text(); {
	case text == "any":
		*n = nil
	case single:
		v.Say("got %q, want a list of ids such as [1, 2], or any", text)
	default:
		*n = NodeIDs{}
		v.Decode((*[]uint32)(n))
	}
}

// permits returns who may send reports; nil: everybody.
func (c *Config) permits() (*collect.AllowList, error) {
	if len(c.Exporters) == 0 {
		return nil, nil
	}
	var list []collect.Permit
	for i, rule := range c.Exporters {
		source, err := netip.ParsePrefix(rule.Source)
		if addr, addrErr := netip.ParseAddr(rule.Source); addrErr == nil && addr.Zone() == "" {
			source, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("exporters: row %d: source is %q, want an address or a prefix such as 10.0.0.0/8",
				i+1, rule.Source)
		}
		list = append(list, collect.Permit{Source: source, Nodes: rule.Nodes, Name: rule.Name})
	}
	permits, err := collect.NewAllowList(list)
	if err != nil {
		return nil, fmt.Errorf("exporters: %w", err)
	}
	return permits, nil
}

// refused returns the sources whose datagrams are refused, as the API lists them.
func (s *Server) refused() []telemetry.Exporter {
	bySource := map[netip.Addr]*telemetry.Exporter{} // it may have sent to several addresses
	for _, r := range s.Receivers {
		for _, x := range r.Refused() {
			e := bySource[x.Source]
			if e == nil {
				e = &telemetry.Exporter{
					Source: x.Source, First: x.First, Malformed: map[string]uint64{},
					Damaged: map[string]uint64{},
				}
				bySource[x.Source] = e
			}
			e.Received += x.Datagrams
			e.Refused += x.Datagrams
			if x.First.Before(e.First) {
				e.First = x.First
			}
			if x.Last.After(e.Last) {
				e.Last = x.Last
				e.RefusedBecause = "no row of exporters has its address"
				if x.Permit != nil {
					node := x.Node
					e.Node, e.Name = &node, s.Collector.Names()[node]
					e.RefusedBecause = fmt.Sprintf("%s may not report as node %d", x.Permit, node)
				}
			}
			e.LossKnown = "no: refused, " + e.RefusedBecause
		}
	}
	var list []telemetry.Exporter
	for _, e := range bySource {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b telemetry.Exporter) int { return a.Source.Compare(b.Source) })
	return list
}

// sayRefused tells of refused reports until ctx is done, in one line a minute at most: who sends them decides how many
// there are.
func (s *Server) sayRefused(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	say := rate.Sometimes{Interval: time.Minute}
	told := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		total := uint64(0)
		for _, r := range s.Receivers {
			total += r.Stats().Refused
		}
		if total == told {
			continue
		}
		say.Do(func() {
			latest := telemetry.Exporter{}
			list := s.refused()
			if len(list) > 0 { // not if there was no room for any
				latest = slices.MaxFunc(list,
					func(a, b telemetry.Exporter) int { return cmp.Compare(a.Last.UnixNano(), b.Last.UnixNano()) })
			}
			s.log.Warn("refused reports of who may not send them; waybill exporters lists them", "datagrams",
				total-told, "sources", len(list),
				"latest", latest.Source, "because", latest.RefusedBecause)
			told = total
		})
	}
}
