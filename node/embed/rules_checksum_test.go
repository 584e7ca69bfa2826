// Rules for checksums:
//
//	R-47  TestR047NoChecksumStaysNone
//	R-48  TestR048ChecksumsAreRight
//	R-49  TestR049UpdatedMeansComplementUnused
//	R-50  TestR050SinkUpdatesTheField
//	R-51  TestR051DamageStaysVisible
//	R-52  TestR052UDPZeroIsSentAsOnes
//	R-53  TestR053InnerChecksumIsNotTouched
package embed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// sum4 and sum6 are the offsets of a UDP checksum in a frame without tags.
const (
	sum4 = 14 + 20 + 6
	sum6 = 14 + 40 + 6
)

func TestR047NoChecksumStaysNone(t *testing.T) {
	for _, v := range variants() {
		for _, ipv6 := range []bool{false, true} {
			s, at := v.s, sum4
			if s.IPv6 = ipv6; ipv6 {
				at = sum6
			}
			plain := build(s)
			p := parse(t, v.d, plain)
			if p.sum.of != sumUDP || v.d.Carrier == GRE {
				continue
			}
			plain[at], plain[at+1] = 0, 0
			frame := insert(t, v.d, plain, Instruction{Bitmap: 0x8000}, node(1))
			for range 3 {
				if frame[at] != 0 || frame[at+1] != 0 {
					t.Errorf("%s: % x", v.name, frame[at:at+2])
				}
				frame = push(t, v.d, frame, node(2))
			}
			back, _ := strip(t, v.d, frame)
			wantSame(t, v.name, back, plain)
		}
	}
}

// checked returns domains and packets with a checksum that covers INT.
func checked() (list []variant) {
	for _, v := range variants() {
		if v.d.Carrier == NewUDP || v.d.Carrier == GRE {
			continue
		}
		for _, k := range []packets.Kind{packets.UDP, packets.TCP} {
			for _, ipv6 := range []bool{false, true} {
				s := v.s
				if s.IPv6 = ipv6; s.Kind == packets.UDPNoChecksum {
					s.Kind = k
				} else if k == packets.TCP {
					continue
				}
				if v.d.Carrier == DstPort && k == packets.TCP && v.d.Version == inband.Version20 {
					continue // it gets a UDP header
				}
				list = append(list, variant{fmt.Sprintf("%s/%v/%v", v.name, k, ipv6), v.d, s})
			}
		}
	}
	return list
}

// withChecksum returns a packet of that shape whose outermost UDP header has a checksum.
func withChecksum(s packets.Shape) []byte {
	for seed := uint64(0); ; seed++ {
		frame := s.Frame(newRand(seed))
		at := sum4
		if s.IPv6 {
			at = sum6
		}
		if s.Kind == packets.TCP || frame[at] != 0 {
			return frame
		}
	}
}

func TestR048ChecksumsAreRight(t *testing.T) {
	for _, v := range checked() {
		for _, complement := range []bool{false, true} {
			if complement && v.d.Version < inband.Version10 {
				continue
			}
			v.d.Complement = complement
			plain := withChecksum(v.s)
			ins := Instruction{Bitmap: 0xA001}
			at := parse(t, v.d, plain).sum.at
			before := binary.BigEndian.Uint16(plain[at:])
			frame := insert(t, v.d, plain, ins, node(1))
			for i := range 4 {
				if wrong := badSums(frame); wrong != nil {
					t.Errorf("%s: node %d: %v", v.name, i, wrong)
				}
				same := binary.BigEndian.Uint16(frame[at:]) == before
				if same != complement {
					t.Errorf("%s: the field is the same: %v, complement: %v", v.name, same, complement)
				}
				frame = push(t, v.d, frame, node(2))
			}
			// Flags alone leave no room for a complement: the field changes.
			p := parse(t, v.d, frame)
			frame, _ = v.d.Push(nil, p, node(3), p.TotalLength)
			if wrong := badSums(frame); wrong != nil {
				t.Errorf("%s: flags: %v", v.name, wrong)
			}
			back, _ := strip(t, v.d, frame)
			wantSame(t, v.name, back, plain)
		}
	}
	// INT 0.5 leaves it to the domain.
	d := newDomain(inband.Version05, DSCP)
	d.ChecksumUpdate = false
	plain := build(packets.Shape{Kind: packets.UDP, Payload: 30})
	frame := insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1))
	if frame[sum4] != plain[sum4] || frame[sum4+1] != plain[sum4+1] {
		t.Error("the checksum has changed in a domain without updates")
	}
	back, _ := strip(t, d, frame)
	wantSame(t, "stripped", back, plain)
}

func TestR049UpdatedMeansComplementUnused(t *testing.T) {
	unused := []byte{0xFF, 0xFF, 0xFF, 0xFF}
	for _, version := range []inband.Version{inband.Version10, inband.Version20} {
		// The domain of this node does not allow complements; another node has asked for them.
		other, d := newDomain(version, DSCP), newDomain(version, DSCP)
		other.Complement = true
		frame := insert(t, other, build(packets.Shape{Kind: packets.UDP}), Instruction{Bitmap: 0x8001}, node(1))
		p := parse(t, d, frame)
		out := push(t, d, frame, node(2))
		if !bytes.Equal(out[p.INT.Stack+4:p.INT.Stack+8], unused) || badSums(out) != nil {
			t.Errorf("% x, %v", out[p.INT.Stack:p.INT.Stack+8], badSums(out))
		}
		// Nothing to balance: the UDP checksum is 0.
		frame = insert(t, other, build(packets.Shape{Kind: packets.UDPNoChecksum}), Instruction{Bitmap: 0x8001},
			node(1))
		p = parse(t, other, frame)
		if !bytes.Equal(frame[p.INT.Stack+4:p.INT.Stack+8], unused) {
			t.Errorf("% x", frame[p.INT.Stack:p.INT.Stack+8])
		}
	}
}

func TestR050SinkUpdatesTheField(t *testing.T) {
	// The last node has not used the complement, so that the field has changed on the way.
	for _, v := range checked() {
		if v.d.Version < inband.Version10 {
			continue
		}
		plain := withChecksum(v.s)
		v.d.Complement = true
		frame := push(t, v.d, insert(t, v.d, plain, Instruction{Bitmap: 0x8001}, node(1)), node(2))
		v.d.Complement = false
		frame = push(t, v.d, frame, node(3))
		back, _ := strip(t, v.d, frame)
		wantSame(t, v.name, back, plain)
	}
}

func TestR051DamageStaysVisible(t *testing.T) {
	for _, v := range checked() {
		for _, complement := range []bool{false, true} {
			v.d.Complement = complement && v.d.Version >= inband.Version10
			plain := withChecksum(v.s)
			plain[len(plain)-1] ^= 0x10 // on the way to the source
			if badSums(plain) == nil {
				t.Fatal("not damaged")
			}
			frame := insert(t, v.d, plain, Instruction{Bitmap: 0x8001}, node(1))
			for range 3 {
				if badSums(frame) == nil {
					t.Errorf("%s: the damage is hidden", v.name)
				}
				frame = push(t, v.d, frame, node(2))
			}
			back, _ := strip(t, v.d, frame)
			wantSame(t, v.name, back, plain)
		}
	}
}

func TestR052UDPZeroIsSentAsOnes(t *testing.T) {
	// Some node id makes the computed checksum 0.
	d := newDomain(inband.Version20, DstPort)
	plain := build(packets.Shape{Kind: packets.UDP, Payload: 20})
	for id := range uint32(1 << 16) {
		frame := insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(id))
		switch binary.BigEndian.Uint16(frame[sum4:]) {
		case 0:
			t.Fatalf("node %d: checksum 0", id)
		case 0xFFFF:
			if wrong := badSums(frame); wrong != nil {
				t.Error(wrong)
			}
			back, _ := strip(t, d, frame)
			wantSame(t, "stripped", back, plain)
			return
		}
	}
	t.Error("no node id makes it 0xFFFF")
}

func TestR053InnerChecksumIsNotTouched(t *testing.T) {
	d := newDomain(inband.Version20, NewUDP)
	for _, k := range []packets.Kind{packets.UDP, packets.TCP} {
		plain := build(packets.Shape{Kind: k, Payload: 40})
		l4 := plain[parse(t, d, plain).L4:]
		frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
		p := parse(t, d, frame)
		wantSame(t, "behind INT", frame[p.INT.End:], l4)
		var udp packet.UDP
		if _, err := udp.Decode(frame[p.L4:]); err != nil || udp.Checksum != 0 {
			t.Errorf("%+v, %v", udp, err)
		}
	}
}
