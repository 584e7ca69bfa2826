// Package inband holds In-band Network Telemetry (INT) as it travels inside packets: the shims between a carrier and
// INT, the INT headers of June 2016, v0.5 (and 0.4), v1.0 and v2.x (MD and MX), and the metadata stack behind them.
//
// A packet is read in this order:
//
//	shim.Decode       the shim: its type, what follows INT, how long INT is; not for Geneve, which has no shim
//	Contents          the bytes that the shim covers (v0.5 over TCP and UDP: CutTail05 takes the tail off them)
//	DetectL4, Identify  which version it is; the version nibble alone does not tell
//	header.Decode     the fixed INT header
//	header.Stack      the records behind it, newest first, all lengths checked
//	NewLayout         where the metadata lie in one record, once per packet
//	layout.Decode     one record into a Metadata, which is the same for all versions
//
// The codecs do not judge: Decode does not look at the version, Append writes what the struct says. Reserved bits are
// ignored and sent as zero; a transit node, which must leave them as they are, changes the bytes of the packet in
// place.
//
// To add an instruction bit of a version:
//
//  1. a bit in Fields and a field in Metadata, if the value is a new one;
//  2. its width in the table of the version in widths.go;
//  3. a branch in decodeWords and appendWords (layout_words.go), at its place in the order of the bits.
//
// To add a version or a dialect of one:
//
//  1. a file for its header with Decode, Append and Len, and with Stack and CutStack, which check its lengths;
//  2. a table in widths.go and a Format in format.go;
//  3. its row in Identify, if its bytes tell it from the others; a dialect that must be configured has none;
//  4. the header in the codecs table of fuzz_test.go, and annotated bytes in a test beside the header.
package inband
