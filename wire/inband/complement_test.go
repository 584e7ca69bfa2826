package inband

import (
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// pseudoIPv4 is the pseudo header sum of a UDP segment between 10.0.1.1 and 10.0.2.2.
func pseudoIPv4(length int) uint32 {
	return 0x0a00 + 0x0101 + 0x0a00 + 0x0202 + 17 + uint32(length)
}

// TestChecksumComplement builds both records of vector int21_md_checksum_complement: the source's when it was alone on
// the stack, and the transit's on top of it.
func TestChecksumComplement(t *testing.T) {
	tests := []struct {
		name    string
		segment string
		offset  int // of the complement
		want    uint32
	}{
		{
			"Source", `
			9c404568 0034 e7cf                // UDP: length 52, checksum of the packet before INT
			14 05 0035                        // shim: length 5, original port 53
			20000207 8001 0000 00000000       // MD: Hop ML 2, Remaining Hop Count 7
			00000101 00000000                 // node 0x101, complement to be found
			0102030405060708090a0b0c0d0e0f1011121314`,
			28, 0x00000359,
		},
		{
			"Transit", `
			9c404568 003c e7cf                // UDP: length 60
			14 07 0035                        // shim: length 7
			20000206 8001 0000 00000000       // MD: Remaining Hop Count 6
			00000202 00000000                 // node 0x202, complement to be found
			00000101 00000359
			0102030405060708090a0b0c0d0e0f1011121314`,
			28, 0x0000fdec,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			segment := wiretest.Hex(t, test.segment)
			pseudo := pseudoIPv4(len(segment))
			got := ChecksumComplement(segment, pseudo)
			if got != test.want {
				t.Fatalf("got %08x, want %08x", got, test.want)
			}
			binary.BigEndian.PutUint32(segment[test.offset:], got)
			if rest := ChecksumComplement(segment, pseudo); rest != 0 {
				t.Errorf("with the complement in place the sum is %04x short of all ones", rest)
			}
		})
	}
}

func TestChecksumComplementOddLength(t *testing.T) {
	if got := ChecksumComplement([]byte{0x12, 0x34, 0x56}, 0); got != 0xFFFF-0x1234-0x5600 {
		t.Errorf("got %04x", got)
	}
	if got := ChecksumComplement(nil, 0); got != 0xFFFF {
		t.Errorf("nothing: got %08x, want 0000ffff, which is not ComplementUnused", got)
	}
}
