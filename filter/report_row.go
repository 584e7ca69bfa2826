package filter

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A ReportRow is a datagram and one report in it as filters see them: a Row of Reports.
type ReportRow struct {
	TimeNs   int64 // of arrival, ns since 1970
	Listener string
	Length   int // of the payload, bytes
	Header   *telemetry.Header
	Report   *telemetry.Report // nil: there is none in it
}

// Value implements Row.
func (r *ReportRow) Value(field, i int) (Value, bool) { return reportValues[field](r, i) }

// Stations returns how many nodes the report tells of, the source first.
func (r *ReportRow) Stations() int {
	if r.Report == nil {
		return 0
	}
	n := len(r.Report.Hops)
	if r.speaksOfItself() {
		n++
	}
	return n
}

// Station returns the i-th node that the report tells of.
func (r *ReportRow) Station(i int) *telemetry.Hop {
	if i < len(r.Report.Hops) {
		return &r.Report.Hops[i]
	}
	return &r.Report.Local
}

// speaksOfItself reports whether the sender adds a station: the newest hop of a stack may be the sender itself.
func (r *ReportRow) speaksOfItself() bool {
	if r.Report.Local.Has == 0 {
		return false
	}
	n := len(r.Report.Hops)
	return n == 0 || r.Report.Hops[n-1].Has&telemetry.HasNode == 0 || r.Report.Hops[n-1].NodeID != r.Report.Local.NodeID
}

// A reportValue returns the i-th value of a field, and whether there is one.
type reportValue func(r *ReportRow, i int) (Value, bool)

// reportValues has the values of a field of Reports at its index. Fields that stand for others have none.
var reportValues = reportValuesOf(map[string]reportValue{
	"time":     func(r *ReportRow, _ int) (Value, bool) { return FromTime(time.Unix(0, r.TimeNs)), true },
	"exporter": func(r *ReportRow, _ int) (Value, bool) { return addressValue(&r.Header.Source) },
	"listener": func(r *ReportRow, _ int) (Value, bool) { return FromText(r.Listener), true },
	"length":   func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Length)), true },
	"outcome":  func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Header.Outcome)), true },
	"reason": func(r *ReportRow, _ int) (Value, bool) {
		return FromText(r.Header.Reason.Error()), r.Header.Outcome != telemetry.Decoded
	},
	"version": func(r *ReportRow, _ int) (Value, bool) {
		return FromText(r.Header.Version.String()), r.Header.Dialect != "" // of what was readable
	},
	"dialect": func(r *ReportRow, _ int) (Value, bool) { return FromText(r.Header.Dialect), r.Header.Dialect != "" },
	"sender":  func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Header.NodeID)), r.Header.HasNodeID },
	"sequence": func(r *ReportRow, _ int) (Value, bool) {
		return FromUint(uint64(r.Header.Sequence)), r.Header.HasSequence
	},
	"flow":      ofReportFlow(func(k *telemetry.FlowKey) Value { return FromText(fmt.Sprintf("%016x", k.Hash())) }),
	"src":       ofReportFlow(func(k *telemetry.FlowKey) Value { return FromAddr(k.Src) }),
	"dst":       ofReportFlow(func(k *telemetry.FlowKey) Value { return FromAddr(k.Dst) }),
	"src_port":  ofReportFlow(func(k *telemetry.FlowKey) Value { return FromUint(uint64(k.SrcPort)) }),
	"dst_port":  ofReportFlow(func(k *telemetry.FlowKey) Value { return FromUint(uint64(k.DstPort)) }),
	"protocol":  ofReportFlow(func(k *telemetry.FlowKey) Value { return FromUint(uint64(k.Protocol)) }),
	"tunnel":    ofTunnel(func(k *telemetry.FlowKey) Value { return FromUint(uint64(k.Tunnel)) }),
	"tunnel_id": ofTunnel(func(k *telemetry.FlowKey) Value { return FromUint(uint64(k.TunnelID)) }),
	"outer.src": ofReport(func(r *telemetry.Report) (Value, bool) {
		return FromAddr(r.Outer.Src),
			r.Is(telemetry.HasOuter)
	}),
	"outer.dst": ofReport(func(r *telemetry.Report) (Value, bool) {
		return FromAddr(r.Outer.Dst),
			r.Is(telemetry.HasOuter)
	}),
	"dscp": ofReport(func(r *telemetry.Report) (Value, bool) {
		return FromUint(uint64(r.DSCP)),
			r.Is(telemetry.HasFlow)
	}),
	"bytes":     ofReport(func(r *telemetry.Report) (Value, bool) { return FromUint(uint64(r.Bytes)), r.Bytes > 0 }),
	"dropped":   ofReport(func(r *telemetry.Report) (Value, bool) { return FromBool(r.Is(telemetry.Dropped)), true }),
	"congested": ofReport(func(r *telemetry.Report) (Value, bool) { return FromBool(r.Is(telemetry.Congested)), true }),
	"tracked":   ofReport(func(r *telemetry.Report) (Value, bool) { return FromBool(r.Is(telemetry.Tracked)), true }),
	"hops":      func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Stations())), r.Report != nil },
	"node":      ofStation(telemetry.HasNode, func(h *telemetry.Hop) Value { return FromUint(uint64(h.NodeID)) }),
	"hop.ttl":   ofStation(telemetry.HasTTL, func(h *telemetry.Hop) Value { return FromUint(uint64(h.TTL)) }),
	"hop.queue": ofStation(telemetry.HasQueue,
		func(h *telemetry.Hop) Value { return FromUint(uint64(h.QueueOccupancy)) }),
	"hop.tx_util": ofStation(telemetry.HasTxUtil, func(h *telemetry.Hop) Value {
		return FromFloat(float64(h.TxUtil) / 1e4)
	}),
	"hop.ingress_port": ofStation(telemetry.HasIngressPort,
		func(h *telemetry.Hop) Value { return FromUint(uint64(h.IngressPort)) }),
	"hop.egress_port": ofStation(telemetry.HasEgressPort,
		func(h *telemetry.Hop) Value { return FromUint(uint64(h.EgressPort)) }),
	"hop.latency": ofStation(telemetry.HasLatency,
		func(h *telemetry.Hop) Value { return FromDuration(time.Duration(h.LatencyNs)) }),
	"hop.queue_id": ofStation(telemetry.HasQueue,
		func(h *telemetry.Hop) Value { return FromUint(uint64(h.QueueID)) }),
	"hop.drop_reason": ofStation(telemetry.HasDrop,
		func(h *telemetry.Hop) Value { return FromUint(uint64(h.DropReason)) }),
})

// reportValuesOf orders values by the index of their field.
func reportValuesOf(byName map[string]reportValue) []reportValue {
	fields := Reports.Fields()
	values := make([]reportValue, len(fields))
	for _, f := range fields {
		values[f.Index()] = byName[f.Name]
	}
	return values
}

// ofReport returns the values of a report, if there is one.
func ofReport(value func(*telemetry.Report) (Value, bool)) reportValue {
	return func(r *ReportRow, _ int) (Value, bool) {
		if r.Report == nil {
			return Value{}, false
		}
		return value(r.Report)
	}
}

// ofReportFlow returns the values of the flow of a report, if it has one.
func ofReportFlow(value func(*telemetry.FlowKey) Value) reportValue {
	return ofReport(func(r *telemetry.Report) (Value, bool) {
		if !r.Is(telemetry.HasFlow) {
			return Value{}, false
		}
		return value(&r.Flow), true
	})
}

// ofTunnel returns the values of the tunnel of a flow, if it is in one.
func ofTunnel(value func(*telemetry.FlowKey) Value) reportValue {
	return ofReport(func(r *telemetry.Report) (Value, bool) {
		if !r.Is(telemetry.HasFlow) || r.Flow.Tunnel == telemetry.TunnelNone {
			return Value{}, false
		}
		return value(&r.Flow), true
	})
}

// ofStation returns the values of those nodes that told of it. One that did not leaves no gap.
func ofStation(has telemetry.Fields, value func(*telemetry.Hop) Value) reportValue {
	return func(r *ReportRow, i int) (Value, bool) {
		for j := range r.Stations() {
			h := r.Station(j)
			if h.Has&has == 0 {
				continue
			}
			if i == 0 {
				return value(h), true
			}
			i--
		}
		return Value{}, false
	}
}
