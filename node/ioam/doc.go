// Package ioam is what a node of an IOAM domain does to the bytes of a packet (RFC 9197, RFC 9326, RFC 9486). It has no
// state, no clock and does no I/O: functions on byte slices, as in package embed, which does the same for INT.
//
// A node reads a frame into a [Packet] and then calls one of the methods of its [Domain]:
//
//	Encapsulate  source: inserts a trace or direct export option
//	Transit      adds a record to every trace, or says in the header why not
//	Decapsulate  the packet as it was before IOAM
//	Export       direct export: the record that the packet asks for; the packet stays as it is
//
// Packet.Options reads what nodes have collected, before Decapsulate takes it out.
//
// Encapsulate, Transit and Decapsulate append the new frame to dst and return it; without room in dst they allocate,
// otherwise not. The frame of the Packet is never modified, and dst must not overlap it. What a node did, or why it did
// nothing, is a [Result]. A trace is changed where RFC 9197 says so and nowhere else: the flags L and A and all
// reserved bits stay as they were received (RFC 9322). To send the copy that L asks for is for the caller.
//
// The carrier is the IPv6 hop-by-hop options header. The options are inserted into the packet itself, as the host that
// sends it may do. A node on the way is to put the packet into an IPv6 header of its own first (RFC 8200 §4, RFC 9486);
// this package does not do that. Fragments are treated like other packets: the header stands in front of the Fragment
// header. Checksums of TCP and UDP do not cover it.
//
// Behind VXLAN-GPE and NSH nothing is changed: no Next Protocol is assigned to IOAM, and senders do not agree on what
// its length counts. Edge to edge data and proof of transit are neither written nor changed; in the hop-by-hop header
// Decapsulate removes them like all options of the domain.
//
// To add an option type that a source can insert:
//
//  1. its fields in Request, its rules in Request.Check;
//  2. its size and its bytes in bodyLen and append, request.go;
//  3. what Next of Options reads of it, in options.go;
//  4. a case in randomRequest of helpers_test.go, which gives it to the property test and to FuzzIOAM.
package ioam
