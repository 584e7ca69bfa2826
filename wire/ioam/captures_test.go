package ioam_test

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/waybill-int/waybill/wire/ioam"
)

// The captures hold the same packets before and behind three Linux routers, which fill pre-allocated traces.
var (
	scenarios = []string{"ioam_basic", "ioam_full"}
	points    = []string{"h1", "r1r2", "r2r3", "recv"} // 0, 1, 2 and 3 nodes in each trace
)

func captureName(scenario, point string) string { return scenario + "_" + point + ".pcap" }

// truth is what <scenario>.truth.json says about the captures of a scenario.
type truth struct {
	Config struct {
		Nodes map[string]nodeConfig
	}
	Statistics map[string]map[string]int
	Samples    map[string][]struct {
		Frame    int
		HopByHop struct {
			Options []struct {
				Trace object // nil for padding
			}
		} `json:"hop_by_hop"`
	}
}

// nodeConfig is how a router was configured: w0 is its ingress, e0 its egress interface.
type nodeConfig struct {
	ID     uint32 `json:"ioam6_id"`
	IDWide uint64 `json:"ioam6_id_wide"`
	W0     uint16 `json:"w0_id"`
	W0Wide uint32 `json:"w0_id_wide"`
	E0     uint16 `json:"e0_id"`
	E0Wide uint32 `json:"e0_id_wide"`

	Namespace struct {
		Data     string
		Wide     string
		SchemaID uint32 `json:"schema_id"`
	} `json:"namespace_123"`
}

func readTruth(t *testing.T, scenario string) *truth {
	t.Helper()
	var tr truth
	readJSON(t, "captures/"+scenario+".truth.json", &tr)
	return &tr
}

// TestCaptureStatistics counts packets, traces per number of nodes, and overflows in every capture.
func TestCaptureStatistics(t *testing.T) {
	for _, scenario := range scenarios {
		statistics := readTruth(t, scenario).Statistics
		for _, point := range points {
			name := captureName(scenario, point)
			t.Run(name, func(t *testing.T) {
				got := map[string]int{"overflow": 0}
				for _, frame := range readCapture(t, name) {
					got["packets"]++
					data := findOption(frame)
					if data == nil {
						got["no_ioam"]++
						continue
					}
					d := decodeOption(t, data)
					got[fmt.Sprintf("traces_with_%d_nodes", len(d.nodes))]++
					if d.header.Overflow {
						got["overflow"]++
					}
				}
				want := statistics[name]
				delete(want, "max_queue_depth") // TestCaptureNodes looks at the values
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

// TestCaptureNodes compares every node record of every capture with the configuration of the router that wrote it.
func TestCaptureNodes(t *testing.T) {
	for _, scenario := range scenarios {
		routers := readTruth(t, scenario).Config.Nodes
		for _, point := range points {
			name := captureName(scenario, point)
			t.Run(name, func(t *testing.T) {
				for i, frame := range readCapture(t, name) {
					data := findOption(frame)
					if data == nil {
						continue
					}
					nodes := decodeOption(t, data).nodes
					for j := range nodes {
						router := len(nodes) - j // the newest record is that of the last router
						want := routerNode(t, router, routers[fmt.Sprintf("r%d", router)], &nodes[j])
						if !reflect.DeepEqual(nodes[j], want) {
							t.Errorf("frame %d, router %d:\ngot  %+v\nwant %+v", i+1, router, nodes[j], want)
						}
					}
				}
			})
		}
	}
}

// routerNode returns the record that a router had to write where it wrote got. Timestamps are taken over from got if
// they lie in the seconds of the recording, in POSIX format.
func routerNode(t *testing.T, router int, config nodeConfig, got *ioam.Node) ioam.Node {
	t.Helper()
	hopLimit := uint8(64 - router)
	data, err1 := strconv.ParseUint(config.Namespace.Data, 0, 32)
	wide, err2 := strconv.ParseUint(config.Namespace.Wide, 0, 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("router %d: namespace data %+v", router, config.Namespace)
	}
	want := ioam.Node{Has: got.Has}
	if got.Has&ioam.BitHopLimitNodeID != 0 {
		want.HopLimit, want.NodeID = hopLimit, config.ID
	}
	if got.Has&ioam.BitInterfaces != 0 {
		want.IngressIf, want.EgressIf = config.W0, config.E0
	}
	if got.TsSec >= 1795216834 && got.TsSec <= 1795216839 {
		want.TsSec = got.TsSec
	}
	if got.TsFrac < 1e6 {
		want.TsFrac = got.TsFrac
	}
	if got.Has&ioam.BitNSData != 0 {
		want.NSData = uint32(data)
	}
	if got.Has&ioam.BitHopLimitNodeIDWide != 0 {
		want.HopLimitWide, want.NodeIDWide = hopLimit, config.IDWide
	}
	if got.Has&ioam.BitInterfacesWide != 0 {
		want.IngressIfWide, want.EgressIfWide = config.W0Wide, config.E0Wide
	}
	if got.Has&ioam.BitNSDataWide != 0 {
		want.NSDataWide = wide
	}
	if got.Has&ioam.BitSnapshot != 0 {
		want.Snapshot.SchemaID = config.Namespace.SchemaID
		want.Snapshot.Data = fmt.Appendf(nil, "schema-r%d-\x00\x00", router)
	}
	// The kernel has no value for these three.
	want.Unavailable = got.Has & (ioam.BitTransitDelay | ioam.BitComplement | ioam.BitBufferOccupancy)
	if want.Unavailable != 0 {
		want.TransitDelay, want.Complement, want.BufferOccupancy = 0xffffffff, 0xffffffff, 0xffffffff
	}
	return want
}

// TestCaptureSamples compares the fully decoded sample frames.
func TestCaptureSamples(t *testing.T) {
	compared := 0
	for _, scenario := range scenarios {
		for name, samples := range readTruth(t, scenario).Samples {
			frames := readCapture(t, name)
			for _, sample := range samples {
				for _, option := range sample.HopByHop.Options {
					if option.Trace == nil {
						continue
					}
					compared++
					got := truthTrace(decodeOption(t, findOption(frames[sample.Frame-1])))
					if !reflect.DeepEqual(throughJSON(t, got), throughJSON(t, option.Trace)) {
						t.Errorf("%s frame %d:\ngot  %v\nwant %v", name, sample.Frame, got, option.Trace)
					}
				}
			}
		}
	}
	if compared != 6 {
		t.Errorf("compared %d traces, want 6", compared)
	}
}

// truthTrace puts a trace in the words of the truth files.
func truthTrace(d *trace) object {
	flag := map[bool]int{true: 1}
	var nodes []object
	for i := range d.nodes {
		nodes = append(nodes, truthNode(&d.nodes[i]))
	}
	return object{
		"namespace_id": d.header.NamespaceID,
		"node_len":     d.header.NodeLen,
		"flags": object{
			"overflow": flag[d.header.Overflow], "loopback": flag[d.header.Loopback],
			"active": flag[d.header.Active], "bit3": 0,
		},
		"remaining_len": d.header.RemainingLen,
		"trace_type":    fmt.Sprintf("0x%06x", d.header.Type),
		"reserved":      0,
		"free_bytes":    4 * d.freeWords,

		"nodes_wire_order_newest_first": nodes,
	}
}

func truthNode(n *ioam.Node) object {
	node := object{}
	put := func(bit uint32, name string, value any) {
		switch {
		case n.Has&bit == 0:
		case n.Unavailable&bit != 0:
			node[name] = "0xffffffff (unavailable)"
		default:
			node[name] = value
		}
	}
	put(ioam.BitHopLimitNodeID, "hop_lim_node_id", object{"hop_limit": n.HopLimit, "node_id": n.NodeID})
	put(ioam.BitInterfaces, "ingress_egress_if", object{"ingress": n.IngressIf, "egress": n.EgressIf})
	put(ioam.BitTsSec, "ts_sec", n.TsSec)
	put(ioam.BitTsFrac, "ts_frac", n.TsFrac)
	put(ioam.BitTransitDelay, "transit_delay", n.TransitDelay)
	put(ioam.BitNSData, "ns_data", fmt.Sprintf("0x%08x", n.NSData))
	put(ioam.BitQueueDepth, "queue_depth", n.QueueDepth)
	put(ioam.BitComplement, "checksum_complement", n.Complement)
	put(ioam.BitHopLimitNodeIDWide, "hop_lim_node_id_wide",
		object{"hop_limit": n.HopLimitWide, "node_id": n.NodeIDWide})
	put(ioam.BitInterfacesWide, "ingress_egress_if_wide", object{"ingress": n.IngressIfWide, "egress": n.EgressIfWide})
	put(ioam.BitNSDataWide, "ns_data_wide", fmt.Sprintf("0x%016x", n.NSDataWide))
	put(ioam.BitBufferOccupancy, "buffer_occupancy", n.BufferOccupancy)
	put(ioam.BitSnapshot, "opaque_state_snapshot", object{
		"length_words": len(n.Snapshot.Data) / 4,
		"schema_id":    n.Snapshot.SchemaID, "data": string(n.Snapshot.Data),
	})
	return node
}
