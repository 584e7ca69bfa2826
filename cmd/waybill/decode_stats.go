package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// A statsWriter counts packets and prints the counts in the end.
type statsWriter struct {
	out     *bufio.Writer
	cfg     *codepoint.Config
	asJSON  bool
	packets int
	bytes   int
	counts  map[string]map[string]int // kind, value
}

// Kinds of counts, in the order in which they are printed.
const (
	countReport  = "report"
	countNode    = "node"
	countDialect = "dialect"
	countINT     = "telemetry"
	countQuirk   = "quirk"
	countError   = "error"
)

var countKinds = []string{countReport, countNode, countDialect, countINT, countQuirk, countError}

func newStatsWriter(out *bufio.Writer, cfg *codepoint.Config, asJSON bool) *statsWriter {
	w := &statsWriter{out: out, cfg: cfg, asJSON: asJSON, counts: map[string]map[string]int{}}
	for _, kind := range countKinds {
		w.counts[kind] = map[string]int{}
	}
	return w
}

func (w *statsWriter) write(p *decodedPacket) error {
	w.packets++
	w.bytes += p.Length
	report := dissect.Report(p.Layers)
	if report != nil {
		w.counts[countReport][reportVersion(report)]++
		for _, node := range reportNodes(report) {
			w.counts[countNode][node]++
		}
	}
	w.counts[countDialect][w.dialect(p.Layers)]++
	// A packet counts once for each value, however often it has it.
	seen := map[[2]string]bool{}
	count := func(kind, value string) {
		if !seen[[2]string{kind, value}] {
			seen[[2]string{kind, value}] = true
			w.counts[kind][value]++
		}
	}
	visit(p.Layers, func(l *dissect.Layer) {
		if version := telemetryVersion(l.Name); version != "" {
			count(countINT, version)
		}
		if quirk := l.Find("quirk"); quirk != nil {
			for name := range strings.SplitSeq(quirk.Text(), ",") {
				count(countQuirk, name)
			}
		}
	})
	for e := range dissect.Errors(p.Layers) {
		count(countError, e.Error())
	}
	return nil
}

// visit calls f for every layer, also for those inside reports.
func visit(layers []dissect.Layer, f func(*dissect.Layer)) {
	for i := range layers {
		f(&layers[i])
	}
	if r := dissect.Report(layers); r != nil && r.Find("reports") != nil {
		for _, fragment := range dissect.Fragments(layers) {
			visit(fragment, f)
		}
	}
}

// reportVersion returns "0.5", "1.0", "2.0" or "unknown version".
func reportVersion(report *dissect.Layer) string {
	version, ok := strings.CutPrefix(report.Name, "telemetry_report_v")
	if !ok {
		return "unknown version"
	}
	return strings.ReplaceAll(version, "_", ".")
}

func telemetryVersion(layer string) string {
	switch layer {
	case "int_2016":
		return "INT 2016"
	case "int_hbh_v0_5":
		return "INT 0.5"
	case "int_hbh_v1":
		return "INT 1.0"
	case "int_md":
		return "INT 2.x MD"
	case "int_mx":
		return "INT 2.x MX"
	case "ioam_trace", "ioam_e2e", "ioam_dex", "ioam_pot", "ioam":
		return strings.ReplaceAll(strings.ToUpper(layer[:4])+layer[4:], "_", " ")
	case "ifa_metadata":
		return "IFA 2.0"
	}
	return ""
}

// dialect returns the name of the dialect that a packet was read in: that of its outermost addresses and ports.
func (w *statsWriter) dialect(layers []dissect.Layer) string {
	var source netip.Addr
	for i := range layers {
		l := &layers[i]
		switch l.Name {
		case "ipv4", "ipv6":
			if source.IsValid() { // of a tunnel
				return w.cfg.For(source, 0, 0).Dialect.Name
			}
			source, _ = netip.ParseAddr(l.Find("src").Text())
		case "udp", "tcp":
			if source.IsValid() {
				return w.cfg.For(source, uint16(l.Find("src_port").Number()),
					uint16(l.Find("dst_port").Number())).Dialect.Name
			}
		}
	}
	return w.cfg.For(source, 0, 0).Dialect.Name
}

func (w *statsWriter) close() error {
	if w.asJSON {
		return w.closeJSON()
	}
	table := tabwriter.NewWriter(w.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "KIND\tVALUE\tPACKETS\n")
	fmt.Fprintf(table, "all\t%d bytes\t%d\n", w.bytes, w.packets)
	for _, kind := range countKinds {
		for _, value := range byCount(w.counts[kind]) {
			fmt.Fprintf(table, "%s\t%s\t%d\n", kind, value, w.counts[kind][value])
		}
	}
	return table.Flush()
}

// byCount returns the values of counts, the most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
}

func (w *statsWriter) closeJSON() error {
	object := map[string]any{"packets": w.packets, "bytes": w.bytes}
	for kind, counts := range w.counts {
		object[kind] = counts
	}
	e := json.NewEncoder(w.out)
	return e.Encode(object)
}
