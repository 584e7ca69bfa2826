package inband

import "math/bits"

// Widths says how many bytes each instruction bit adds to a record; index 0 is bit 0, the top bit of the bitmap.
// A bit that a version reserves is one word. Only bits 4, 5 and 6 are ever wider than a word: Bytes relies on that.
type Widths [16]uint8

// The record widths of each version.
var (
	// Widths2016 is INT of June 2016 (§5.3.3).
	Widths2016 = Widths{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	// Widths05 is INT 0.5 (§5.3.4).
	Widths05 = Widths2016
	// Widths04Long is INT 0.4 as GEANT sends it, with timestamps of 8 bytes.
	Widths04Long = Widths{4, 4, 4, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	// Widths10 is INT 1.0 (§4.7).
	Widths10 = Widths{4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	// Widths10Long is INT 1.0 as GEANT and Montimage send it: timestamps of 8 bytes, level 2 interfaces of 2 bytes
	// each.
	Widths10Long = Widths04Long
	// Widths10Short is INT 1.0 as the generator of INTCollector sends it: level 2 interfaces of 2 bytes each.
	Widths10Short = Widths2016
	// Widths20 is INT 2.0 and 2.1 (INT 2.1 §5.8).
	Widths20 = Widths{4, 4, 4, 4, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4}
)

// Bytes returns the length in bytes of a record with the metadata of bitmap; DS metadata come on top.
func (w *Widths) Bytes(bitmap uint16) int {
	n := 4 * bits.OnesCount16(bitmap)
	n += int(w[4]-4) * int(bitmap>>11&1)
	n += int(w[5]-4) * int(bitmap>>10&1)
	n += int(w[6]-4) * int(bitmap>>9&1)
	return n
}
