package scan

import (
	"fmt"
	"maps"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// An exporterCount is what the account of an exporter said at the last scan.
type exporterCount struct {
	ledger.Total
	told         uint64 // of Lost: those that an event tells of
	gapFromNs    int64  // the latest report before one that showed that some are lost
	restartsTold uint64 // of Restarted, the same
}

// An exporterDetector finds lost reports, restarts, and datagrams that break rules.
type exporterDetector struct {
	*scan
	counts [][]exporterCount      // by their place in the collector, and by account
	broken map[brokenKey]uint64   // datagrams at the last scan
	nodes  map[uint32]*reportLoss // reports lost on their way here
}

func newExporterDetector(s *scan) *exporterDetector {
	d := &exporterDetector{scan: s, broken: map[brokenKey]uint64{}, nodes: map[uint32]*reportLoss{}}
	// What was lost or broken before a restart is no news.
	for _, e := range s.source.Exporters {
		var counts []exporterCount
		for _, n := range e.Totals(nil) {
			counts = append(counts, exporterCount{Total: n, told: n.Lost, restartsTold: n.Restarted})
		}
		d.counts = append(d.counts, counts)
	}
	for _, x := range s.source.ExporterList() {
		for reason, n := range brokenBy(&x) {
			d.broken[brokenKeyOf(&x, reason)] = n
		}
	}
	return d
}

func (d *exporterDetector) begin() {
	for _, r := range d.nodes {
		r.before, r.lost, r.unknown = [2]uint64{r.lost, r.before[0]}, 0, false
	}
}

func (d *exporterDetector) observe(*Observation) {}

func (d *exporterDetector) finish() {
	for i, e := range d.source.Exporters {
		for account, total := range e.Totals(nil) {
			if account == len(d.counts[i]) {
				d.counts[i] = append(d.counts[i], exporterCount{})
			}
			before := d.counts[i][account]
			now := exporterCount{Total: total, gapFromNs: before.LastNs}
			// what is missing since a moment ago may only be late
			now.told = max(before.told, min(before.Lost, total.Lost))
			now.restartsTold = max(before.restartsTold, min(before.Restarted, total.Restarted))
			d.counts[i][account] = now
			d.exporter(now.Key, before, now)
			d.countLost(before, now)
		}
	}
	for _, x := range d.source.ExporterList() {
		d.brokenOf(&x)
	}
}

// exporter notes what happened to the reports of an exporter since the last scan.
func (d *exporterDetector) exporter(key telemetry.ExporterKey, before, now exporterCount) {
	about := func(text string, severity telemetry.Severity) func(*telemetry.Event) {
		return func(e *telemetry.Event) {
			e.Severity, e.Source, e.Text = severity, key.Source.String(), text
			if key.HasNode {
				d.at(e, &topology.HopKey{Node: key.Node, Has: telemetry.HasNode})
				e.Text = d.name(key.Node) + ": " + text
			}
		}
	}
	if now.told > before.told {
		text := "reports were lost on the way here"
		if silence := before.GapNs - before.gapFromNs; before.gapFromNs > 0 && silence > QuietNs {
			text += fmt.Sprintf("; nobody knows when in %s, from the report before to the one that shows it",
				time.Duration(silence).Round(time.Second/10))
		}
		d.log.Note(eventlog.Key{Kind: telemetry.EventReportLoss, Exporter: key}, d.beforeNs,
			max(before.GapNs, d.beforeNs), now.told-before.told, about(text, telemetry.Warning))
	}
	if now.restartsTold > before.restartsTold {
		restart := eventlog.Key{Kind: telemetry.EventNodeRestart, Exporter: key}
		d.log.Note(restart, d.lastNs, d.lastNs, now.restartsTold-before.restartsTold,
			about("the sequence numbers of its reports began anew", telemetry.Info))
		d.log.End(restart, d.lastNs)
	}
}

// A reportLoss is how many reports of a node were lost on their way here.
type reportLoss struct {
	lost    uint64    // since the last scan
	before  [2]uint64 // between the two before, and before those
	unknown bool      // its sequence numbers do not tell
	lastNs  int64     // scan that found some the latest
}

// countLost notes what was lost of the reports of an exporter since the last scan.
func (d *exporterDetector) countLost(before, now exporterCount) {
	if !now.Key.HasNode {
		return
	}
	r := d.nodes[now.Key.Node]
	if r == nil {
		r = &reportLoss{}
		d.nodes[now.Key.Node] = r // as bounded as the table of exporters
	}
	if !now.LossKnown {
		r.unknown = true
		return
	}
	if now.Lost > before.Lost {
		r.lost += now.ReportsOf(now.Lost - before.Lost)
		r.lastNs = d.nowNs
	}
}

// reportsLost returns how many packets a node may have seen without our knowing, of those that the scan before tells
// of; false if that is not known.
func (d *exporterDetector) reportsLost(node uint32) (uint64, bool) {
	r := d.nodes[node]
	if r == nil || r.unknown {
		return 0, false
	}
	// the reports of a packet are waited for, the gap in the numbers is seen at once
	return r.lost + r.before[0] + r.before[1], true
}

// lostSince reports whether reports of a node were lost since a moment, or shortly before: postcards wait for each
// other.
func (d *exporterDetector) lostSince(node uint32, ns int64) bool {
	r := d.nodes[node]
	return r != nil && r.lastNs > ns-ScanNs
}

// errorNumbers are the numbers of error codes.
var errorNumbers = func() map[string]uint8 {
	numbers := map[string]uint8{}
	for n := wire.Error(1); n < wire.NumErrors; n++ {
		numbers[n.Error()] = uint8(n)
	}
	return numbers
}()

// A brokenKey is a reason why datagrams of an exporter could not be read, or not in full.
type brokenKey struct {
	exporter telemetry.ExporterKey
	version  string
	reason   string
}

func brokenKeyOf(x *telemetry.Exporter, reason string) brokenKey {
	key := telemetry.ExporterKey{Collector: x.Collector, Source: x.Source}
	if x.Node != nil {
		key.Node, key.HasNode = *x.Node, true
	}
	if x.HWID != nil {
		key.HWID = *x.HWID
	}
	return brokenKey{key, x.Version, reason}
}

// brokenBy counts the datagrams of an exporter that break rules, by the rule.
func brokenBy(x *telemetry.Exporter) map[string]uint64 {
	all := maps.Clone(x.Malformed)
	for reason, n := range x.Damaged {
		all[reason] += n
	}
	return all
}

// brokenOf notes the datagrams of an exporter that break rules.
func (d *exporterDetector) brokenOf(x *telemetry.Exporter) {
	for reason, now := range brokenBy(x) {
		place := brokenKeyOf(x, reason)
		n := now - min(d.broken[place], now) // it may have been forgotten, and be new
		if n == 0 {
			continue
		}
		d.broken[place] = now
		event := eventlog.Key{Kind: telemetry.EventMalformed, Exporter: place.exporter, Reason: errorNumbers[reason]}
		d.log.Note(event, d.lastNs, d.nowNs, n, func(e *telemetry.Event) {
			e.Severity, e.Source, e.ReasonName = telemetry.Warning, x.Source.String(), reason
			e.Text = fmt.Sprintf("datagrams from %s break a rule: %s", x.Source, reason)
			if x.Node != nil {
				d.at(e, &topology.HopKey{Node: *x.Node, Has: telemetry.HasNode})
				e.Text = fmt.Sprintf("datagrams of %s from %s break a rule: %s", d.name(*x.Node), x.Source, reason)
			}
			e.Bytes = x.Samples[reason]
		})
	}
}
