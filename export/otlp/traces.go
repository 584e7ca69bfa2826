package otlp

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/waybill-int/waybill/telemetry"
)

// A linkEnd is what a hop says of the link behind it.
type linkEnd struct {
	from, to uint32
	port     uint32
	known    bool // the port is
}

// linkDelays returns the mean delays of links, as far as they are known.
func linkDelays(links []telemetry.Link) map[linkEnd]uint64 {
	delays := map[linkEnd]uint64{}
	for i := range links {
		l := &links[i]
		if l.Delay == nil || l.Delay.NS == nil {
			continue
		}
		end := linkEnd{from: l.From, to: l.To}
		if l.FromPort != nil {
			end.port, end.known = *l.FromPort, true
		}
		delays[end] = uint64(l.Delay.NS.Mean)
	}
	return delays
}

// spansOf makes a trace of the latest path of a flow: a span for the flow, and in it one for each hop, as long as
// packets of the flow stayed there in the mean, and one for each link. The trace ends when the latest report came.
// Where a time is not known its span has no length, and says so. The id of the trace is that of the flow and part; seed
// tells spans of one trace that are made apart from each other.
func spansOf(f *telemetry.Flow, part, seed uint64, links map[linkEnd]uint64) []*trace.Span {
	if len(f.Paths) == 0 {
		return nil
	}
	path := &f.Paths[0]
	whole := &trace.Span{
		Name: f.Src.String() + " > " + f.Dst.String(), Kind: trace.Span_SPAN_KIND_INTERNAL,
		Attributes: []*common.KeyValue{
			text("waybill.flow.id", f.ID),
			text("source.address", f.Src.String()), text("destination.address", f.Dst.String()),
			number("source.port", f.SrcPort), number("destination.port", f.DstPort),
			text("network.transport", f.Protocol),
			number("waybill.packets", f.Packets), number("waybill.drops", f.Drops),
		},
	}
	if path.ID != "" {
		whole.Attributes = append(whole.Attributes, text("waybill.path.id", path.ID))
	}
	spans := []*trace.Span{whole}
	atNs := uint64(0) // from the begin of the trace
	add := func(name string, ns uint64, known bool) *trace.Span {
		s := &trace.Span{
			Name: name, Kind: trace.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: atNs, EndTimeUnixNano: atNs + ns,
		}
		if !known {
			s.Attributes = append(s.Attributes, text("waybill.time", "unknown"))
		}
		atNs += ns
		spans = append(spans, s)
		return s
	}
	for i := range path.Hops {
		h := &path.Hops[i]
		if i > 0 {
			from := &path.Hops[i-1]
			ns, known := delayBetween(from, h, links)
			s := add(nodeName(from)+" > "+nodeName(h), ns, known)
			s.Attributes = append(s.Attributes, text("waybill.span", "link"))
		}
		if h.Missing > 0 {
			s := add(nodeName(h), 0, false)
			s.Attributes = append(s.Attributes, text("waybill.span", "missing"), number("waybill.missing", h.Missing))
			continue
		}
		ns := uint64(0)
		if h.LatencyNs != nil {
			ns = uint64(h.LatencyNs.Mean)
		}
		describeHop(add(nodeName(h), ns, h.LatencyNs != nil), h)
	}
	finish(spans, f, part, seed, atNs)
	return spans
}

// describeHop adds what packets met at a hop. Queue and drop are events at its end, where they happen.
func describeHop(s *trace.Span, h *telemetry.PathHop) {
	s.Attributes = append(s.Attributes, text("waybill.span", "hop"))
	for key, v := range map[string]*uint32{
		"waybill.node": h.Node, "waybill.ingress_port": h.IngressPort, "waybill.egress_port": h.EgressPort,
	} {
		if v != nil {
			s.Attributes = append(s.Attributes, number(key, *v))
		}
	}
	if l := h.LatencyNs; l != nil {
		s.Attributes = append(s.Attributes,
			number("waybill.residence.min_ns", l.Min), number("waybill.residence.max_ns", l.Max),
			real("waybill.residence.mean_ns", l.Mean), number("waybill.residence.packets", l.Count))
	}
	if q := h.Queue; q != nil {
		about := []*common.KeyValue{
			number("waybill.queue.id", q.ID), real("waybill.queue.mean", q.Mean), number("waybill.queue.max", q.Max),
			text("waybill.queue.unit", q.Unit),
		}
		s.Attributes = append(s.Attributes, about...)
		met := &trace.Span_Event{Name: "queue", TimeUnixNano: s.EndTimeUnixNano, Attributes: about}
		s.Events = append(s.Events, met)
	}
	if h.Dropped {
		s.Events = append(s.Events, &trace.Span_Event{Name: "drop", TimeUnixNano: s.EndTimeUnixNano})
		s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: "packets were dropped here"}
	}
}

func delayBetween(from, to *telemetry.PathHop, links map[linkEnd]uint64) (ns uint64, known bool) {
	if from.Node == nil || to.Node == nil {
		return 0, false
	}
	end := linkEnd{from: *from.Node, to: *to.Node}
	if from.EgressPort != nil {
		end.port, end.known = *from.EgressPort, true
	}
	ns, known = links[end]
	return ns, known
}

// finish moves the trace to where it ends, and gives its spans ids: that of the trace begins with the id of the flow.
func finish(spans []*trace.Span, f *telemetry.Flow, part, seed, lastedNs uint64) {
	last := uint64(f.Last.UnixNano())
	begin := last - min(lastedNs, last)
	hash := fnv.New64a()
	flow, _ := strconv.ParseUint(f.ID, 16, 64) // ids of flows are 16 digits
	id := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, flow), part)
	whole := spans[0]
	whole.EndTimeUnixNano = lastedNs
	for i, s := range spans {
		hash.Reset()
		hash.Write(binary.BigEndian.AppendUint64(slices.Clip(id), seed))
		hash.Write([]byte{byte(i), byte(i >> 8)})
		s.TraceId, s.SpanId = id, hash.Sum(nil)
		if i > 0 {
			s.ParentSpanId = whole.SpanId
			if s.Status != nil {
				whole.Status = s.Status
			}
		}
		s.StartTimeUnixNano += begin
		s.EndTimeUnixNano += begin
		for _, e := range s.Events {
			e.TimeUnixNano += begin
		}
	}
}

func nodeName(h *telemetry.PathHop) string {
	switch {
	case h.Name != "":
		return h.Name
	case h.Node != nil:
		return fmt.Sprint("node ", *h.Node)
	case h.Missing > 0:
		return fmt.Sprint(h.Missing, " unknown")
	}
	return "unknown"
}
