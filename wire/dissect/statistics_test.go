package dissect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

// statistics is what a truth file counts over all packets of one capture.
type statistics struct {
	Packets       int            `json:"packets"`
	Flows         map[string]int `json:"flows"`
	INTPackets    int            `json:"int_packets"`
	INTFlows      map[string]int `json:"int_flows"`
	Stacks        map[string]int `json:"switch_id_stacks_wire_order"`
	HopCounters   map[string]int `json:"hop_counters"`
	EBitSet       int            `json:"e_bit_set"`
	MaxQueue      int            `json:"max_queue_value"`
	Bitmaps       map[string]int `json:"instruction_bitmaps"`
	NotMultiple   int            `json:"stack_len_not_multiple"`
	LengthDiffers int            `json:"ip_length_differs_from_frame"`

	Reports     int                 `json:"reports"`
	Kinds       map[string]int      `json:"kinds"`
	WithINT     int                 `json:"with_int"`
	InnerFlows  map[string]int      `json:"inner_flows"`
	Truncated   int                 `json:"truncated_int_stack"`
	DropReasons map[string]int      `json:"drop_reasons"`
	Sequences   map[string]sequence `json:"seq_by_source"`

	errors map[wire.Error]int
}

type sequence struct {
	First    int  `json:"first"`
	Last     int  `json:"last"`
	Distinct int  `json:"distinct"`
	Gapless  bool `json:"gapless_increasing"`

	seen map[int]bool
}

// TestCaptureStatistics decodes every packet of every capture that a truth file counts, and compares all that it
// counts.
func TestCaptureStatistics(t *testing.T) {
	for _, tr := range loadTruths(t) {
		for point, want := range tr.Statistics {
			t.Run(tr.Scenario+"/"+point, func(t *testing.T) {
				cfg := scenarioConfig(t, tr.Scenario)
				got := newStatistics()
				for _, b := range readPcap(t, tr.Scenario+"_"+point+".pcap") {
					got.add(b, Packet(b, Ethernet, cfg))
				}
				compare(t, point == "reports", strings.HasPrefix(tr.Scenario, "geant_v04"), got, &want)
			})
		}
	}
}

func newStatistics() *statistics {
	return &statistics{
		Flows: map[string]int{}, INTFlows: map[string]int{}, Stacks: map[string]int{}, HopCounters: map[string]int{},
		Bitmaps: map[string]int{}, Kinds: map[string]int{}, InnerFlows: map[string]int{}, DropReasons: map[string]int{},
		Sequences: map[string]sequence{}, errors: map[wire.Error]int{},
	}
}

// add counts one packet.
func (s *statistics) add(b []byte, layers []Layer) {
	s.Packets++
	for e := range Errors(layers) {
		s.errors[e]++
	}
	if ipLength(layers) != len(b)-14 {
		s.LengthDiffers++
	}
	report, user := userLayers(layers)
	flow := flowText(user)
	header := layerNamed(user, "int_hbh")
	if header == nil {
		header = layerNamed(user, "int_md")
	}
	if report == nil {
		s.Flows[flow]++
		if header != nil {
			s.INTPackets++
			s.INTFlows[flow]++
		}
		s.Kinds["raw_mirrored_not_a_report"]++ // of a capture of reports
	} else {
		s.InnerFlows[flow]++
		s.addReport(layers, report)
		if header != nil {
			s.WithINT++
		}
	}
	if header != nil {
		s.addINT(header)
	}
}

func (s *statistics) addReport(layers []Layer, report *Layer) {
	s.Reports++
	kind := "embedded"
	for _, second := range []string{"drop", "switch_local"} {
		if f := report.Find(second); f != nil {
			kind = second
			o := f.Value.(Object)
			s.MaxQueue = max(s.MaxQueue, int(o.Find("queue_occupancy").Number()))
			if second == "drop" {
				s.DropReasons[fmt.Sprintf("sw%d reason %d", o.Find("switch_id").Number(),
					o.Find("drop_reason").Number())]++
			}
		}
	}
	s.Kinds[kind]++
	source, n := layers[1].Find("src").Text(), int(report.Find("sequence").Number())
	q, ok := s.Sequences[source]
	if !ok {
		q = sequence{First: n, Last: n - 1, Gapless: true, seen: map[int]bool{}}
	}
	q.Gapless = q.Gapless && n == q.Last+1
	q.Last = n
	q.seen[n] = true
	q.Distinct = len(q.seen)
	s.Sequences[source] = q
}

func (s *statistics) addINT(header *Layer) {
	var ids []string
	for _, hop := range header.Find("hops").Objects() {
		id := "?"
		if f := hop.Find("node_id"); f != nil {
			id = fmt.Sprint(f.Number())
		}
		ids = append(ids, id)
		s.MaxQueue = max(s.MaxQueue, int(hop.Find("queue_occupancy").Number()),
			int(hop.Find("queue_congestion").Number()))
	}
	s.Stacks[strings.Join(ids, "-")]++
	if header.Find("e").Flag() {
		s.EBitSet++
	}
	s.Bitmaps[fmt.Sprintf("0x%04x", header.Find("instruction_bitmap").Number())]++
	if f := header.Find("remaining_hop_count"); f != nil {
		s.HopCounters[fmt.Sprint(f.Number())]++
	} else {
		s.HopCounters[fmt.Sprintf("total%d/max%d", header.Find("total_hop_count").Number(),
			header.Find("max_hop_count").Number())]++
	}
	if strings.Contains(header.Find(quirkField).Text(), "cut_stack") {
		s.Truncated++
	}
}

// ipLength is what the outermost IP header says about the length of the packet.
func ipLength(layers []Layer) int {
	if f := layers[1].Find("total_length"); f != nil {
		return int(f.Number())
	}
	return 40 + int(layers[1].Find("payload_length").Number())
}

// flowText writes the first addresses and ports of layers as the truth files do.
func flowText(layers []Layer) string {
	ip, l4, protocol := layers[1], layerNamed(layers, "udp"), 17
	if tcp := layerNamed(layers, "tcp"); l4 == nil && tcp != nil {
		l4, protocol = tcp, 6
	}
	if l4 == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d->%s:%d/%d", ip.Find("src").Text(), l4.Find("src_port").Number(),
		ip.Find("dst").Text(), l4.Find("dst_port").Number(), protocol)
}

func compare(t *testing.T, reports, geant04 bool, got, want *statistics) {
	t.Helper()
	same := func(name string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) { // maps print in the order of their keys; nil and empty ones alike
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	wantErrors := map[wire.Error]int{}
	if geant04 {
		// The program writes 12 bytes for each hop of flow 6005 and counts 8: its packets are corrupt. What the truth
		// says about their stacks is left out, but each must give an error.
		n := want.NotMultiple
		if reports {
			n = want.InnerFlows["10.0.1.1:5005->10.0.2.2:6005/17"]
		}
		if n > 0 {
			wantErrors[wire.ErrStackLengthMismatch] = n
		}
		for _, stacks := range []map[string]int{got.Stacks, want.Stacks} {
			maps.DeleteFunc(stacks, func(key string, _ int) bool { return strings.Trim(key, "?-") == "" })
		}
	} else {
		same("stack_len_not_multiple", got.errors[wire.ErrStackNotMultiple], want.NotMultiple)
	}
	same("errors", got.errors, wantErrors)
	if reports && want.Reports == 0 { // copies of packets, no reports
		same("packets", got.Reports, 0)
		return
	}
	same("switch_id_stacks_wire_order", got.Stacks, want.Stacks)
	same("e_bit_set", got.EBitSet, want.EBitSet)
	same("max_queue_value", got.MaxQueue, want.MaxQueue)
	same("truncated_int_stack", got.Truncated, want.Truncated)
	if !reports {
		same("packets", got.Packets, want.Packets)
		same("flows", got.Flows, want.Flows)
		same("int_packets", got.INTPackets, want.INTPackets)
		same("int_flows", got.INTFlows, want.INTFlows)
		same("hop_counters", got.HopCounters, want.HopCounters)
		same("instruction_bitmaps", got.Bitmaps, want.Bitmaps)
		same("ip_length_differs_from_frame", got.LengthDiffers, want.LengthDiffers)
		return
	}
	same("reports", got.Reports, want.Reports)
	same("kinds", got.Kinds, want.Kinds)
	same("with_int", got.WithINT, want.WithINT)
	same("inner_flows", got.InnerFlows, want.InnerFlows)
	same("drop_reasons", got.DropReasons, want.DropReasons)
	same("ip_length_differs_from_frame", got.LengthDiffers, want.LengthDiffers)
	same("seq_by_source, sources", slices.Sorted(maps.Keys(got.Sequences)), slices.Sorted(maps.Keys(want.Sequences)))
	for source, w := range want.Sequences {
		g := got.Sequences[source]
		g.seen = nil
		same("sequence numbers of "+source, g, w)
	}
}
