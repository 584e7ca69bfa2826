package analyze

import (
	"fmt"
	"net/netip"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// twinScans is in how many scans in a row reports of a node must come from several addresses. A node that changes its
// address sends from both in one scan at most.
const twinScans = 2

// scanNodeIDs finds nodes whose reports come from several addresses side by side: two devices have the same id. Nothing
// that rests on which of them it was is to be trusted.
func (s *Scanner) scanNodeIDs(nowNs int64) {
	type reporter struct {
		node    uint32
		hwID    uint8
		version telemetry.Version
	}
	sources := map[reporter]netip.Addr{}
	found := map[uint32][2]netip.Addr{}
	for i, e := range s.collector.Exporters {
		for account, total := range e.Totals(nil) {
			if !total.Key.HasNode || account < len(s.exporters[i]) &&
				total.Received == s.exporters[i][account].Received {
				continue
			}
			k := reporter{total.Key.Node, total.Key.HWID, total.Key.Version}
			if other, ok := sources[k]; ok && other != total.Key.Source && other.Is4() == total.Key.Source.Is4() {
				found[k.node] = [2]netip.Addr{other, total.Key.Source}
			}
			sources[k] = total.Key.Source
		}
	}
	for node := range s.twins {
		if _, ok := found[node]; !ok {
			delete(s.twins, node)
			s.collector.Timing.trust(node)
		}
	}
	for node, from := range found {
		s.twins[node]++
		if s.twins[node] < twinScans {
			continue
		}
		s.collector.Timing.distrust(node)
		s.log.Note(eventlog.Key{Kind: telemetry.EventDuplicateNode, Node: node}, s.beforeNs, nowNs, 1,
			func(e *telemetry.Event) {
				e.Severity, e.Source = telemetry.Critical, from[1].String()
				s.at(e, &station{node: node, has: telemetry.HasNode})
				e.Text = fmt.Sprintf("two devices are %s: reports come from %s and %s", s.name(node), from[0], from[1])
			})
	}
}
