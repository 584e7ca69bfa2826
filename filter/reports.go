package filter

import (
	"fmt"
	"reflect"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A ReportRow is a datagram and one report in it as filters see them: an item of ReportTable.
type ReportRow struct {
	TimeNs   int64             `json:"-"` // of arrival, ns since 1970
	Listener string            `json:"-"`
	Length   int               `json:"-"` // of the payload, bytes
	Header   *telemetry.Header `json:"-"`
	Report   *telemetry.Report `json:"-"` // nil: there is none in it
}

// HopCount returns how many nodes the report tells of, the source first.
func (r *ReportRow) HopCount() int {
	if r.Report == nil {
		return 0
	}
	n := len(r.Report.Hops)
	if r.speaksOfItself() {
		n++
	}
	return n
}

// Hop returns the i-th node that the report tells of.
func (r *ReportRow) Hop(i int) *telemetry.Hop {
	if i < len(r.Report.Hops) {
		return &r.Report.Hops[i]
	}
	return &r.Report.Local
}

// speaksOfItself reports whether the sender adds an element: the newest hop of a stack may be the sender itself.
func (r *ReportRow) speaksOfItself() bool {
	if r.Report.Local.Has == 0 {
		return false
	}
	n := len(r.Report.Hops)
	return n == 0 || r.Report.Hops[n-1].Has&telemetry.HasNode == 0 || r.Report.Hops[n-1].NodeID != r.Report.Local.NodeID
}

// reportFields are those of a datagram as it came, and of a report in it.
func reportFields() []Computed[ReportRow] {
	fields := []Computed[ReportRow]{
		{
			Field{Name: "time", Aliases: []string{"frame.time"}, Kind: Time, Doc: "when it was received"},
			func(r *ReportRow, _ int) (Value, bool) { return FromTime(time.Unix(0, r.TimeNs)), true },
		},
		{
			Field{Name: "exporter", Aliases: []string{"source"}, Kind: Address, Doc: "address that sent it"},
			func(r *ReportRow, _ int) (Value, bool) { return addressValue(&r.Header.Source) },
		},
		{
			Field{Name: "listener", Kind: Text, Doc: "address and port that received it"},
			func(r *ReportRow, _ int) (Value, bool) { return FromText(r.Listener), true },
		},
		{
			Field{Name: "length", Kind: Size, Doc: "length of its UDP payload"},
			func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Length)), true },
		},
		{
			Field{
				Name: "outcome", Kind: Enum, Choices: outcomes(), Ordered: true, Doc: "what could be understood of it",
			},
			func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Header.Outcome)), true },
		},
		{
			Field{Name: "reason", Kind: Text, Doc: "code of the first rule that it broke"},
			func(r *ReportRow, _ int) (Value, bool) {
				return FromText(r.Header.Reason.Error()), r.Header.Outcome != telemetry.Decoded
			},
		},
		{
			Field{
				Name: "version", Aliases: []string{"report.version"}, Kind: Text,
				Doc: "version of the report, such as \"2.0\"",
			},
			func(r *ReportRow, _ int) (Value, bool) {
				return FromText(r.Header.Version.String()), r.Header.Dialect != "" // of what was readable
			},
		},
		{
			Field{Name: "dialect", Kind: Text, Doc: "dialect that it was read as"},
			func(r *ReportRow, _ int) (Value, bool) { return textValue(&r.Header.Dialect) },
		},
		{
			Field{Name: "sender", Aliases: []string{"report.node"}, Kind: Node, Doc: "the node that sent it"},
			func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.Header.NodeID)), r.Header.HasNodeID },
		},
		{
			Field{Name: "sequence", Aliases: []string{"report.sequence"}, Kind: Uint, Doc: "its sequence number"},
			func(r *ReportRow, _ int) (Value, bool) {
				return FromUint(uint64(r.Header.Sequence)), r.Header.HasSequence
			},
		},
		{
			Field{Name: "flow", Aliases: []string{"id"}, Kind: Text, Doc: "id of the flow"},
			ofReportFlow(func(k *telemetry.FlowKey) (Value, bool) {
				return FromText(fmt.Sprintf("%016x", k.Hash())), true
			}),
		},
	}
	for _, f := range fieldsOf(catalogue.In(reflect.TypeFor[telemetry.Endpoints](), " of the packet")) {
		fields = append(fields, Computed[ReportRow]{f, ofReportFlow(flowValues[f.Name])})
	}
	number := func(name, doc string, value func(*telemetry.Report) (Value, bool)) Computed[ReportRow] {
		return Computed[ReportRow]{Field{Name: name, Kind: Uint, Doc: doc}, ofReport(value)}
	}
	address := func(name, doc string, of func(*telemetry.Report) telemetry.Addr) Computed[ReportRow] {
		return Computed[ReportRow]{
			Field{Name: name, Kind: Address, Doc: doc},
			ofReport(func(r *telemetry.Report) (Value, bool) { return FromAddr(of(r)), r.Is(telemetry.HasOuter) }),
		}
	}
	flag := func(name, alias, doc string, f telemetry.Flags) Computed[ReportRow] {
		return Computed[ReportRow]{
			Field{Name: name, Aliases: []string{alias}, Kind: Bool, Doc: doc},
			ofReport(func(r *telemetry.Report) (Value, bool) { return FromBool(r.Is(f)), true }),
		}
	}
	bytes := number("bytes", "IP length of the packet, without INT", func(r *telemetry.Report) (Value, bool) {
		return FromUint(uint64(r.Bytes)), r.Bytes > 0
	})
	bytes.Kind = Size
	return append(fields,
		address("outer.src", "source address of the tunnel",
			func(r *telemetry.Report) telemetry.Addr { return r.Outer.Src }),
		address("outer.dst", "destination address of the tunnel",
			func(r *telemetry.Report) telemetry.Addr { return r.Outer.Dst }),
		number("dscp", "DSCP of the packet", func(r *telemetry.Report) (Value, bool) {
			return FromUint(uint64(r.DSCP)), r.Is(telemetry.HasFlow)
		}),
		bytes,
		flag("dropped", "report.d", "it is about a dropped packet (D)", telemetry.Dropped),
		flag("congested", "report.q", "it is about a congested queue (Q)", telemetry.Congested),
		flag("tracked", "report.f", "it is about a tracked flow (F)", telemetry.Tracked),
		Computed[ReportRow]{
			Field{Name: "hops", Kind: Uint, Doc: "number of nodes that it tells of"},
			func(r *ReportRow, _ int) (Value, bool) { return FromUint(uint64(r.HopCount())), r.Report != nil },
		},
		ofNodes(Field{Name: "node", Aliases: []string{"hop.node"}, Kind: Node, Doc: "each node that it tells of"},
			telemetry.HasNode, func(h *telemetry.Hop) Value { return FromUint(uint64(h.NodeID)) }),
		ofNodes(Field{
			Name: "hop.ingress_port", Aliases: []string{"ingress_port"}, Kind: Uint,
			Doc: "level 1 ingress interface of each node",
		}, telemetry.HasIngressPort, func(h *telemetry.Hop) Value { return FromUint(uint64(h.IngressPort)) }),
		ofNodes(Field{
			Name: "hop.egress_port", Aliases: []string{"egress_port"}, Kind: Uint,
			Doc: "level 1 egress interface of each node",
		}, telemetry.HasEgressPort, func(h *telemetry.Hop) Value { return FromUint(uint64(h.EgressPort)) }),
		ofNodes(Field{
			Name: "hop.latency", Aliases: []string{"latency"}, Kind: Duration,
			Doc: "time that the packet spent in each node",
		}, telemetry.HasLatency, func(h *telemetry.Hop) Value { return FromDuration(time.Duration(h.LatencyNs)) }),
		ofNodes(Field{
			Name: "hop.queue_id", Aliases: []string{"queue_id"}, Kind: Uint, Doc: "the queue at each node",
		}, telemetry.HasQueue, func(h *telemetry.Hop) Value { return FromUint(uint64(h.QueueID)) }),
		ofNodes(Field{
			Name: "hop.queue_occupancy", Aliases: []string{"hop.queue", "queue"}, Kind: Uint, Unit: "of the device",
			Doc: "queue occupancy that the packet met at each node",
		}, telemetry.HasQueue, func(h *telemetry.Hop) Value { return FromUint(uint64(h.QueueOccupancy)) }),
		ofNodes(Field{
			Name: "hop.tx_util", Aliases: []string{"tx_util"}, Kind: Ratio,
			Doc: "utilization of the egress interface of each node whose dialect says what full use is",
		}, telemetry.InUtilizationUnit(codepoint.HundredthsOfPercent)&^telemetry.HasTxUtil, func(
			h *telemetry.Hop,
		) Value {
			share, _ := h.Has.UtilizationUnit().Share(float64(h.TxUtil))
			return FromFloat(share)
		}),
		ofNodes(Field{
			Name: "hop.drop_reason", Aliases: []string{"drop_reason", "report.drop_reason"}, Kind: Uint,
			Doc: "number of the drop reason, at the node that dropped it",
		}, telemetry.HasDrop, func(h *telemetry.Hop) Value { return FromUint(uint64(h.DropReason)) }),
		ofNodes(Field{
			Name: "hop.ttl", Aliases: []string{"ttl"}, Kind: Uint, Doc: "TTL of the packet at the node, of postcards",
		}, telemetry.HasTTL, func(h *telemetry.Hop) Value { return FromUint(uint64(h.TTL)) }),
	)
}

// flowValues are the values of a flow by the names that telemetry.Endpoints gives them.
var flowValues = map[string]func(*telemetry.FlowKey) (Value, bool){
	"src":      func(k *telemetry.FlowKey) (Value, bool) { return FromAddr(k.Src), true },
	"dst":      func(k *telemetry.FlowKey) (Value, bool) { return FromAddr(k.Dst), true },
	"src_port": func(k *telemetry.FlowKey) (Value, bool) { return FromUint(uint64(k.SrcPort)), true },
	"dst_port": func(k *telemetry.FlowKey) (Value, bool) { return FromUint(uint64(k.DstPort)), true },
	"protocol": func(k *telemetry.FlowKey) (Value, bool) { return FromUint(uint64(k.Protocol)), true },
	"tunnel": func(k *telemetry.FlowKey) (Value, bool) {
		return FromUint(uint64(k.Tunnel)), k.Tunnel != telemetry.TunnelNone
	},
	"tunnel_id": func(k *telemetry.FlowKey) (Value, bool) {
		return FromUint(uint64(k.TunnelID)), k.Tunnel != telemetry.TunnelNone
	},
}

// ofReport returns the values of a report, if there is one.
func ofReport(value func(*telemetry.Report) (Value, bool)) ValueOf[ReportRow] {
	return func(r *ReportRow, _ int) (Value, bool) {
		if r.Report == nil {
			return Value{}, false
		}
		return value(r.Report)
	}
}

// ofReportFlow returns the values of the flow of a report, if it has one; nil if value is.
func ofReportFlow(value func(*telemetry.FlowKey) (Value, bool)) ValueOf[ReportRow] {
	if value == nil {
		return nil
	}
	return ofReport(func(r *telemetry.Report) (Value, bool) {
		if !r.Is(telemetry.HasFlow) {
			return Value{}, false
		}
		return value(&r.Flow)
	})
}

// ofNodes is a field with the values of those nodes that told of it. One that did not leaves no gap.
func ofNodes(f Field, has telemetry.Fields, value func(*telemetry.Hop) Value) Computed[ReportRow] {
	f.Many = true
	return Computed[ReportRow]{f, func(r *ReportRow, i int) (Value, bool) {
		for j := range r.HopCount() {
			h := r.Hop(j)
			if h.Has&has == 0 {
				continue
			}
			if i == 0 {
				return value(h), true
			}
			i--
		}
		return Value{}, false
	}}
}
