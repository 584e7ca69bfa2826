//go:build linux

package bpf

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/wire/packet"
)

// sums returns where the checksum of TCP or UDP of a packet is, the sum of its pseudo header, and where what it covers
// ends. at 0: it has none.
func sums(d *embed.Domain, frame []byte) (at int, pseudo uint32, l4, end int) {
	var p embed.Packet
	if d.Parse(frame, &p) != nil || p.LaterFragment {
		return 0, 0, 0, 0
	}
	l4, end = p.L4, p.End
	switch {
	case p.Protocol == packet.ProtoTCP && end-l4 >= 20:
		at = l4 + 16
	case p.Protocol == packet.ProtoUDP && end-l4 >= 8 && binary.BigEndian.Uint16(frame[l4+6:]) != 0:
		at, end = l4+6, l4+int(binary.BigEndian.Uint16(frame[l4+4:]))
	default:
		return 0, 0, 0, 0
	}
	if p.IPVersion == 4 {
		var h packet.IPv4
		_, _ = h.Decode(frame[p.L3:])
		return at, packet.PseudoIPv4(h.Src, h.Dst, p.Protocol, end-l4), l4, end
	}
	var h packet.IPv6
	_, _ = h.Decode(frame[p.L3:])
	return at, packet.PseudoIPv6(h.Src, h.Dst, p.Protocol, end-l4), l4, end
}

// makePartial gives a packet the checksum that it has as long as a network card is to compute it, and says whether it
// has one at all.
func makePartial(d *embed.Domain, frame []byte) bool {
	at, pseudo, _, _ := sums(d, frame)
	if at > 0 {
		binary.BigEndian.PutUint16(frame[at:], packet.Fold(pseudo))
	}
	return at > 0
}

// isPartial reports whether the checksum of a packet is taken for one that is still to be computed.
func isPartial(d *embed.Domain, frame []byte) bool {
	at, pseudo, l4, end := sums(d, frame)
	return at > 0 && binary.BigEndian.Uint16(frame[at:]) == packet.Fold(pseudo) &&
		(end > len(frame) || packet.Fold(packet.Sum(frame[l4:end], pseudo)) != 0xFFFF)
}

// makeWhole changes the last word of a packet so that its checksum, which is that of the pseudo header, is right.
func makeWhole(d *embed.Domain, frame []byte) {
	_, pseudo, l4, end := sums(d, frame)
	last := frame[l4+(end-l4-2)&^1:]
	last[0], last[1] = 0, 0
	binary.BigEndian.PutUint16(last, 0xFFFF-packet.Fold(packet.Sum(frame[l4:end], pseudo)))
}

// TestPartial sends packets whose checksum a network card is to compute: no source puts INT into them, for the kernel
// has noted where L4 begins. So it is with those whose checksum happens to be right as it is, but at a port by which
// no others come.
func TestPartial(t *testing.T) {
	needKernel(t)
	for _, version := range []string{"2.1", "1.0"} {
		t.Run("source "+version, func(t *testing.T) { testPartialSource(t, "version: "+version) })
	}
}

func testPartialSource(t *testing.T, text string) {
	c := sameCase{trial: newTrial(t, domainCase{text}.config(t)), r: rand.New(rand.NewPCG(3, 4)), text: text}
	c.begin(true, false)
	d := c.want.Domain()
	sent, whole := uint64(0), uint64(0)
	for range 500 {
		frame := packets.Shape{
			Kind: packets.Kind(c.r.IntN(3)), IPv6: c.r.IntN(2) == 0, Payload: 2 + c.r.IntN(1400),
			TCPOptions: 4 * c.r.IntN(11), Tags: c.r.IntN(3),
		}.Frame(c.r)
		frame[ipAt(frame)+map[byte]int{4: 8, 6: 7}[frame[ipAt(frame)]>>4]] = 64
		if !makePartial(d, frame) {
			continue
		}
		if whole < 100 || c.r.IntN(4) == 0 {
			makeWhole(d, frame)
		}
		if whole < 100 {
			whole++
			c.send(frame, &node.Egress{Port: 2, DepartedNs: 2000}, 1000)
			continue
		}
		sent++
		want := router(bytes.Clone(frame))
		got, _ := c.send(bytes.Clone(frame), &node.Egress{Port: 2, DepartedNs: 2000}, 1000)
		if !bytes.Equal(got, want) {
			t.Fatalf("came %x\ngot  %x\nwant %x", frame, got, want)
		}
	}
	if got := c.counter("kernel_partial"); sent < 200 || got != sent || c.counter("inserted") != whole {
		t.Errorf("%d packets, kernel_partial %d, inserted %d", sent, got, c.counter("inserted"))
	}
}

// counter returns a counter of the programs.
func (r *trial) counter(name string) (count uint64) {
	r.t.Helper()
	if err := r.EachCounter(func(n string, c uint64) {
		if n == name {
			count = c
		}
	}); err != nil {
		r.t.Fatal(err)
	}
	return count
}
