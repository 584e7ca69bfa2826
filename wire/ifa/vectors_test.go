package ifa_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ifa"
)

// object is a JSON object of a test vector.
type object = map[string]any

type vector struct {
	Hex    string
	Expect []object
}

// In the vectors Ethernet, IPv4 without options and UDP stand around the IFA header.
const (
	behindIP = 14 + 20
	udpLen   = 8
)

func readVectors(t *testing.T) map[string]vector {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/vectors/ifa*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	vectors := map[string]vector{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v vector
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		vectors[filepath.Base(path)] = v
	}
	return vectors
}

func TestVectors(t *testing.T) {
	for name, v := range readVectors(t) {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(v.Expect, func(layer object) bool {
				return layer["layer"] == "ethernet" || layer["layer"] == "ipv4" || layer["layer"] == "udp"
			})
			got, err := layers(wiretest.Hex(t, v.Hex)[behindIP:])
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(throughJSON(t, got), throughJSON(t, want)) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// TestVectorsPrefixesAndBitFlips decodes every prefix and every single-bit flip of the vectors; none may panic.
func TestVectorsPrefixesAndBitFlips(t *testing.T) {
	for name, v := range readVectors(t) {
		b := wiretest.Hex(t, v.Hex)[behindIP:]
		payload := 4 + udpLen + 4 + 64
		for i := range b {
			if _, err := layers(b[:i:i]); (err == nil) != (i >= payload) {
				t.Errorf("%s, first %d bytes: got %v", name, i, err)
			}
		}
		for i := range 8 * len(b) {
			b[i/8] ^= 0x80 >> (i % 8)
			_, _ = layers(b) // an error or a value, both are right
			b[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// layers decodes what follows the IP header, in the words of the vectors.
func layers(b []byte) ([]object, error) {
	var header ifa.Header
	n, err := header.Decode(b)
	if err != nil {
		return nil, err
	}
	var metadata ifa.Metadata
	b = b[min(len(b), n+udpLen):]
	if n, err = metadata.Decode(b); err != nil {
		return nil, err
	}
	b = b[n:]
	stack, err := metadata.Stack(&header, b)
	if err != nil {
		return nil, err
	}
	var hops []object
	var h ifa.Hop
	for stack.Next(&h) {
		hops = append(hops, object{
			"lns": h.LNS, "device_id": h.DeviceID, "ttl": h.TTL,
			"speed": h.Speed, "congestion": h.Congestion, "queue_id": h.QueueID, "rx_sec": h.RxSec,
			"egress_port": h.EgressPort, "ingress_port": h.IngressPort, "rx_nsec": h.RxNsec, "residence": h.Residence,
			"opaque0": h.QueueBytes, "opaque1": h.Word6, "opaque2": h.Word7,
		})
	}
	return []object{
		{
			"layer": "ifa_header", "version": header.Version, "gns": header.GNS, "next_header": header.NextHeader,
			"flags": header.Flags(), "max_length": header.MaxLength,
		},
		{
			"layer": "ifa_metadata", "request_vector": metadata.RequestVector, "action_vector": metadata.ActionVector,
			"hop_limit": metadata.HopLimit, "current_length": metadata.CurrentLength, "hops": hops,
		},
		{"layer": "payload", "hex": hex.EncodeToString(b[len(stack.Words):])},
	}, nil
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
