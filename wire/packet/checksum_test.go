package packet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// checksumByWords is the checksum as RFC 1071 §1 words it: 16 bits at a time, every carry added at once.
func checksumByWords(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		word := uint32(b[i]) << 8
		if i+1 < len(b) {
			word |= uint32(b[i+1])
		}
		sum += word
		if sum > 0xffff {
			sum -= 0xffff
		}
	}
	return ^uint16(sum)
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func TestSumExamples(t *testing.T) {
	for _, test := range []struct {
		name, hex string
		want      uint16
	}{
		{"RFC 1071 §3", `0001 f203 f4f5 f6f7`, 0xddf2},
		{"nothing", ``, 0},
		{"zeros", `0000 0000`, 0},
		{"one byte", `01`, 0x0100},
		{"nine bytes", `0000 0000 0000 0000 ff`, 0xff00},
		{"carries", `ffff ffff ffff ffff ffff ffff ffff 0001`, 0x0001},
	} {
		if got := Fold(Sum(wiretest.Hex(t, test.hex), 0)); got != test.want {
			t.Errorf("%s: got %#04x, want %#04x", test.name, got, test.want)
		}
	}
}

func TestSumIsTheSumOfWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		for _, b := range [][]byte{randomBytes(random, n), bytes.Repeat([]byte{0xff}, n), make([]byte, n)} {
			sum := Sum(b, 0)
			if sum >= 1<<18 {
				t.Fatalf("Sum of %x: got %#x, want less than 2^18", b, sum)
			}
			if got, want := ^Fold(sum), checksumByWords(b); got != want {
				t.Fatalf("checksum of %x: got %#04x, want %#04x", b, got, want)
			}
			got, want := ^Fold(Sum(b, 0xfffffffe)), checksumByWords(append([]byte{0xff, 0xff, 0xff, 0xfe}, b...))
			if got != want {
				t.Fatalf("checksum of fffffffe and %x: got %#04x, want %#04x", b, got, want)
			}
		}
	}
	large := bytes.Repeat([]byte{0xff, 0xfe}, 1<<20)
	if got, want := ^Fold(Sum(large, 0xffffffff)), checksumByWords(large); got != want {
		t.Errorf("checksum of 2 MiB: got %#04x, want %#04x", got, want)
	}
}

func TestSumInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	b := randomBytes(random, 101)
	want := Fold(Sum(b, 0))
	for i := 0; i < len(b); i += 2 {
		if got := Fold(Sum(b[i:], Sum(b[:i], 0))); got != want {
			t.Errorf("in two parts, the first of %d bytes: got %#04x, want %#04x", i, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for sum, want := range map[uint32]uint16{
		0: 0, 1: 1, 0xffff: 0xffff, 0x10000: 1, 0x1fffe: 0xffff, 0xffff0000: 0xffff, 0xffff0001: 1, 0xffffffff: 0xffff,
	} {
		if got := Fold(sum); got != want {
			t.Errorf("Fold(%#x): got %#04x, want %#04x", sum, got, want)
		}
	}
}

func TestPseudoHeaders(t *testing.T) {
	src4, dst4 := [4]byte{192, 0, 2, 1}, [4]byte{255, 255, 255, 254}
	spelled := wiretest.Hex(t, `c0000201 fffffffe 0011 fffe`)
	if got, want := ^Fold(PseudoIPv4(src4, dst4, ProtoUDP, 0xfffe)), checksumByWords(spelled); got != want {
		t.Errorf("PseudoIPv4: got %#04x, want %#04x", got, want)
	}
	src6, dst6 := [16]byte{0x20, 1, 0xd, 0xb8, 15: 1}, [16]byte{0xff, 0xff, 0xff, 0xff, 15: 0xfe}
	spelled = wiretest.Hex(t, `
		20010db8000000000000000000000001
		ffffffff0000000000000000000000fe
		0001fffe 0000003a
	`)
	if got, want := ^Fold(PseudoIPv6(src6, dst6, ProtoICMPv6, 0x1fffe)), checksumByWords(spelled); got != want {
		t.Errorf("PseudoIPv6: got %#04x, want %#04x", got, want)
	}
}

func TestUpdateChecksumExample(t *testing.T) {
	// RFC 1624 §4: the case that equation 2 of RFC 1141 gets wrong.
	if got := UpdateChecksum(0xdd2f, []byte{0x55, 0x55}, []byte{0x32, 0x85}); got != 0 {
		t.Errorf("got %#04x, want 0", got)
	}
}

// Replacing, inserting and removing at random gives the checksum that a full computation gives.
func TestUpdateChecksumIsTheFullOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	even := func(max int) int { return 2 * random.IntN(max/2+1) }
	for range 20_000 {
		front := randomBytes(random, 2+even(20))
		front[0] = 1 // a packet of zeros only is the one case in which the two differ, by the sign of the zero
		before, after := randomBytes(random, even(40)), randomBytes(random, even(40))
		if random.IntN(4) == 0 {
			clear(after)
		}
		back := randomBytes(random, random.IntN(20))

		old := checksumByWords(bytes.Join([][]byte{front, before, back}, nil))
		want := checksumByWords(bytes.Join([][]byte{front, after, back}, nil))
		if got := UpdateChecksum(old, before, after); got != want {
			t.Fatalf("old %#04x, before %x, after %x: got %#04x, want %#04x", old, before, after, got, want)
		}
	}
}

// Many small updates in a row, such as the hops of a path make, end where a full computation ends.
func TestUpdateChecksumInARow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	packet := randomBytes(random, 60)
	checksum := checksumByWords(packet)
	for range 10_000 {
		at := 2 * random.IntN(30)
		after := randomBytes(random, 2)
		checksum = UpdateChecksum(checksum, packet[at:at+2], after)
		copy(packet[at:], after)
		if want := checksumByWords(packet); checksum != want {
			t.Fatalf("got %#04x, want %#04x for %x", checksum, want, packet)
		}
	}
}

func TestUpdateChecksumKeepsErrors(t *testing.T) {
	packet := []byte{0x12, 0x34, 0x56, 0x78}
	wrong := checksumByWords(packet) + 1
	after := []byte{0xab, 0xcd}
	want := checksumByWords([]byte{0xab, 0xcd, 0x56, 0x78}) + 1
	if got := UpdateChecksum(wrong, packet[:2], after); got != want {
		t.Errorf("got %#04x, want %#04x: the difference of the old checksum", got, want)
	}
}

func TestUDPChecksum(t *testing.T) {
	for checksum, want := range map[uint16]uint16{0: 0xffff, 1: 1, 0xffff: 0xffff} {
		if got := UDPChecksum(checksum); got != want {
			t.Errorf("UDPChecksum(%#04x): got %#04x, want %#04x", checksum, got, want)
		}
	}
}

func TestChecksumNoAllocs(t *testing.T) {
	b := make([]byte, 64)
	allocs := testing.AllocsPerRun(100, func() {
		sum := PseudoIPv6([16]byte{}, [16]byte{}, ProtoUDP, len(b)) + PseudoIPv4([4]byte{}, [4]byte{}, ProtoUDP, len(b))
		b[0] = byte(UpdateChecksum(Fold(Sum(b, sum)), b[:4], b[4:16]))
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{20, 64, 256, 1500} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			packet := bytes.Repeat([]byte{0x45}, n)
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				Sum(packet, 0)
			}
		})
	}
}

func BenchmarkUpdateChecksum(b *testing.B) {
	before, after := []byte{0x12, 0x34}, []byte{0x43, 0x21}
	b.ReportAllocs()
	for b.Loop() {
		UpdateChecksum(0xabcd, before, after)
	}
}

func BenchmarkHeaderChecksum(b *testing.B) {
	h := *ipv4Header.examples[0].want.(*IPv4)
	b.ReportAllocs()
	for b.Loop() {
		h.HeaderChecksum()
	}
}
