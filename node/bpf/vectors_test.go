//go:build linux

package bpf

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/packet"
)

// TestFilesSameAsNode is TestSameAsNode with packets that others made: all vectors, and of all captures the first ones;
// all of them if everything is to be tested.
func TestFilesSameAsNode(t *testing.T) {
	needKernel(t)
	_, all := test.Seed(t)
	most := 6
	if all {
		most = 1 << 30
	}
	frames := append(vectorFrames(t), captureFrames(t, most)...)
	for i, domain := range domainCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			config := domain.config(t)
			seen := map[string]int{}
			c := sameCase{
				trial: newTrial(t, config), r: rand.New(rand.NewPCG(uint64(i), 1)), seen: seen,
				accepts: config.AcceptEdge, text: domain.text + "\nwatch: [{report_all: true}]",
			}
			for edges := range 4 {
				c.begin(edges&1 > 0, edges&2 > 0)
				now := uint64(1_700_000_000_000_000_000)
				for _, frame := range frames {
					now += 1000
					if !c.same(append([]byte(nil), frame...), now) {
						return
					}
				}
			}
			t.Log(seen)
			if seen["same"] == 0 || seen["reports"] == 0 {
				t.Error("nothing was left alone, or nothing reported")
			}
		})
	}
}

// vectorFrames returns the packets of testdata/vectors. What does not begin with Ethernet becomes the payload of UDP.
func vectorFrames(t *testing.T) (frames [][]byte) {
	t.Helper()
	names, err := filepath.Glob("../../testdata/vectors/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	ports := map[string]uint16{
		"geneve": packet.PortGeneve, "vxlan_gpe": packet.PortVXLANGPE, "telemetry_report": 6007,
		"int_shim_l4_v2": 6003,
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			StartsAt string `json:"starts_at"`
			Hex      string
		}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v.StartsAt != "ethernet" {
			s := packets.Shape{Kind: packets.UDPNoChecksum, Port: ports[v.StartsAt], Payload: len(b)}
			frame := s.Frame(r)
			copy(frame[len(frame)-len(b):], b)
			b = frame
		}
		frames = append(frames, b)
	}
	return frames
}

// captureFrames returns the first packets of each of testdata/captures.
func captureFrames(t *testing.T, most int) (frames [][]byte) {
	t.Helper()
	names, err := filepath.Glob("../../testdata/captures/*.pcap")
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcapgo.NewReader(strings.NewReader(string(b)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range most {
			frame, _, err := r.ReadPacketData()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			frames = append(frames, frame)
		}
	}
	return frames
}
