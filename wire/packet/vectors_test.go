package packet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// vectorLayers are the names of the layers that are types of this package.
var vectorLayers = []string{
	"ethernet", "ipv4", "ipv6", "ipv6_hop_by_hop", "ipv6_destination_options", "udp", "tcp", "gre", "vxlan",
	"vxlan_gpe",
	"geneve", "geneve_option",
}

// A vectorLayer is one layer in the expect list of a test vector: the keys of all types of this package together.
type vectorLayer struct {
	Layer string

	Dst, Src      string
	EtherType     uint16
	IHL           uint8
	DSCP, ECN     uint8
	TotalLength   uint16 `json:"total_length"`
	ID            uint16
	DF            bool
	TTL           uint8
	Protocol      uint16
	Checksum      uint16
	FlowLabel     uint32 `json:"flow_label"`
	PayloadLength uint16 `json:"payload_length"`
	NextHeader    uint8  `json:"next_header"`
	HopLimit      uint8  `json:"hop_limit"`
	HdrExtLen     uint8  `json:"hdr_ext_len"`
	SrcPort       uint16 `json:"src_port"`
	DstPort       uint16 `json:"dst_port"`
	Length        uint16
	Seq, Ack      uint32
	DataOffset    uint8 `json:"data_offset"`
	Flags         uint8
	Window        uint16
	C, K, S, O    bool
	Key           uint32
	NextProtocol  uint8 `json:"next_protocol"`
	VNI           uint32
	OptLen        uint8 `json:"opt_len"`
	Class         uint16
	Type          uint8
}

// codec returns the layer as a value of this package. Variable parts, which the vectors show as layers of their own,
// are left out: what Append writes is the fixed part.
func (l *vectorLayer) codec(t *testing.T) wiretest.Codec {
	switch l.Layer {
	case "ethernet":
		return &Ethernet{Dst: parseMAC(t, l.Dst), Src: parseMAC(t, l.Src), EtherType: l.EtherType}
	case "ipv4":
		return &IPv4{
			IHL: l.IHL, DSCP: l.DSCP, ECN: l.ECN, TotalLength: l.TotalLength, ID: l.ID, DF: l.DF, TTL: l.TTL,
			Protocol: uint8(l.Protocol), Checksum: l.Checksum,
			Src: netip.MustParseAddr(l.Src).As4(), Dst: netip.MustParseAddr(l.Dst).As4(),
		}
	case "ipv6":
		return &IPv6{
			DSCP: l.DSCP, ECN: l.ECN, FlowLabel: l.FlowLabel, PayloadLength: l.PayloadLength,
			NextHeader: l.NextHeader, HopLimit: l.HopLimit,
			Src: netip.MustParseAddr(l.Src).As16(), Dst: netip.MustParseAddr(l.Dst).As16(),
		}
	case "ipv6_hop_by_hop", "ipv6_destination_options":
		return &IPv6Options{NextHeader: l.NextHeader, HdrExtLen: l.HdrExtLen}
	case "udp":
		return &UDP{SrcPort: l.SrcPort, DstPort: l.DstPort, Length: l.Length, Checksum: l.Checksum}
	case "tcp":
		return &TCP{
			SrcPort: l.SrcPort, DstPort: l.DstPort, Seq: l.Seq, Ack: l.Ack, DataOffset: l.DataOffset, Flags: l.Flags,
			Window: l.Window, Checksum: l.Checksum,
		}
	case "gre":
		return &GRE{HasChecksum: l.C, HasKey: l.K, HasSequence: l.S, Protocol: l.Protocol, Key: l.Key}
	case "vxlan":
		return &VXLAN{Flags: VXLANFlagI, VNI: l.VNI}
	case "vxlan_gpe":
		return &VXLANGPE{Flags: l.Flags, NextProtocol: l.NextProtocol, VNI: l.VNI}
	case "geneve":
		return &Geneve{OptLen: l.OptLen, O: l.O, C: l.C, Protocol: l.Protocol, VNI: l.VNI}
	case "geneve_option":
		return &GeneveOption{Class: l.Class, Type: l.Type, Length: uint8(l.Length)}
	}
	t.Fatalf("no type for layer %s", l.Layer)
	return nil
}

func parseMAC(t *testing.T, text string) [6]byte {
	mac, err := net.ParseMAC(text)
	if err != nil {
		t.Fatal(err)
	}
	return [6]byte(mac)
}

// layersIn returns every layer in a piece of an expect value, outermost first, also those inside telemetry reports.
func layersIn(t *testing.T, raw json.RawMessage) []vectorLayer {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var layers []vectorLayer
		for _, element := range list {
			layers = append(layers, layersIn(t, element)...)
		}
		return layers
	}
	var object struct {
		Layer                string
		Reports, TLVs, Inner json.RawMessage // the keys that lead to layers inside a report
	}
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	var layers []vectorLayer
	if slices.Contains(vectorLayers, object.Layer) {
		var layer vectorLayer
		if err := json.Unmarshal(raw, &layer); err != nil {
			t.Fatal(err)
		}
		layers = append(layers, layer)
	}
	for _, part := range []json.RawMessage{object.Reports, object.TLVs, object.Inner} {
		layers = append(layers, layersIn(t, part)...)
	}
	return layers
}

// Every header that a vector names, built from the values alone, is found in its bytes, in order; what is found there,
// options included, decodes and encodes to the same bytes; and the checksum of every IPv4 header is the one that
// HeaderChecksum computes.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("../../testdata/vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	seen := make(map[string]int)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var vector struct {
				Hex    string
				Expect json.RawMessage
			}
			if err := json.Unmarshal(text, &vector); err != nil {
				t.Fatal(err)
			}
			rest, err := hex.DecodeString(vector.Hex)
			if err != nil {
				t.Fatal(err)
			}
			for _, layer := range layersIn(t, vector.Expect) {
				seen[layer.Layer]++
				want := layer.codec(t)
				fixed := want.Append(nil)
				i := bytes.Index(rest, fixed)
				if i < 0 {
					t.Fatalf("%s: %x is not in %x", layer.Layer, fixed, rest)
				}
				rest = rest[i:]
				if h, ok := want.(*IPv4); ok && h.HeaderChecksum() != layer.Checksum {
					t.Errorf("IPv4 checksum: got %#04x, want %#04x", h.HeaderChecksum(), layer.Checksum)
				}
				n, err := want.Decode(rest)
				if err != nil || n < len(fixed) {
					t.Fatalf("%s: Decode: got %d, error %v; want at least %d, none", layer.Layer, n, err, len(fixed))
				}
				if got := want.Append(nil); !bytes.Equal(got, rest[:n]) {
					t.Errorf("%s: Append: got %x, want %x", layer.Layer, got, rest[:n])
				}
				rest = rest[len(fixed):]
			}
		})
	}
	for _, layer := range vectorLayers {
		if seen[layer] == 0 {
			t.Errorf("no %s in any vector", layer)
		}
	}
	t.Logf("headers: %v", seen)
}
