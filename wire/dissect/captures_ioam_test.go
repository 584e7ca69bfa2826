package dissect

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
)

var (
	traceNames = map[string]string{
		"namespace_id": "namespace_id", "node_len": "node_len", "flags.overflow": "overflow",
		"flags.loopback": "loopback", "flags.active": "active",
		"flags.bit3": "-", "remaining_len": "remaining_len", "trace_type": "trace_type", "reserved": "-",
		"free_bytes": "-",
	}
	nodeNames = map[string]string{
		"hop_lim_node_id.hop_limit": "hop_lim", "hop_lim_node_id.node_id": "node_id",
		"ingress_egress_if.ingress": "ingress_if", "ingress_egress_if.egress": "egress_if",
		"ts_sec": "ts_sec", "ts_frac": "ts_frac", "transit_delay": "transit_delay", "ns_data": "ns_data",
		"queue_depth":         "queue_depth",
		"checksum_complement": "checksum_complement", "buffer_occupancy": "buffer_occupancy",
		"ns_data_wide":                   "ns_data_wide",
		"hop_lim_node_id_wide.hop_limit": "hop_lim_wide", "hop_lim_node_id_wide.node_id": "node_id_wide",
		"ingress_egress_if_wide.ingress": "ingress_if_wide", "ingress_egress_if_wide.egress": "egress_if_wide",
	}
)

func checkIOAMSample(t *testing.T, sample map[string]any, layers []Layer) {
	t.Helper()
	checkFields(t, "ethernet", sample["eth"].(map[string]any), layers[0].Fields, ethernetNames)
	checkFields(t, "ipv6", sample["ip6"].(map[string]any), layers[1].Fields, ipNames)
	checkUpper(t, sample["upper"].(map[string]any), layers)
	hbh, ok := sample["hop_by_hop"].(map[string]any)
	if got := layerNamed(layers, "ipv6_hop_by_hop"); ok != (got != nil) {
		t.Fatalf("hop-by-hop options: got %v, want %v", got != nil, ok)
	}
	if !ok {
		return
	}
	header := layerNamed(layers, "ipv6_hop_by_hop")
	checkFields(t, "hop-by-hop", hbh, header.Fields, map[string]string{
		"next_header": "next_header", "ext_len_field": "hdr_ext_len", "bytes": "-", "options": "-",
	})
	for _, option := range hbh["options"].([]any) {
		option := option.(map[string]any)
		if option["type"] != "0x31 IOAM" {
			continue
		}
		checkFields(t, "option", option, header.Fields, map[string]string{
			"offset": "-", "type": "-", "len": "opt_data_len", "reserved": "-", "ioam_option_type": "ioam_opt_type",
			"trace": "-",
		})
		checkTrace(t, option["trace"].(map[string]any), layerNamed(layers, "ioam_trace"))
	}
}

func checkTrace(t *testing.T, truth map[string]any, l *Layer) {
	t.Helper()
	if l == nil {
		t.Fatal("no trace")
	}
	header := maps.Clone(truth)
	delete(header, "nodes_wire_order_newest_first")
	checkFields(t, "trace", flatten(header), l.Fields, traceNames)
	if free, _ := truthNumber(truth["free_bytes"]); l.Find("free_words").Number() != free/4 {
		t.Errorf("free words: got %d, want %d", l.Find("free_words").Number(), free/4)
	}
	nodes := l.Find("nodes").Objects()
	want := truth["nodes_wire_order_newest_first"].([]any)
	if len(nodes) != len(want) {
		t.Fatalf("got %d nodes, want %d", len(nodes), len(want))
	}
	for i, node := range want {
		node := maps.Clone(node.(map[string]any))
		if snapshot, ok := node["opaque_state_snapshot"].(map[string]any); ok {
			delete(node, "opaque_state_snapshot")
			oss, _ := nodes[i].Find("oss").Value.(Object)
			data, _ := hex.DecodeString(oss.Find("data").Text())
			if string(data) != snapshot["data"] ||
				fmt.Sprint(oss.Find("schema_id").Number()) != snapshot["schema_id"].(json.Number).String() {
				t.Errorf("node %d: snapshot: got %+v, want %v", i, oss, snapshot)
			}
		}
		checkFields(t, fmt.Sprintf("node %d", i), flatten(node), nodes[i], nodeNames)
	}
}

func checkUpper(t *testing.T, truth map[string]any, layers []Layer) {
	t.Helper()
	ports, _ := truth["sport"].(json.Number)
	last := layers[len(layers)-1]
	if want, ok := truth["payload"].(string); ok {
		got, _ := hex.DecodeString(last.Find("hex").Text())
		if string(got) != want {
			t.Errorf("payload: got %q, want %q", got, want)
		}
	}
	if ports == "" {
		return
	}
	l4 := layerNamed(layers, "udp")
	if l4 == nil {
		l4 = layerNamed(layers, "tcp")
	}
	checkFields(t, "upper", truth, l4.Fields,
		map[string]string{"proto": "-", "payload": "-", "sport": "src_port", "dport": "dst_port"})
}

// TestIOAMStatistics counts the nodes in every packet of the IOAM captures.
func TestIOAMStatistics(t *testing.T) {
	for _, tr := range loadTruths(t) {
		for file, want := range tr.IOAM {
			cfg := scenarioConfig(t, tr.Scenario)
			got := map[string]int{}
			for _, b := range readPcap(t, file) {
				got["packets"]++
				layers := Packet(b, Ethernet, cfg)
				for e := range Errors(layers) {
					t.Errorf("%s: packet %d: %v", file, got["packets"], e)
				}
				trace := layerNamed(layers, "ioam_trace")
				if trace == nil {
					got["no_ioam"]++
					continue
				}
				nodes := trace.Find("nodes").Objects()
				got[fmt.Sprintf("traces_with_%d_nodes", len(nodes))]++
				if trace.Find("overflow").Flag() {
					got["overflow"]++
				}
				for _, node := range nodes {
					if f := node.Find("queue_depth"); f != nil && f.Meaning != NotAvailable {
						got["max_queue_depth"] = max(got["max_queue_depth"], int(f.Number()))
					}
				}
			}
			for key, n := range want {
				if got[key] != n {
					t.Errorf("%s: %s: got %d, want %d", file, key, got[key], n)
				}
			}
		}
	}
}
