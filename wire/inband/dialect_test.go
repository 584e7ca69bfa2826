package inband

import "testing"

func TestDialectInstructions(t *testing.T) {
	tests := []struct {
		name          string
		bitmap        uint16
		lowByte       bool
		want          uint16
		wantRecordLen int
	}{
		{"All", 0xFF00, false, 0xFF00, 40},
		{"LowByte", 0x00CC, true, 0xCC00, 24},
		{"Nibble3", 0x3000, false, 0x2400, 12},
		{"LowByteNibble3", 0x0030, true, 0x2400, 12},
		{"Nibble3AndEgressTS", 0x3400, false, 0x2400, 12}, // the program sets the egress timestamp once
		{"NibbleB", 0xB000, false, 0xB000, 12},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bitmap := test.bitmap
			if test.lowByte {
				bitmap = LowByteInstructions(bitmap)
			}
			got := GEANTInstructions(bitmap)
			layout := NewLayout(Format10Long, got)
			if got != test.want || layout.Len() != test.wantRecordLen {
				t.Errorf("got %04x with %d bytes, want %04x with %d", got, layout.Len(), test.want, test.wantRecordLen)
			}
		})
	}
}
