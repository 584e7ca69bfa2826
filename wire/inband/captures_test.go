package inband

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

const captures = "../../testdata/captures/"

// A truth is what one *.truth.json says about the captures of a scenario.
type truth struct {
	Profile    string                   `json:"decoder_profile"`
	Samples    map[string][]truthSample `json:"samples"`
	Statistics map[string]struct {
		Stacks      map[string]int `json:"switch_id_stacks_wire_order"`
		E           int            `json:"e_bit_set"`
		NotMultiple int            `json:"stack_len_not_multiple"`
	} `json:"statistics_whole_capture"`
}

type truthSample struct {
	Frame       int       `json:"frame"`
	Hex         string    `json:"hex"`
	INT         *truthINT `json:"int"`
	InnerOffset int       `json:"inner_offset"`
	Inner       struct {
		INT *truthINT `json:"int"`
	} `json:"inner"`
}

type truthINT struct {
	Header struct {
		Raw string `json:"raw"`
	} `json:"int_header"`
	Hops []truthHop `json:"hops_wire_order"`
	Tail *truthTail `json:"tail"`
}

type truthTail struct {
	NextProto uint8  `json:"next_proto"`
	DestPort  uint16 `json:"dest_port"`
	DSCPByte  uint8  `json:"dscp_byte"`
}

// A truthHop has the values of one hop; nil is what its record does not carry.
type truthHop struct {
	SwitchID   *uint32     `json:"switch_id"`
	L1         *truthPorts `json:"l1_ports"`
	HopLatency *uint32     `json:"hop_latency"`
	Queue      *truthQueue `json:"queue"`
	IngressTS  *uint64     `json:"ingress_ts"`
	EgressTS   *uint64     `json:"egress_ts"`
	L2         *truthPorts `json:"l2_ports"`
	Congestion *truthQueue `json:"queue_congestion"`
	TxUtil     *uint32     `json:"tx_util"`
	Truncated  bool        `json:"_truncated"`
	SourceMAC  string      `json:"source_only_orig_mac"`
}

type truthPorts struct{ Ingress, Egress uint32 }

type truthQueue struct {
	ID    uint8
	Value uint32
}

func newTruthHop(m *Metadata) truthHop {
	var hop truthHop
	if m.Has&NodeID != 0 {
		hop.SwitchID = &m.NodeID
	}
	if m.Has&L1Ingress != 0 {
		hop.L1 = &truthPorts{m.L1Ingress, m.L1Egress}
	}
	if m.Has&HopLatency != 0 {
		hop.HopLatency = &m.HopLatency
	}
	if m.Has&QueueOccupancy != 0 {
		hop.Queue = &truthQueue{m.QueueID, m.QueueOccupancy}
	}
	if m.Has&IngressTS != 0 {
		hop.IngressTS = &m.IngressTS
	}
	if m.Has&EgressTS != 0 {
		hop.EgressTS = &m.EgressTS
	}
	if m.Has&L2Ingress != 0 {
		hop.L2 = &truthPorts{m.L2Ingress, m.L2Egress}
	}
	if m.Has&QueueCongestion != 0 {
		hop.Congestion = &truthQueue{m.QueueID, m.QueueCongestion}
	}
	if m.Has&EgressTxUtil != 0 {
		hop.TxUtil = &m.EgressTxUtil
	}
	return hop
}

// A dialectPacket is what a dialect's reader got out of one packet.
type dialectPacket struct {
	header []byte
	e      bool
	hops   []truthHop
	tail   *truthTail
}

// readDialect reads INT in the dialect of a profile from b, which starts with the shim. It takes cut packets.
func readDialect(profile string, b []byte) (dialectPacket, error) {
	if profile == "tps" {
		return readTPS(b)
	}
	var p dialectPacket
	var shim ShimL4Old
	if _, err := shim.Decode(b); err != nil {
		return p, err
	}
	contents, err := Contents(b, shim.End())
	cut := errors.Is(err, wire.ErrShimLengthOverrun)
	if err != nil && !cut {
		return p, err
	}
	length := shim.End() - shimLen // of all that the shim covers
	if profile == "geant04" || profile == "fabric04" {
		length -= tail05Len
		if !cut {
			var tail Tail05
			if contents, tail, err = CutTail05(contents); err != nil {
				return p, err
			}
			p.tail = &truthTail{tail.Proto, tail.DstPort, tail.DSCP}
		}
		return p, p.read04(profile, contents, length)
	}
	return p, p.read10(profile, contents, length)
}

func (p *dialectPacket) read04(profile string, b []byte, length int) error {
	var h Header05
	n, err := h.Decode04(b)
	if err != nil {
		return err
	}
	p.header, p.e = b[:n], h.E
	format := Format05
	var s Stack
	if profile == "geant04" {
		format = Format05Long
		h.Bitmap = GEANTInstructions(LowByteInstructions(h.Bitmap))
		layout := NewLayout(format, h.Bitmap)
		s, err = NewCutStack(b[n:], length-n, layout.Len())
	} else {
		s, err = h.CutStack(b[n:], length-n, &Widths05)
	}
	p.readHops(&s, NewLayout(format, h.Bitmap))
	return err
}

func (p *dialectPacket) read10(profile string, b []byte, length int) error {
	version, _, err := Identify(b, FamilyOld, ZeroUnset)
	if err != nil {
		return err
	}
	if version != Version10 {
		return wire.ErrUnknownINTVersion
	}
	var h Header10
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	p.header, p.e = b[:n], h.E
	if profile == "geant10_2021" {
		h.Bitmap = LowByteInstructions(h.Bitmap)
	}
	if done := GEANTInstructions(h.Bitmap); done != h.Bitmap && strings.HasPrefix(profile, "geant") {
		layout := NewLayout(Format10Long, done)
		s, err := NewCutStack(b[n:], length-n, layout.Len())
		p.readHops(&s, layout)
		return err
	}
	format, err := h.Format()
	if err != nil {
		return err
	}
	s, err := h.CutStack(b[n:], length-n, format.Widths())
	p.readHops(&s, NewLayout(format, h.Bitmap))
	return err
}

func (p *dialectPacket) readHops(s *Stack, layout Layout) {
	for i := range s.Len() {
		var m Metadata
		layout.Decode(s.Record(i), &m)
		p.hops = append(p.hops, newTruthHop(&m))
	}
	if len(s.Partial) > 0 {
		var m Metadata
		layout.DecodePartial(s.Partial, &m)
		hop := newTruthHop(&m)
		hop.Truncated = true
		p.hops = append(p.hops, hop)
	}
}

// readTPS reads the dialect of the Transparent Security programs: 2.x with a shim Length that counts the shim.
func readTPS(b []byte) (dialectPacket, error) {
	var p dialectPacket
	var shim ShimL4
	if _, err := shim.Decode(b); err != nil {
		return p, err
	}
	contents, err := Contents(b, shim.End()-shimLen)
	if err != nil {
		return p, err
	}
	var h MD
	n, err := h.Decode(contents)
	if err != nil {
		return p, err
	}
	p.header, p.e = contents[:n], h.E
	s, err := h.Stack(contents[n:], 8)
	p.readHops(&s, NewLayout(Format20, h.Bitmap))
	if so := s.SourceOnly; err == nil && len(p.hops) > 0 && len(so) == 8 {
		p.hops[len(p.hops)-1].SourceMAC = fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", so[0], so[1], so[2], so[3],
			so[4], so[5])
	}
	return p, err
}

// findINT returns the bytes from the shim on if frame carries INT as the programs of the profile mark it.
func findINT(profile string, frame []byte) []byte {
	if len(frame) < 34 {
		return nil
	}
	frame = frame[14:]
	dscp, proto, end := frame[1]>>2, frame[9], 4*int(frame[0]&15)
	if frame[0]>>4 == 6 {
		dscp, proto, end = 0, frame[6], 40
	}
	marked := map[string]bool{
		"onos10": dscp == 0x17, "geant04": dscp == 0x20, "geant10_2021": dscp == 0x20, "geant10head": dscp == 0x20,
		"fabric04": dscp&1 != 0, "montimage": true,
	}[profile]
	switch {
	case proto == protoTCP && marked && len(frame) >= end+20:
		return frame[end+20:] // before the options
	case proto != protoUDP || len(frame) < end+8:
		return nil
	case marked, profile == "tps" && binary.BigEndian.Uint16(frame[end+2:]) == 555:
		return frame[end+8:]
	}
	return nil
}

func readTruth(t *testing.T, name string) truth {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var scenario truth
	if err := json.Unmarshal(b, &scenario); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return scenario
}

// scenarios calls run with every scenario that has INT in packets.
func scenarios(t *testing.T, run func(t *testing.T, name string, scenario truth)) {
	for _, pattern := range []string{"onos_v10_*", "onos_fabric_*", "geant_*", "tps_*", "montimage_*"} {
		names, err := filepath.Glob(captures + pattern + ".truth.json")
		if err != nil || len(names) == 0 {
			t.Fatalf("no captures %s: %v", pattern, err)
		}
		for _, name := range names {
			scenario := strings.TrimSuffix(filepath.Base(name), ".truth.json")
			t.Run(scenario, func(t *testing.T) { run(t, scenario, readTruth(t, name)) })
		}
	}
}

// samples calls run with the bytes from the shim on of every frame that the truth shows in full.
func samples(t *testing.T, scenario truth, run func(t *testing.T, b []byte, want *truthINT)) {
	for file, list := range scenario.Samples {
		for _, sample := range list {
			frame, err := hex.DecodeString(sample.Hex)
			if err != nil {
				t.Fatal(err)
			}
			want := sample.INT
			if want == nil {
				want = sample.Inner.INT
			}
			if want == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", file, sample.Frame), func(t *testing.T) {
				b := findINT(scenario.Profile, frame[sample.InnerOffset:])
				if b == nil {
					t.Fatal("no INT found")
				}
				run(t, b, want)
			})
		}
	}
}

// TestCaptureSamples compares the hops of every sample with the truth; those of reports may be cut off.
func TestCaptureSamples(t *testing.T) {
	scenarios(t, func(t *testing.T, _ string, scenario truth) {
		samples(t, scenario, func(t *testing.T, b []byte, want *truthINT) {
			got, err := readDialect(scenario.Profile, b)
			if err != nil && !errors.Is(err, wire.ErrShimLengthOverrun) {
				t.Fatal(err)
			}
			if hex.EncodeToString(got.header) != want.Header.Raw {
				t.Errorf("header: got %x, want %s", got.header, want.Header.Raw)
			}
			if !reflect.DeepEqual(got.hops, want.Hops) {
				gotText, _ := json.Marshal(got.hops)
				wantText, _ := json.Marshal(want.Hops)
				t.Errorf("hops:\ngot  %s\nwant %s", gotText, wantText)
			}
			if !reflect.DeepEqual(got.tail, want.Tail) {
				t.Errorf("tail: got %+v, want %+v", got.tail, want.Tail)
			}
			if cut := errors.Is(err, wire.ErrShimLengthOverrun); cut != (len(want.Hops) > 0 &&
				want.Hops[len(want.Hops)-1].Truncated) {
				t.Errorf("error: got %v", err)
			}
		})
	})
}

// TestCaptureStatistics reads whole link captures and compares how often each path was seen.
func TestCaptureStatistics(t *testing.T) {
	scenarios(t, func(t *testing.T, name string, scenario truth) {
		for link, want := range scenario.Statistics {
			if link != "s1s2" && link != "s2s3" {
				continue
			}
			t.Run(link, func(t *testing.T) {
				stacks, e, notMultiple := map[string]int{}, 0, 0
				for _, frame := range readPcap(t, captures+name+"_"+link+".pcap") {
					b := findINT(scenario.Profile, frame)
					if b == nil {
						continue
					}
					got, err := readDialect(scenario.Profile, b)
					if errors.Is(err, wire.ErrStackNotMultiple) {
						notMultiple++
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					stacks[pathOf(got.hops)]++
					if got.e {
						e++
					}
				}
				if notMultiple > 0 { // the truth guesses hops of these: they have no switch id
					for path := range want.Stacks {
						if strings.Contains(path, "?") {
							delete(want.Stacks, path)
						}
					}
				}
				if !reflect.DeepEqual(stacks, want.Stacks) || notMultiple != want.NotMultiple || e != want.E {
					t.Errorf("got stacks %v, %d not whole, E set in %d; want %v, %d, %d",
						stacks, notMultiple, e, want.Stacks, want.NotMultiple, want.E)
				}
			})
		}
	})
}

// pathOf returns the switch ids, newest first, as the truth writes them.
func pathOf(hops []truthHop) string {
	ids := make([]string, 0, len(hops))
	for _, hop := range hops {
		id := "?"
		if hop.SwitchID != nil {
			id = strconv.Itoa(int(*hop.SwitchID))
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, "-")
}

// readPcap returns the frames of a classic little-endian pcap file.
func readPcap(t *testing.T, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 24 || binary.LittleEndian.Uint32(b) != 0xA1B2C3D4 {
		t.Fatalf("%s is no little-endian pcap file", name)
	}
	var frames [][]byte
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		frames = append(frames, b[16:16+n])
		b = b[16+n:]
	}
	return frames
}

// TestCapturesDamaged: every prefix and every single bit flip of every sample is a value or an error, never a panic.
func TestCapturesDamaged(t *testing.T) {
	scenarios(t, func(t *testing.T, _ string, scenario truth) {
		samples(t, scenario, func(_ *testing.T, b []byte, _ *truthINT) {
			damage(b[:min(len(b), 200)], func(b []byte) {
				_, _ = readDialect(scenario.Profile, b)
			})
		})
	})
}
