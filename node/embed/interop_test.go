// Packets of other people's switches (testdata/captures, README there):
//
//	TestInteropStrip    what their last transit switch sent, stripped, is what came out of their sink
//	TestInteropPush     what came into their transit switch, with the record that it reported pushed, is what it sent
//	TestInteropPath     pushed and then stripped it is what came out of their sink, checksums included
//	TestInteropGEANT2022  the GEANT sink of 2022 damages every packet; stripped it is what the host sent
//
// What their programs do otherwise than the specifications is in the table of scenarios.
package embed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// A scenario is one set of captures.
type scenario struct {
	name, dialect string
	version       inband.Version
	carrier       Carrier
	update        bool // their nodes change the checksum of UDP
	routed        bool // their switches route: new MAC addresses and TTL at each
	noTransit     bool // nothing was captured in front of the transit switch
	// wrong are the bytes that their programs get wrong, or that only a sender of the packet could get right.
	wrongPushed, wrongStripped []int
}

var (
	udpSum4    = []int{40, 41} // UDP checksum of a frame with IPv4
	udpSum6    = []int{60, 61}
	payloadLen = []int{18, 19} // IPv6 Payload Length
)

var scenarios = []scenario{
	// ONOS leaves the checksum of UDP and TCP as the host has sent it: wrong as long as INT is in the packet.
	{name: "onos_v10_udp", dialect: "onos-int10-ver0", version: inband.Version10, carrier: DSCP},
	{name: "onos_v10_tcp", dialect: "onos-int10-ver0", version: inband.Version10, carrier: DSCP},
	{name: "onos_v10_burst", dialect: "onos-int10-ver0", version: inband.Version10, carrier: DSCP},
	{
		name: "onos_v10_pathchange", dialect: "onos-int10-ver0", version: inband.Version10, carrier: DSCP,
		noTransit: true,
	},
	{name: "onos_fabric_v04_udp", dialect: "onos-int04", version: inband.Version05, carrier: DSCP, routed: true},
	// GEANT computes the UDP checksum anew. Up to 2021 its transit switch leaves the older records out of it, and its
	// sink computes the right one without looking at the wrong one.
	{
		name: "geant_v10_2021_udp", dialect: "geant-int10-2021", version: inband.Version10, carrier: DSCP, update: true,
		wrongPushed: udpSum4, wrongStripped: udpSum4,
	},
	{
		name: "geant_v04_udp", dialect: "geant-int04", version: inband.Version05, carrier: DSCP, update: true,
		wrongPushed: udpSum4, wrongStripped: udpSum4,
	},
	{name: "geant_v10_head_udp", dialect: "geant-int10", version: inband.Version10, carrier: DSCP, update: true},
	// The programs of Transparent Security compute UDP checksums without the pseudo header and the payload, and an IPv6
	// Payload Length that is 40 too large on links (repaired below) and 44 behind the sink.
	{name: "tps_v21_udp", dialect: "tps", version: inband.Version20, carrier: NewUDP, wrongPushed: udpSum4},
	{
		name: "tps_v21_udp6", dialect: "tps", version: inband.Version20, carrier: NewUDP, wrongPushed: udpSum6,
		wrongStripped: payloadLen,
	},
}

// damaged is the flow that the GEANT program of INT 0.4 corrupts: its shim counts 8 bytes for each record of 12.
const damaged = 6005

func (s *scenario) domain(t testing.TB) *Domain {
	t.Helper()
	dialect, err := codepoint.FindDialect(s.dialect)
	if err != nil {
		t.Fatal(err)
	}
	points := codepoint.Default()
	d := &Domain{
		Mode: MD, Version: s.version, Carrier: s.carrier, Dialect: dialect,
		Points:  codepoint.NewProfile(&points, dialect).Points,
		MaxHops: 8, ChecksumUpdate: s.update,
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	return d
}

// frames returns the frames of a capture.
func frames(t testing.TB, name string) (list [][]byte) {
	t.Helper()
	f, err := os.Open("../../testdata/captures/" + name + ".pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Clone(b)
		if at := 14 + 4; b[12] == 0x86 && int(binary.BigEndian.Uint16(b[at:])) == len(b)-54+40 {
			binary.BigEndian.PutUint16(b[at:], uint16(len(b)-54))
		}
		list = append(list, b)
	}
}

// intPackets returns those of a capture that carry INT.
func intPackets(t testing.TB, d *Domain, name string) (list []*Packet) {
	t.Helper()
	for i, frame := range frames(t, name) {
		p := new(Packet)
		if err := d.Parse(frame, p); err != nil {
			t.Fatalf("%s frame %d: %v", name, i+1, err)
		}
		if p.INT.Present {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s: no INT", name)
	}
	return list
}

// equal compares what Waybill made with what a switch has sent, but for the bytes in wrong. A switch that routes has
// changed the MAC addresses and the TTL besides.
func (s *scenario) equal(ours, theirs []byte, wrong []int) bool {
	if len(ours) != len(theirs) {
		return false
	}
	ours = bytes.Clone(ours)
	if s.routed {
		copy(ours, theirs[:12])
		ours[22]--
		sum := packet.UpdateChecksum(binary.BigEndian.Uint16(ours[24:]), []byte{ours[22] + 1, ours[23]}, ours[22:24])
		binary.BigEndian.PutUint16(ours[24:], sum)
	}
	for _, at := range wrong {
		ours[at] = theirs[at]
	}
	return bytes.Equal(ours, theirs)
}

// take finds a frame of list that is equal to ours, and takes it out.
func (s *scenario) take(list [][]byte, ours []byte, wrong []int) ([]byte, bool) {
	for i, theirs := range list {
		if theirs != nil && s.equal(ours, theirs, wrong) {
			list[i] = nil
			return theirs, true
		}
	}
	return nil, false
}

func TestInteropStrip(t *testing.T) {
	for _, s := range scenarios {
		if s.name == "geant_v10_head_udp" {
			continue // TestInteropGEANT2022
		}
		t.Run(s.name, func(t *testing.T) {
			d := s.domain(t)
			delivered := frames(t, s.name+"_h2")
			for i, p := range intPackets(t, d, s.name+"_s2s3") {
				out, stripped, err := d.Strip(nil, p)
				if s.name == "geant_v04_udp" && p.Flow.DstPort == damaged {
					if err != wire.ErrStackLengthMismatch {
						t.Errorf("packet %d: error %v", i, err)
					}
					continue
				}
				if err != nil || stripped.Hops == 0 {
					t.Fatalf("packet %d: %+v, %v", i, stripped, err)
				}
				theirs, ok := s.take(delivered, out, s.wrongStripped)
				if !ok {
					t.Fatalf("packet %d of %v: this came out of no sink\n%x", i, p.Flow, out)
				}
				if s.update && (badSums(theirs) != nil || badSums(p.Frame) == nil || badSums(out) == nil) {
					t.Errorf("packet %d: their sink repairs a checksum, Waybill keeps the damage: %v, %v, %v", i,
						badSums(p.Frame), badSums(theirs), badSums(out))
				}
			}
		})
	}
}

// pushed finds the packet that theirs was in front of the transit switch, and pushes the newest record of theirs on it.
func (s *scenario) pushed(d *Domain, before []*Packet, theirs *Packet) []byte {
	_, stripped, _ := d.Strip(nil, theirs)
	if stripped.Hops == 0 {
		return nil
	}
	var own inband.Metadata
	stripped.Layout.Decode(stripped.Stack.Record(0), &own)
	for i, p := range before {
		if p == nil || p.Flow != theirs.Flow {
			continue
		}
		out, _ := d.Push(nil, p, &own, 0)
		if s.equal(out, theirs.Frame, s.wrongPushed) {
			before[i] = nil
			return out
		}
	}
	return nil
}

func TestInteropPush(t *testing.T) {
	for _, s := range scenarios {
		if s.noTransit {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			d := s.domain(t)
			before := intPackets(t, d, s.name+"_s1s2")
			for i, theirs := range intPackets(t, d, s.name+"_s2s3") {
				if s.name == "geant_v04_udp" && theirs.Flow.DstPort == damaged {
					continue
				}
				out := s.limited(d, before, theirs)
				if out == nil {
					out = s.pushed(d, before, theirs)
				}
				if out == nil {
					t.Fatalf("packet %d of %v: no packet becomes\n%x", i, theirs.Flow, theirs.Frame)
				}
				if s.update && badSums(out) != nil {
					t.Errorf("packet %d: %v", i, badSums(out))
				}
				if s.update && s.wrongPushed != nil && badSums(theirs.Frame) == nil {
					t.Errorf("packet %d: their checksum is right after all", i)
				}
			}
		})
	}
}

// limited finds a packet that had reached its maximum hop count in front of the transit switch, if theirs can be that:
// E is set and no record was added.
func (s *scenario) limited(d *Domain, before []*Packet, theirs *Packet) []byte {
	if !theirs.INT.E {
		return nil
	}
	for i, p := range before {
		if p == nil || p.Flow != theirs.Flow || p.INT.E {
			continue
		}
		out, r := d.Push(nil, p, &inband.Metadata{}, 0)
		if r.SetE && s.equal(out, theirs.Frame, s.wrongPushed) {
			before[i] = nil
			return out
		}
	}
	return nil
}

func TestInteropPath(t *testing.T) {
	for _, s := range scenarios {
		if s.noTransit || s.routed || s.name == "geant_v10_head_udp" || s.name == "tps_v21_udp6" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			d := s.domain(t)
			before, delivered := intPackets(t, d, s.name+"_s1s2"), frames(t, s.name+"_h2")
			for i, theirs := range intPackets(t, d, s.name+"_s2s3") {
				if s.name == "geant_v04_udp" && theirs.Flow.DstPort == damaged {
					continue
				}
				out := s.limited(d, before, theirs)
				if out == nil {
					out = s.pushed(d, before, theirs)
				}
				var p Packet
				if err := d.Parse(out, &p); err != nil {
					t.Fatal(err)
				}
				stripped, _, err := d.Strip(nil, &p)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := s.take(delivered, stripped, nil); !ok {
					t.Fatalf("packet %d of %v: this came out of no sink\n%x", i, p.Flow, stripped)
				}
			}
		})
	}
}

func TestInteropGEANT2022(t *testing.T) {
	s := &scenarios[0]
	for i := range scenarios {
		if scenarios[i].name == "geant_v10_head_udp" {
			s = &scenarios[i]
		}
	}
	d := s.domain(t)
	sent, delivered := frames(t, s.name+"_h1"), frames(t, s.name+"_h2")
	const checksum, payload = 40, 42 // offsets
	for i, p := range intPackets(t, d, s.name+"_s2s3") {
		out, stripped, err := d.Strip(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		// Their sink takes out shim and header and leaves the records in front of the payload.
		damaged := append(bytes.Clone(out[:payload]), stripped.Records...)
		damaged = append(damaged, out[payload:]...)
		if _, ok := s.take(delivered, damaged, []int{checksum, checksum + 1}); !ok {
			t.Errorf("packet %d of %v: their sink has damaged it in another way", i, p.Flow)
		}
		if _, ok := s.take(sent, out, nil); !ok {
			t.Errorf("packet %d of %v: the host has not sent\n%x", i, p.Flow, out)
		}
	}
}
