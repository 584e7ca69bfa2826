package telemetry_test

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

var anySource = netip.MustParseAddrPort("192.0.2.11:40000")

func decode(t testing.TB, c *codepoint.Config, payload []byte) (telemetry.Header, []telemetry.Report) {
	t.Helper()
	var batch telemetry.Batch
	var h telemetry.Header
	telemetry.NewDecoder(c).Decode(payload, anySource, 6000, &batch, &h)
	return h, batch.Reports
}

// payloadOf returns the bytes behind the report's UDP header.
func payloadOf(t testing.TB, v *test.Vector) []byte {
	t.Helper()
	if v.StartsAt == "telemetry_report" {
		return v.Bytes
	}
	d, ok := test.UDP(v.Bytes)
	if !ok {
		t.Fatalf("%s: no UDP payload", v.Name)
	}
	return d.Payload
}

// wantReport is what a vector's layers say about a report, gathered without any code of the decoder.
type wantReport struct {
	flow  string
	nodes string // of the stack, source first
	flags string
}

func walk(layers []any, w *wantReport) {
	var src, dst, ports, protocol string
	names := map[float64]string{1: "icmp", 6: "tcp", 17: "udp", 51: "ah"}
	for _, l := range layers {
		layer := l.(map[string]any)
		switch layer["layer"] {
		case "ipv4", "ipv6":
			src, dst = layer["src"].(string), layer["dst"].(string)
			next := layer["protocol"]
			if next == nil {
				next = layer["next_header"]
			}
			protocol, ports = names[next.(float64)], ""
		case "udp", "tcp":
			protocol = layer["layer"].(string)
			ports = fmt.Sprint(layer["src_port"], " ", layer["dst_port"])
		case "int_shim_l4_v2":
			if p, ok := layer["original_dst_port"]; ok {
				ports = fmt.Sprint(strings.Fields(ports)[0], " ", p)
			}
		}
		hops, ok := layer["hops"].([]any)
		if !ok {
			hops, ok = layer["nodes"].([]any)
		}
		if ok {
			var nodes []string
			for _, h := range hops {
				nodes = append([]string{fmt.Sprint(h.(map[string]any)["node_id"])}, nodes...)
			}
			w.nodes = strings.Join(nodes, " ")
		}
	}
	w.flow = strings.TrimSpace(fmt.Sprint(src, " ", dst, " ", ports, " ", protocol))
}

func got(r *telemetry.Report) wantReport {
	var w wantReport
	if r.Is(telemetry.HasFlow) {
		e := telemetry.EndpointsOf(&r.Flow)
		ports := ""
		if e.SrcPort|e.DstPort != 0 {
			ports = fmt.Sprint(e.SrcPort, " ", e.DstPort)
		}
		w.flow = fmt.Sprint(e.Src, " ", e.Dst, " ", ports, " ", e.Protocol)
	}
	var nodes []string
	for _, h := range r.Hops {
		nodes = append(nodes, fmt.Sprint(h.NodeID))
	}
	w.nodes = strings.Join(nodes, " ")
	for _, f := range []struct {
		flag telemetry.Flags
		name string
	}{{telemetry.Dropped, "d"}, {telemetry.Congested, "q"}, {telemetry.Tracked, "f"}, {telemetry.Intermediate, "i"}} {
		if r.Is(f.flag) {
			w.flags += f.name
		}
	}
	return w
}

func flagsOf(m map[string]any) (s string) {
	for _, name := range []string{"d", "q", "f", "i"} {
		if on, _ := m[name].(bool); on {
			s += name
		}
	}
	return s
}

// Every good vector of a report yields the flow, stack and flags that its description says.
func TestDecodeVectors(t *testing.T) {
	vectors := append(test.Vectors(t, "tr*"), test.Vectors(t, "ts_*")...)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			h, reports := decode(t, v.Points(t), payloadOf(t, &v))
			if h.Outcome != telemetry.Decoded {
				t.Fatalf("outcome: got %v, reason %v", h.Outcome, h.Reason)
			}
			layers := v.Expect.([]any)
			var group map[string]any
			var behind []any
			for i, l := range layers {
				if name := l.(map[string]any)["layer"].(string); strings.HasPrefix(name, "telemetry_report") {
					group, behind = l.(map[string]any), layers[i+1:]
				}
			}
			var want []wantReport
			add := func(flags map[string]any, inner any) {
				w := wantReport{flags: flagsOf(flags)}
				if list, ok := inner.([]any); ok && len(list) > 0 {
					walk(list, &w)
				}
				want = append(want, w)
			}
			if list, ok := group["reports"].([]any); ok {
				for _, r := range list {
					m := r.(map[string]any)
					if m["opaque"] != nil {
						continue
					}
					inner := m["inner"]
					if tlvs, ok := m["tlvs"].([]any); ok {
						for _, tlv := range tlvs {
							if i := tlv.(map[string]any)["inner"]; i != nil {
								inner = i
							}
						}
					}
					switch group["quirk"] { // its flags are not those on the wire
					case "ts_core_report":
						m["f"] = true
					case "ts_drop_report":
						m["d"] = true
					}
					add(m, inner)
				}
			} else {
				add(group, behind)
			}
			if len(reports) != len(want) {
				t.Fatalf("got %d reports, want %d", len(reports), len(want))
			}
			for i := range reports {
				if g := got(&reports[i]); !reflect.DeepEqual(g, want[i]) {
					t.Errorf("report %d:\ngot  %+v\nwant %+v", i, g, want[i])
				}
			}
			if h.Sequence != uint32(group["sequence"].(float64)) || float64(h.HWID) != group["hw_id"] {
				t.Errorf("header: got %+v", h)
			}
		})
	}
}

// The malformed vectors are counted under their code, and what was readable before is kept.
func TestDecodeMalformed(t *testing.T) {
	for _, v := range test.Vectors(t, "bad_tr*") {
		h, reports := decode(t, v.Points(t), v.Bytes)
		want := v.Expect.(map[string]any)["error"]
		if h.Outcome == telemetry.Decoded || h.Reason.Error() != want {
			t.Errorf("%s: got outcome %v, reason %v; want %v", v.Name, h.Outcome, h.Reason, want)
		}
		if keep, _ := v.Expect.(map[string]any)["keep"].(map[string]any); keep["node_id"] != nil {
			if float64(h.NodeID) != keep["node_id"] || float64(h.Sequence) != keep["sequence"] || !h.HasSequence {
				t.Errorf("%s: header lost: %+v", v.Name, h)
			}
		}
		if len(reports) > 0 && h.Outcome == telemetry.Malformed {
			t.Errorf("%s: malformed with %d reports", v.Name, len(reports))
		}
	}
}

// Captured reports of other people's switches, under the dialect of each, show the flows and stacks that the captures'
// truth files count.
func TestDecodeCaptures(t *testing.T) {
	for capture, dialect := range map[string]string{
		"onos_v10_udp": "onos-int10-ver0", "onos_v10_tcp": "onos-int10-ver0", "onos_v10_burst": "onos-int10-ver0",
		"onos_v10_pathchange": "onos-int10-ver0",
		"geant_v10_head_udp":  "geant-int10", "geant_v10_2021_udp": "geant-int10-2021", "geant_v04_udp": "geant-int04",
		"onos_fabric_v04_udp": "onos-int04", "fabric_tna_xd_udp": "fabric-tna-bmv2",
		"fabric_tna_xd_tcp": "fabric-tna-bmv2", "fabric_tna_xd_drop": "fabric-tna-bmv2",
		"tps_v21_udp": "tps", "tps_v21_udp6": "tps",
	} {
		t.Run(capture, func(t *testing.T) {
			var truth struct {
				Statistics struct {
					H1 struct {
						Flows map[string]int
					}
					Reports struct {
						Reports int
						Flows   map[string]int `json:"inner_flows"`
						Stacks  map[string]int `json:"switch_id_stacks_wire_order"`
						Reasons map[string]int `json:"drop_reasons"`
						E       int            `json:"e_bit_set"`
					}
				} `json:"statistics_whole_capture"`
			}
			test.Truth(t, capture, &truth)
			decoder := telemetry.NewDecoder(test.Dialect(t, dialect))
			var batch telemetry.Batch
			for _, frame := range test.Packets(t, capture+"_reports.pcap") {
				d, ok := test.UDP(frame)
				if !ok || d.DstPort >= 6001 && d.DstPort <= 6009 { // copies of user packets, no reports
					continue
				}
				var h telemetry.Header
				if decoder.Decode(d.Payload, d.Src, d.DstPort, &batch, &h); h.Outcome != telemetry.Decoded {
					t.Fatalf("got outcome %v, reason %v", h.Outcome, h.Reason)
				}
			}
			flows, stacks, reasons, e := map[string]int{}, map[string]int{}, map[string]int{}, 0
			for i := range batch.Reports {
				r := &batch.Reports[i]
				f := telemetry.EndpointsOf(&r.Flow)
				flows[fmt.Sprintf("%s->%s/%d", netip.AddrPortFrom(f.Src, f.SrcPort),
					netip.AddrPortFrom(f.Dst, f.DstPort), r.Flow.Protocol)]++
				if r.Is(telemetry.Embedded) {
					var nodes []string
					for j := range r.Hops {
						name := "?"
						if r.Hops[j].Has&telemetry.HasNode != 0 {
							name = fmt.Sprint(r.Hops[j].NodeID)
						}
						nodes = append([]string{name}, nodes...)
					}
					stacks[strings.Join(nodes, "-")]++
				}
				if r.Local.Has&telemetry.HasDrop != 0 {
					reasons[fmt.Sprintf("sw%d reason %d", r.NodeID, r.Local.DropReason)]++
				}
				if r.Is(telemetry.HopLimit) {
					e++
				}
			}
			want := truth.Statistics.Reports
			if dialect == "tps" { // the truth counts the flows of the inserted UDP header, Waybill the original ones
				want.Flows = truth.Statistics.H1.Flows
			}
			if len(batch.Reports) != want.Reports {
				t.Errorf("reports: got %d, want %d", len(batch.Reports), want.Reports)
			}
			// The truth names IPv6 addresses in brackets or not, as it pleases.
			plain := map[string]int{}
			for name, n := range flows {
				plain[strings.NewReplacer("[", "", "]", "").Replace(name)] = n
			}
			wanted := map[string]int{}
			for name, n := range want.Flows {
				wanted[strings.NewReplacer("[", "", "]", "").Replace(name)] = n
			}
			if !maps.Equal(plain, wanted) {
				t.Errorf("flows:\ngot  %v\nwant %v", plain, wanted)
			}
			if !maps.Equal(stacks, want.Stacks) {
				t.Errorf("stacks:\ngot  %v\nwant %v", stacks, want.Stacks)
			}
			if e != want.E {
				t.Errorf("E bit: got %d, want %d", e, want.E)
			}
			if len(want.Reasons) > 0 && !maps.Equal(reasons, want.Reasons) {
				t.Errorf("drop reasons: got %v, want %v", reasons, want.Reasons)
			}
		})
	}
}
