package inband

// LowByteInstructions moves the eight instruction bits from bits 8-15 of the bitmap to bits 0-7, where they belong.
// GEANT's INT 0.4 and its INT 1.0 of April 2021 write them there ("all" is 0x00FF). Put the result into the header's
// Bitmap before Stack, Format and NewLayout.
func LowByteInstructions(bitmap uint16) uint16 { return bitmap << 8 }

// GEANTInstructions returns the instructions that GEANT's programs follow when they are given bitmap (already in the
// high byte): if bits 0-3 ask for exactly hop latency and queue (0x3), they add hop latency and an egress timestamp.
// Such a record has 12 bytes while Hop ML or Instruction Count claim 8: take its length from the Layout of the result,
// and the stack from NewStack, which does not ask the header.
func GEANTInstructions(bitmap uint16) uint16 {
	if bitmap&0xF000 != insHopLatency|insQueue {
		return bitmap
	}
	return bitmap&^insQueue | insEgressTS
}
