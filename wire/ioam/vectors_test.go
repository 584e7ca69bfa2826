package ioam_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

// object is a JSON object of a test vector.
type object = map[string]any

func vectorNames(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "vectors", "ioam_*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

func TestVectors(t *testing.T) {
	for _, name := range vectorNames(t) {
		t.Run(name, func(t *testing.T) {
			var vector struct {
				Hex    string
				Expect []object
			}
			readJSON(t, filepath.Join("vectors", name), &vector)
			want := slices.DeleteFunc(vector.Expect, func(layer object) bool {
				return !strings.HasPrefix(layer["layer"].(string), "ioam_")
			})
			got := vectorLayers(t, wiretest.Hex(t, vector.Hex))
			if !reflect.DeepEqual(throughJSON(t, got), throughJSON(t, want)) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// TestVectorsRebuilt starts each trace of the vectors empty, adds the nodes from the oldest to the newest as transit
// nodes do, and gets the bytes of the vector.
func TestVectorsRebuilt(t *testing.T) {
	for _, name := range vectorNames(t) {
		var vector struct{ Hex string }
		readJSON(t, filepath.Join("vectors", name), &vector)
		optionType, body := findBody(t, wiretest.Hex(t, vector.Hex))
		if optionType != ioam.TypePreallocated && optionType != ioam.TypeIncremental {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want, err := decodeTrace(optionType, body)
			if err != nil {
				t.Fatal(err)
			}
			header := want.header
			header.Overflow = false // a later node set it
			header.RemainingLen += uint8((len(want.space) - 4*want.freeWords) / 4)
			space := rebuild(t, &header, want, optionType == ioam.TypePreallocated)
			if !bytes.Equal(space, want.space) {
				t.Errorf("data space:\ngot  %x\nwant %x", space, want.space)
			}
			if header.RemainingLen != want.header.RemainingLen {
				t.Errorf("RemainingLen: got %d, want %d", header.RemainingLen, want.header.RemainingLen)
			}
		})
	}
}

func rebuild(t *testing.T, header *ioam.Trace, want *trace, preallocated bool) []byte {
	t.Helper()
	var space []byte
	if preallocated {
		space = make([]byte, len(want.space))
	}
	for _, node := range slices.Backward(want.nodes) {
		if preallocated {
			if added, err := header.AddPreallocated(space, &node); !added {
				t.Fatalf("nothing added, %v", err)
			}
			continue
		}
		record, added, err := header.AddIncremental(nil, &node)
		if !added {
			t.Fatalf("nothing added, %v", err)
		}
		space = append(record, space...)
	}
	return space
}

// findBody returns the IOAM body of a vector: an IPv6 option, or what stands behind Ethernet, IPv4, UDP, VXLAN-GPE and
// the shim.
func findBody(t *testing.T, frame []byte) (optionType uint8, body []byte) {
	t.Helper()
	const etherType, behindVXLAN = 12, 14 + 20 + 8 + 8
	if frame[etherType] == 0x86 {
		var option ioam.Option
		if _, err := option.Decode(findOption(frame)); err != nil {
			t.Fatal(err)
		}
		return option.Type, option.Data
	}
	var shim ioam.Shim
	n, err := shim.Decode(frame[behindVXLAN:])
	if err != nil {
		t.Fatal(err)
	}
	rest := frame[behindVXLAN+n:]
	size, err := shim.BodyLen(len(rest))
	if err != nil {
		t.Fatal(err)
	}
	return shim.Type, rest[:size]
}

// vectorLayers decodes the IOAM layers of a frame in the words of the vectors.
func vectorLayers(t *testing.T, frame []byte) []object {
	t.Helper()
	var layers []object
	if frame[12] == 0x08 {
		var shim ioam.Shim
		if _, err := shim.Decode(frame[50:]); err != nil {
			t.Fatal(err)
		}
		layers = append(layers, object{
			"layer":     "ioam_shim",
			"ioam_type": shim.Type, "hdr_len": shim.HdrLen, "next_protocol": shim.NextProtocol,
		})
	}
	optionType, body := findBody(t, frame)
	switch optionType {
	case ioam.TypePreallocated, ioam.TypeIncremental:
		return append(layers, traceLayer(t, optionType, body))
	case ioam.TypeE2E:
		var e ioam.E2E
		decodeAll(t, &e, body)
		return append(layers, object{
			"layer": "ioam_e2e", "namespace_id": e.NamespaceID, "e2e_type": e.Type,
			"seq32": e.Seq32, "ts_sec": e.TsSec, "ts_frac": e.TsFrac,
		})
	case ioam.TypeDEX:
		var d ioam.DEX
		decodeAll(t, &d, body)
		return append(layers, object{
			"layer": "ioam_dex", "namespace_id": d.NamespaceID, "flags": d.Flags,
			"extension_flags": d.ExtFlags, "trace_type": d.TraceType, "flow_id": d.FlowID, "sequence": d.Sequence,
		})
	}
	t.Fatalf("option type %d", optionType)
	return nil
}

func decodeAll(t *testing.T, v wiretest.Codec, body []byte) {
	t.Helper()
	if n, err := v.Decode(body); err != nil || n != len(body) {
		t.Fatalf("%T: got %d of %d bytes, %v", v, n, len(body), err)
	}
}

func traceLayer(t *testing.T, optionType uint8, body []byte) object {
	t.Helper()
	d, err := decodeTrace(optionType, body)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []object
	for i := range d.nodes {
		nodes = append(nodes, vectorNode(&d.nodes[i]))
	}
	return object{
		"layer": "ioam_trace", "option_type": optionType, "namespace_id": d.header.NamespaceID,
		"node_len": d.header.NodeLen, "overflow": d.header.Overflow, "loopback": d.header.Loopback,
		"active": d.header.Active, "remaining_len": d.header.RemainingLen, "trace_type": d.header.Type,
		"free_words": d.freeWords, "nodes": nodes,
	}
}

func vectorNode(n *ioam.Node) object {
	node := object{}
	put := func(bit uint32, name string, value any) {
		if n.Has&bit != 0 {
			node[name] = value
		}
	}
	put(ioam.BitHopLimitNodeID, "hop_lim", n.HopLimit)
	put(ioam.BitHopLimitNodeID, "node_id", n.NodeID)
	put(ioam.BitInterfaces, "ingress_if", n.IngressIf)
	put(ioam.BitInterfaces, "egress_if", n.EgressIf)
	put(ioam.BitTsSec, "ts_sec", n.TsSec)
	put(ioam.BitTsFrac, "ts_frac", n.TsFrac)
	put(ioam.BitTransitDelay, "transit_delay", n.TransitDelay)
	put(ioam.BitNSData, "ns_data", n.NSData)
	put(ioam.BitQueueDepth, "queue_depth", n.QueueDepth)
	put(ioam.BitComplement, "checksum_complement", n.Complement)
	put(ioam.BitHopLimitNodeIDWide, "hop_lim_wide", n.HopLimitWide)
	put(ioam.BitHopLimitNodeIDWide, "node_id_wide", fmt.Sprintf("0x%014x", n.NodeIDWide))
	put(ioam.BitInterfacesWide, "ingress_if_wide", n.IngressIfWide)
	put(ioam.BitInterfacesWide, "egress_if_wide", n.EgressIfWide)
	put(ioam.BitNSDataWide, "ns_data_wide", fmt.Sprintf("0x%016x", n.NSDataWide))
	put(ioam.BitBufferOccupancy, "buffer_occupancy", n.BufferOccupancy)
	put(ioam.BitSnapshot, "oss", object{"schema_id": n.Snapshot.SchemaID, "data": hex.EncodeToString(n.Snapshot.Data)})
	return node
}

// throughJSON makes two values comparable: all numbers become float64.
func throughJSON(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
