package analyze

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A dropKey is a place and a reason.
type dropKey struct {
	topology.HopKey
	reason  uint8
	table   telemetry.ReasonTable // numbers mean different things at different nodes
	ruleKey uint64                // Transparent Security: the mitigation rule
}

type drop struct {
	packets     uint64
	first, last int64
	since       int64  // the first that came after the last scan, but for a few long before others
	run         uint64 // packets from then on
	flow        telemetry.FlowKey
	hasFlow     bool
	to          map[telemetry.Addr]dropTo // by prefix
	baseline    uint32                    // Transparent Security: the previous counter of the rule
}

// dropTable counts drops by place and reason; what does not fit is counted in overflow.
type dropTable struct {
	max      int
	scanNs   int64 // when a Scanner looked last
	drops    map[dropKey]*drop
	overflow uint64
}

func newDropTable(limit int) dropTable { return dropTable{max: limit, drops: map[dropKey]*drop{}} }

func (t *dropTable) entry(key dropKey, nowNs int64) *drop {
	d := t.drops[key]
	if d == nil {
		if len(t.drops) >= t.max {
			t.overflow++
			return nil
		}
		d = &drop{first: nowNs}
		t.drops[key] = d
	}
	if d.last <= t.scanNs || isApart(d.run, d.last, nowNs) {
		d.since, d.run = nowNs, 0
	}
	d.last = nowNs
	return d
}

func (d *drop) add(packets uint64) {
	d.packets += packets
	d.run += packets
}

// packet counts the drop that r reports.
func (t *dropTable) packet(r *telemetry.Report, nowNs int64) {
	d := t.entry(dropKey{HopKey: topology.HopKeyOf(&r.Local), reason: r.Local.DropReason, table: r.DropReasons}, nowNs)
	if d == nil {
		return
	}
	d.add(1)
	if r.Is(telemetry.HasFlow) {
		d.flow, d.hasFlow = r.Flow, true
		d.toward(&r.Flow)
	}
}

// summary takes a report of many drops: of a rule of Transparent Security, or of a flow. The dialect knows whether its
// number goes on from report to report. It returns how many drops that makes since the report before.
func (t *dropTable) summary(r *telemetry.Report, nowNs int64) (packets uint64) {
	d := t.entry(dropKey{
		HopKey: topology.HopKeyOf(&r.Local), reason: r.Local.DropReason, table: r.DropReasons,
		ruleKey: r.DropKey,
	}, nowNs)
	if d == nil {
		return 0
	}
	if r.Is(telemetry.HasFlow) {
		d.flow, d.hasFlow = r.Flow, true
	}
	packets = uint64(r.DropCount)
	if r.Is(telemetry.DropTotal) && r.DropCount >= d.baseline { // below it the counter began anew
		packets -= uint64(d.baseline)
	}
	d.add(packets)
	d.baseline = r.DropCount
	return packets
}

func (d *drop) answer(key *dropKey, names map[uint32]string) telemetry.Drop {
	at := key.HopKey.Answer(names)
	a := telemetry.Drop{
		Node: at.Node, Name: at.Name, IngressPort: at.IngressPort, EgressPort: at.EgressPort,
		Reason: key.reason, ReasonName: key.table.Name(key.reason), Packets: d.packets,
		First: time.Unix(0, d.first).UTC(), Last: time.Unix(0, d.last).UTC(),
	}
	cause := dropreason.Of(key.table, key.reason)
	a.Cause, a.Severity, a.Meaning, a.Action = cause.ID, cause.Severity.String(), cause.Meaning, cause.Action
	if d.hasFlow {
		e := telemetry.EndpointsOf(&d.flow)
		a.LastFlow = &e
	}
	a.To = d.destinations()
	if key.ruleKey != 0 {
		a.DropKey = fmt.Sprintf("%016x", key.ruleKey)
	}
	return a
}
