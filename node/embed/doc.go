// Package embed is what an INT node does to the bytes of a packet: a source inserts INT, a transit node pushes its
// record, a sink strips all of it. It has no state, no clock and does no I/O: functions on byte slices, to which the
// programs of other data planes can be held byte by byte.
//
// All nodes of an INT domain agree on a [Domain]. With it a node reads a frame into a [Packet] and then calls one of
//
//	Insert           source: starts INT in a packet without it
//	Push             transit: adds a record, or says in the header why not
//	PopIntermediate  transit: takes the stack out, for an intermediate report
//	Strip            sink: the packet as it was before INT, and what INT had collected
//	CleanMark        edge: a packet from outside never looks like one with INT
//	MarkCopy, FollowUp, SetDSFlags
//
// All but MarkCopy append the new frame to dst and return it; without room in dst they allocate, otherwise not. The
// frame of the Packet is never modified, and dst must not overlap it. What a node did, or why it did nothing, is a
// [Result].
//
// Checksums of TCP and UDP are updated incrementally (RFC 1624), so that a packet that was damaged before is still
// recognised as damaged behind the sink.
//
// To add a carrier:
//
//  1. a Carrier in domain.go, with its rules in check.go;
//  2. where it is found: a walk_<carrier>.go that fills the offsets of Packet.INT;
//  3. where Insert puts it: a place in place.go, what stands in front of the INT header and what announces it in
//     front.go;
//  4. where its length fields are: hasRoom and resizeINT in push.go;
//  5. what Strip restores: strip.go;
//  6. its row in carriers of domains_test.go, which gives it to all tests that hold for any carrier.
package embed
