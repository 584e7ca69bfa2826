package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/wire/dissect"
)

// A shortField is a column whose name holds for every version of what it is about.
type shortField struct {
	name, help string
	values     func(dst []string, p *decodedPacket, w *fieldsWriter) []string
}

func (s *shortField) column() column { return column{s.name, s.values} }

// shortFields are the short forms that -e takes, besides "layer.field".
var shortFields = []shortField{
	{
		"frame.number", "number of the packet in its file, from 1",
		frame(func(p *decodedPacket, _ *fieldsWriter) string { return strconv.Itoa(p.Number) }),
	},
	{"frame.time", "when it was captured, RFC 3339 in UTC", frame(frameTime)},
	{
		"frame.time_epoch", "when it was captured, in seconds since 1970",
		frame(func(p *decodedPacket, _ *fieldsWriter) string {
			return fmt.Sprintf("%d.%09d", p.Time.Unix(), p.Time.Nanosecond())
		}),
	},
	{"frame.time_relative", "seconds since the first packet", frame(func(p *decodedPacket, w *fieldsWriter) string {
		return fmt.Sprintf("%.9f", p.Time.Sub(w.first).Seconds())
	})},
	{
		"frame.length", "bytes on the wire",
		frame(func(p *decodedPacket, _ *fieldsWriter) string { return strconv.Itoa(p.Length) }),
	},
	{
		"frame.captured", "bytes in the file",
		frame(func(p *decodedPacket, _ *fieldsWriter) string { return strconv.Itoa(p.Captured) }),
	},
	{
		"summary", "the packet in one line",
		frame(func(p *decodedPacket, _ *fieldsWriter) string { return dissect.Summary(p.Layers) }),
	},
	{"error", "codes of the rules that are broken", errorCodes},
	{"quirk", "how it was read otherwise than the specifications say", quirks},

	{
		"report.version", "version of the telemetry report",
		ofReport(func(r *dissect.Layer) []string { return []string{reportVersion(r)} }),
	},
	{"report.node", "node that sends the report, as far as the report says it", ofReport(reportNodes)},
	{"report.hw_id", "reporting subsystem", inReport("hw_id")},
	{"report.sequence", "sequence number", inReport("sequence")},
	{"report.ingress_ts", "ingress timestamp", inReport("ingress_ts")},
	{"report.egress_ts", "egress timestamp", inReport("egress_ts")},
	{"report.latency", "hop latency of the reporting node", inReport("hop_latency")},
	{"report.queue_id", "queue of the reporting node", inReport("queue_id")},
	{"report.queue_occupancy", "queue occupancy of the reporting node", inReport("queue_occupancy")},
	{"report.ingress_port", "ingress port of the reporting node", inReport("ingress_port", "l1_ingress")},
	{"report.egress_port", "egress port of the reporting node", inReport("egress_port", "l1_egress")},
	{"report.tx_util", "egress port utilization of the reporting node", inReport("egress_tx_util")},
	{"report.drop_reason", "number of the drop reason", inReport("drop_reason")},
	{"report.drop_text", "the drop reason in words, if the dialect has a table", dropTexts},
	{"report.d", "a packet was dropped", inReport("d")},
	{"report.q", "a queue is congested", inReport("q")},
	{"report.f", "the flow is tracked", inReport("f")},
	{"report.i", "an intermediate report", inReport("i")},

	{
		"flow.src", "source address of the packet, or of those that the report is about",
		ofFlow(func(f dissect.Flow) string { return f.Src }),
	},
	{"flow.dst", "destination address", ofFlow(func(f dissect.Flow) string { return f.Dst })},
	{
		"flow.src_port", "source port, before INT was inserted",
		ofFlow(func(f dissect.Flow) string { return strconv.Itoa(int(f.SrcPort)) }),
	},
	{
		"flow.dst_port", "destination port, before INT was inserted",
		ofFlow(func(f dissect.Flow) string { return strconv.Itoa(int(f.DstPort)) }),
	},
	{
		"flow.protocol", "IP protocol number, before INT was inserted",
		ofFlow(func(f dissect.Flow) string { return strconv.Itoa(int(f.Protocol)) }),
	},
	{"flow", "all of it", ofFlow(dissect.Flow.String)},

	{"node", "every node that the packet names: the reporting one, then the hops, newest first", nodes},
	{"int.version", "version of INT, IOAM or IFA", versions},
	{"int.hops", "number of hops", hopCount},
	{"int.instruction_bitmap", "what INT asks for", ofTelemetry("instruction_bitmap")},
	{"int.remaining_hop_count", "hops that may still add metadata", ofTelemetry("remaining_hop_count")},
	{"hop.node", "node ids of the hops, newest first", ofHops("node_id", "switch_id", "device_id", "node_id_wide")},
	{"hop.latency", "hop latencies", ofHops("hop_latency", "residence", "transit_delay")},
	{
		"hop.ingress_port", "level 1 ingress interfaces",
		ofHops("l1_ingress", "ingress_port_id", "ingress_port", "ingress_if", "ingress_if_wide"),
	},
	{
		"hop.egress_port", "level 1 egress interfaces",
		ofHops("l1_egress", "egress_port_id", "egress_port", "egress_if", "egress_if_wide"),
	},
	{"hop.l2_ingress", "level 2 ingress interfaces", ofHops("l2_ingress")},
	{"hop.l2_egress", "level 2 egress interfaces", ofHops("l2_egress")},
	{"hop.queue_id", "queues", ofHops("queue_id")},
	{"hop.queue_occupancy", "queue occupancies", ofHops("queue_occupancy", "queue_depth")},
	{"hop.queue_congestion", "queue congestion", ofHops("queue_congestion")},
	{"hop.ingress_ts", "ingress timestamps", ofHops("ingress_ts")},
	{"hop.egress_ts", "egress timestamps", ofHops("egress_ts")},
	{"hop.tx_util", "egress port utilization", ofHops("egress_tx_util")},
	{"hop.buffer_id", "buffers", ofHops("buffer_id")},
	{"hop.buffer_occupancy", "buffer occupancies", ofHops("buffer_occupancy")},
}

type valuesFunc = func(dst []string, p *decodedPacket, w *fieldsWriter) []string

func frame(value func(p *decodedPacket, w *fieldsWriter) string) valuesFunc {
	return func(dst []string, p *decodedPacket, w *fieldsWriter) []string { return append(dst, value(p, w)) }
}

func frameTime(p *decodedPacket, _ *fieldsWriter) string {
	if p.Time.IsZero() {
		return ""
	}
	return p.Time.UTC().Format(time.RFC3339Nano)
}

func errorCodes(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
	for e := range dissect.Errors(p.Layers) {
		dst = append(dst, e.Error())
	}
	return dst
}

func quirks(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
	visit(p.Layers, func(l *dissect.Layer) {
		if f := l.Find("quirk"); f != nil {
			dst = append(dst, f.Text())
		}
	})
	return dst
}

func ofReport(values func(r *dissect.Layer) []string) valuesFunc {
	return func(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
		if r := dissect.Report(p.Layers); r != nil {
			dst = append(dst, values(r)...)
		}
		return dst
	}
}

// reportNodes returns the node that a report names, if it does.
func reportNodes(r *dissect.Layer) []string {
	for _, path := range [][]string{{"node_id"}, {"switch_id"}, {"drop", "switch_id"}, {"switch_local", "switch_id"}} {
		if values := appendPath(nil, r.Fields, path); len(values) > 0 {
			return values
		}
	}
	return nil
}

// inReport collects the fields with one of names in a report header, wherever the version has them.
func inReport(names ...string) valuesFunc {
	return ofReport(func(r *dissect.Layer) []string {
		var values []string
		for _, name := range names {
			for _, path := range [][]string{
				{name},
				{"drop", name},
				{"switch_local", name},
				{"metadata", name},
				{"reports", name},
				{"reports", "metadata", name},
			} {
				values = appendPath(values, r.Fields, path)
			}
		}
		return values
	})
}

func dropTexts(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
	r := dissect.Report(p.Layers)
	if r == nil {
		return dst
	}
	var objects []dissect.Object
	for _, name := range []string{"drop", "metadata"} {
		if f := r.Find(name); f != nil {
			o, _ := f.Value.(dissect.Object)
			objects = append(objects, o)
		}
	}
	for _, report := range r.Find("reports").Objects() {
		if f := report.Find("metadata"); f != nil {
			o, _ := f.Value.(dissect.Object)
			objects = append(objects, o)
		}
	}
	for _, o := range objects {
		if f := o.Find("drop_reason"); f != nil {
			dst = append(dst, f.Meaning)
		}
	}
	return dst
}

func ofFlow(value func(f dissect.Flow) string) valuesFunc {
	return func(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
		for _, fragment := range dissect.Fragments(p.Layers) {
			if f, ok := dissect.FlowOf(fragment); ok {
				dst = append(dst, value(f))
			}
		}
		return dst
	}
}

// visitTelemetry calls f for every header of INT, IOAM or IFA.
func visitTelemetry(p *decodedPacket, f func(l *dissect.Layer)) {
	visit(p.Layers, func(l *dissect.Layer) {
		if telemetryVersion(l.Name) != "" {
			f(l)
		}
	})
}

func versions(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
	visitTelemetry(p, func(l *dissect.Layer) { dst = append(dst, telemetryVersion(l.Name)) })
	return dst
}

// hopsOf returns the records of a header of INT, IOAM or IFA.
func hopsOf(l *dissect.Layer) []dissect.Object {
	return slices.Concat(l.Find("hops").Objects(), l.Find("nodes").Objects())
}

func hopCount(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
	visitTelemetry(p, func(l *dissect.Layer) { dst = append(dst, strconv.Itoa(len(hopsOf(l)))) })
	return dst
}

func ofTelemetry(name string) valuesFunc {
	return func(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
		visitTelemetry(p, func(l *dissect.Layer) { dst = appendPath(dst, l.Fields, []string{name}) })
		return dst
	}
}

// ofHops collects from every hop the first field that it has of names.
func ofHops(names ...string) valuesFunc {
	return func(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
		visitTelemetry(p, func(l *dissect.Layer) {
			for _, hop := range hopsOf(l) {
				for _, name := range names {
					if f := hop.Find(name); f != nil {
						dst = append(dst, fieldText(f))
						break
					}
				}
			}
		})
		return dst
	}
}

var hopNodes = ofHops("node_id", "switch_id", "device_id", "node_id_wide")

func nodes(dst []string, p *decodedPacket, w *fieldsWriter) []string {
	if r := dissect.Report(p.Layers); r != nil {
		dst = append(dst, reportNodes(r)...)
	}
	for _, node := range hopNodes(nil, p, w) {
		if !slices.Contains(dst, node) {
			dst = append(dst, node)
		}
	}
	return dst
}
