package inband

import "testing"

// TestWidthsBytes compares Bytes with the sum over the table for every bitmap.
func TestWidthsBytes(t *testing.T) {
	for name, w := range map[string]*Widths{
		"2016": &Widths2016, "05": &Widths05, "04Long": &Widths04Long,
		"10": &Widths10, "10Long": &Widths10Long, "20": &Widths20,
	} {
		for bitmap := range 1 << 16 {
			want := 0
			for bit := range 16 {
				if bitmap&(0x8000>>bit) != 0 {
					want += int(w[bit])
				}
			}
			if got := w.Bytes(uint16(bitmap)); got != want {
				t.Fatalf("%s, bitmap %04x: got %d, want %d", name, bitmap, got, want)
			}
		}
	}
}
