package scan

import (
	"fmt"
	"net/netip"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// twinScans is in how many scans in a row reports of a node must come from several addresses. A node that changes its
// address sends from both in one scan at most.
const twinScans = 2

// A twinDetector finds nodes whose reports come from several addresses side by side: two devices have the same id.
// Nothing that rests on which of them it was is to be trusted, in this scan already.
type twinDetector struct {
	*scan
	exporters *exporterDetector
	scans     map[uint32]int // by node whose id several devices have: in how many scans in a row
}

func (d *twinDetector) observe(*Observation) {}
func (d *twinDetector) finish()              {}

func (d *twinDetector) begin() {
	type reporter struct {
		node    uint32
		hwID    uint8
		version telemetry.Version
	}
	sources := map[reporter]netip.Addr{}
	found := map[uint32][2]netip.Addr{}
	for i, e := range d.source.Exporters {
		for account, total := range e.Totals(nil) {
			if !total.Key.HasNode || account < len(d.exporters.counts[i]) &&
				total.Received == d.exporters.counts[i][account].Received {
				continue
			}
			k := reporter{total.Key.Node, total.Key.HWID, total.Key.Version}
			if other, ok := sources[k]; ok && other != total.Key.Source && other.Is4() == total.Key.Source.Is4() {
				found[k.node] = [2]netip.Addr{other, total.Key.Source}
			}
			sources[k] = total.Key.Source
		}
	}
	for node := range d.scans {
		if _, ok := found[node]; !ok {
			delete(d.scans, node)
			d.source.Timing.Trust(node)
		}
	}
	for node, from := range found {
		d.scans[node]++
		if d.scans[node] < twinScans {
			continue
		}
		d.source.Timing.Distrust(node)
		d.log.Note(eventlog.Key{Kind: telemetry.EventDuplicateNode, Node: node}, d.beforeNs, d.nowNs, 1,
			func(e *telemetry.Event) {
				e.Severity, e.Source = telemetry.Critical, from[1].String()
				d.at(e, &topology.HopKey{Node: node, Has: telemetry.HasNode})
				e.Text = fmt.Sprintf("two devices are %s: reports come from %s and %s", d.name(node), from[0], from[1])
			})
	}
}
