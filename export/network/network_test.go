package network

import (
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/waybill-int/waybill/telemetry"
)

var update = flag.Bool("update", false, "write the table of docs/reference/network-metrics.md")

const page = "../../docs/reference/network-metrics.md"

// TestPage holds the table of metrics to their descriptions.
func TestPage(t *testing.T) {
	const head = "| Metric | Labels | Meaning |\n|---|---|---|\n"
	table := head
	for _, d := range descs {
		text := d.String() // Desc{fqName: "n", help: "h", ..., variableLabels: {a,b}}
		between := func(from, to string) string {
			_, rest, _ := strings.Cut(text, from)
			found, _, _ := strings.Cut(rest, to)
			return found
		}
		labels := ""
		if list := between("variableLabels: {", "}"); list != "" {
			labels = "`" + strings.ReplaceAll(list, ",", "`, `") + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", between(`fqName: "`, `"`), labels, between(`help: "`, `",`))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	_, after, _ := strings.Cut(rest, "\n\n")
	want := before + table + "\n" + after
	switch {
	case !found:
		t.Fatalf("%s has no table", page)
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(text):
		t.Errorf("%s is not what the metrics say: go test ./export/network -run Page -update", page)
	}
}

// sources are of a network of which only names are known.
func sources(names map[uint32]string) Sources {
	return Sources{
		Names:     func() map[uint32]string { return names },
		Inventory: func() *telemetry.Inventory { return nil },
		Links:     func() []telemetry.Link { return nil },
		Units:     func() map[uint32]telemetry.UtilizationUnit { return nil },
		Queues:    func() []telemetry.QueueHistogram { return nil },
		Incidents: func() []telemetry.Incident { return nil },
		Attacks:   func() []telemetry.Attack { return nil },
	}
}

// values gathers metrics of a name by their labels.
func values(t *testing.T, m *Metrics, name string) map[string]*dto.Metric {
	t.Helper()
	families, err := m.Gatherer(true).Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*dto.Metric{}
	for _, f := range families {
		if f.GetName() != "waybill_network_"+name {
			continue
		}
		for _, x := range f.GetMetric() {
			labels := ""
			for _, l := range x.GetLabel() {
				labels += l.GetName() + "=" + l.GetValue() + " "
			}
			all[strings.TrimSpace(labels)] = x
		}
	}
	return all
}

func hop(node, in, out uint32, packets uint64) telemetry.HopInterval {
	h := telemetry.HopInterval{Packets: packets}
	h.Node, h.IngressPort, h.EgressPort = node, in, out
	h.Has = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	return h
}

// TestLimit: what has no room is counted, and what is there already counts on.
func TestLimit(t *testing.T) {
	m := New(sources(nil), 2)
	for range 2 {
		m.Take(&telemetry.Intervals{
			Hops: []telemetry.HopInterval{hop(1, 1, 2, 10), hop(2, 1, 2, 20), hop(3, 1, 2, 40)},
		})
	}
	got := map[string]float64{}
	for labels, x := range values(t, m, "node_packets_total") {
		got[labels] = x.GetCounter().GetValue()
	}
	if want := map[string]float64{"node=1": 20, "node=2": 40}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	left := values(t, m, "unlisted_packets_total")
	if n := left["of=node"].GetCounter().GetValue(); n != 80 {
		t.Errorf("%v packets of nodes unlisted, want 80", n)
	}
	// The first node has both places of ports; those of the others, in and out, have none.
	if n := left["of=port"].GetCounter().GetValue(); n != 240 {
		t.Errorf("%v packets of ports unlisted, want 240", n)
	}
}

// TestNames: no two nodes have the same series, whatever they are called.
func TestNames(t *testing.T) {
	m := New(sources(map[uint32]string{1: "a", 2: "a", 3: "4", 5: "b"}), 9)
	for id := range uint32(5) {
		m.Take(&telemetry.Intervals{Hops: []telemetry.HopInterval{hop(id+1, 1, 2, uint64(id)+1)}})
	}
	got := map[string]float64{}
	for labels, x := range values(t, m, "node_packets_total") {
		got[labels] = x.GetCounter().GetValue()
	}
	want := map[string]float64{"node=a#1": 1, "node=a#2": 2, "node=4#3": 3, "node=4": 4, "node=b": 5}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBuckets: a value is in the bucket that its metric says, native and classic, whatever the scale it comes with.
func TestBuckets(t *testing.T) {
	for scale := int8(-2); scale <= 7; scale++ {
		for _, ns := range []uint64{300, 4_000, 77_000, 1_000_000, 950_000_000} {
			at := 0
			for telemetry.ExponentialBucket(scale, at, 1).High < ns {
				at++
			}
			h := telemetry.Histogram{
				Count: 3, Sum: 3 * ns, Min: ns, Max: ns, Scale: scale, Start: int16(at), Counts: []uint64{3},
			}
			var d distribution
			d.addNs(&h)
			b := telemetry.ExponentialBucket(scale, at, 1)
			m, err := d.metric(nodeLatency, true, "a")
			if err != nil {
				t.Fatal(err)
			}
			var x dto.Metric
			if err := m.Write(&x); err != nil {
				t.Fatal(err)
			}
			got := x.GetHistogram()
			if got.GetSampleCount() != 3 || got.GetSampleSum() != 3*float64(ns)/1e9 || len(got.GetPositiveSpan()) != 1 {
				t.Fatalf("scale %d: %v", scale, got)
			}
			// The middle of the bucket that it came with, within a bucket of ours and what scaling moves.
			low := bound(int(got.GetPositiveSpan()[0].GetOffset())-1) * 1e9
			high := bound(int(got.GetPositiveSpan()[0].GetOffset())) * 1e9
			if low > float64(b.High)*1.1 || high < float64(b.Low)/1.1 {
				t.Errorf("scale %d: %d ns came as %d to %d and are %.0f to %.0f", scale, ns, b.Low, b.High, low, high)
			}
			for _, c := range got.GetBucket() {
				if upper := 1e9 * c.GetUpperBound(); upper > 1.1*float64(b.High) && c.GetCumulativeCount() != 3 ||
					upper < float64(b.Low)/1.1 && c.GetCumulativeCount() != 0 {
					t.Errorf("scale %d: %d ns: %d are below %v", scale, ns, c.GetCumulativeCount(), c.GetUpperBound())
				}
			}
		}
	}
}

// TestZeroDepth: an empty queue is in the bucket of zeros.
func TestZeroDepth(t *testing.T) {
	from := sources(nil)
	from.Queues = func() []telemetry.QueueHistogram {
		return []telemetry.QueueHistogram{{
			Node: 1, Unit: "bytes", Sum: 30,
			Buckets: []telemetry.Bucket{{Low: 0, High: 0, Count: 5}, {Low: 15, High: 15, Count: 2}},
		}}
	}
	h := values(t, New(from, 9), "queue_depth")["node=1 port= port_name= queue=0 unit=bytes"].GetHistogram()
	if h.GetZeroCount() != 5 || h.GetSampleCount() != 7 || h.GetSampleSum() != 30 ||
		h.GetBucket()[0].GetCumulativeCount() != 7 {
		t.Errorf("got %v", h)
	}
}

var _ prometheus.Metric = histogram{}

// bound is the upper bound of a native bucket.
func bound(at int) float64 { return math.Exp2(float64(at) / (1 << schema)) }
