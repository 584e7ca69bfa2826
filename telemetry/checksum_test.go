package telemetry

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/wire/packet"
)

// A header fits if its checksum is the one that package packet computes; no bit of it may change.
func TestFits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		h := packet.IPv4{
			IHL: 5, DSCP: uint8(random.Uint32N(64)), TotalLength: uint16(random.Uint32()), ID: uint16(random.Uint32()),
			DF:  i%2 == 0,
			TTL: uint8(random.Uint32()), Protocol: uint8(random.Uint32()), Src: [4]byte{10, 0, 0, byte(i)},
			Dst: [4]byte{255, 255, 255, byte(random.Uint32())},
		}
		if i%5 == 0 {
			h.IHL, h.Options = 6, []byte{1, 1, 1, byte(i)}
		}
		h.Checksum = h.HeaderChecksum()
		b := h.Append(nil)
		if !fits(b) {
			t.Fatalf("%x does not fit", b)
		}
		bit := random.IntN(8 * len(b))
		b[bit/8] ^= 1 << (bit % 8)
		if fits(b) {
			t.Fatalf("%x fits, although bit %d is wrong", b, bit)
		}
	}
}
