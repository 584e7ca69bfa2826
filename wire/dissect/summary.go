package dissect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/wire"
)

// Summary describes a packet in one line: whom it is from and to, and what it is.
func Summary(layers []Layer) string {
	var b strings.Builder
	flow, ok := FlowOf(layers)
	if ok {
		b.WriteString(flow.Src + " -> " + flow.Dst + "  ")
	}
	b.WriteString(what(layers, flow, ok))
	for e := range Errors(layers) {
		b.WriteString(", error " + wire.Error.Error(e))
	}
	return b.String()
}

func what(layers []Layer, flow Flow, ok bool) string {
	var parts []string
	if r := Report(layers); r != nil {
		parts = append(parts, reportSummary(r))
		for _, fragment := range Fragments(layers) {
			if f, ok := FlowOf(fragment); ok {
				parts = append(parts, "about "+f.String())
			}
			parts = append(parts, telemetrySummary(fragment)...)
		}
		return strings.Join(parts, ", ")
	}
	if ok {
		name := protocolName(flow.Protocol)
		if name == "" {
			name = fmt.Sprintf("protocol %d", flow.Protocol)
		}
		if flow.SrcPort != 0 || flow.DstPort != 0 {
			name += fmt.Sprintf(" %d -> %d", flow.SrcPort, flow.DstPort)
		}
		parts = append(parts, name)
	}
	parts = append(parts, telemetrySummary(layers)...)
	if len(parts) == 0 && len(layers) > 0 {
		for _, l := range layers {
			if l.Name != "" && l.Name != "payload" {
				parts = append(parts, l.Name)
			}
		}
	}
	return strings.Join(parts, ", ")
}

func reportSummary(r *Layer) string {
	version := strings.ReplaceAll(strings.TrimPrefix(r.Name, "telemetry_report"), "_v", " v")
	text := "telemetry report" + strings.ReplaceAll(version, "_", ".")
	node := r.Find("node_id")
	if node == nil {
		node = r.Find("switch_id")
	}
	for _, second := range []string{"drop", "switch_local"} {
		if f := r.Find(second); f != nil {
			o, _ := f.Value.(Object)
			node = o.Find("switch_id")
			if second == "drop" {
				text += " of a drop" + reasonText(o)
			}
		}
	}
	if node != nil {
		text += fmt.Sprintf(" of node %d", node.Number())
	}
	reports := r.Find("reports").Objects()
	if len(reports) > 1 {
		text += fmt.Sprintf(" (%d reports)", len(reports))
	}
	for _, report := range reports {
		if f := report.Find("metadata"); f != nil {
			if o, _ := f.Value.(Object); o.Find("drop_reason") != nil {
				text += ", drop" + reasonText(o)
			}
		}
	}
	return text
}

func reasonText(o Object) string {
	f := o.Find("drop_reason")
	if f.Meaning != "" {
		return " (" + f.Meaning + ")"
	}
	return fmt.Sprintf(" (reason %d)", f.Number())
}

// telemetrySummary describes the INT, IOAM and IFA in a packet.
func telemetrySummary(layers []Layer) []string {
	var parts []string
	for i := range layers {
		l := &layers[i]
		title, list, id := "", "hops", "node_id"
		switch l.Name {
		case "int_2016":
			title, id = "INT 2016", "switch_id"
		case "int_hbh_v0_5":
			title = "INT 0.5"
		case "int_hbh_v1":
			title = "INT 1.0"
		case "int_md":
			title = "INT-MD"
		case "int_mx":
			title = "INT-MX"
		case "ioam_trace":
			title, list = "IOAM", "nodes"
		case "ioam_dex", "ioam_e2e", "ioam_pot":
			title = "IOAM"
		case "ifa_metadata":
			title, id = "IFA", "device_id"
		default:
			continue
		}
		parts = append(parts, title+path(l.Find(list).Objects(), id))
	}
	return parts
}

// path lists the nodes of a stack in the order of the packet's way.
func path(hops []Object, id string) string {
	if len(hops) == 0 {
		return ""
	}
	nodes := make([]string, 0, len(hops))
	for _, hop := range slices.Backward(hops) {
		node := "?"
		for _, name := range []string{id, "node_id_wide"} {
			if f := hop.Find(name); f != nil && f.Meaning != NotAvailable {
				node = string(AppendValue(nil, f))
				break
			}
		}
		nodes = append(nodes, node)
	}
	return " path " + strings.Join(nodes, " ")
}
