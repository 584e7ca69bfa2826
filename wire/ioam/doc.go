// Package ioam decodes and writes in situ OAM (IOAM): the trace that nodes fill on the way of a packet, edge to edge
// data, direct export and proof of transit (RFC 9197, RFC 9322, RFC 9326).
//
// Two carriers are known. In IPv6 an option of type OptionMutable or OptionFixed holds an Option (RFC 9486). Behind
// VXLAN-GPE and NSH stands a Shim (RFC 9452). Both name the option type of the body that follows:
//
//	TypePreallocated, TypeIncremental   Trace, then the data space: Trace.Nodes reads it
//	TypePOT                             POT
//	TypeE2E                             E2E
//	TypeDEX                             DEX
//
// A transit node decodes the Trace, checks that it knows the namespace, calls AddPreallocated or AddIncremental, and
// writes the changed header fields back with Update.
//
// To add a data field that got one of the undefined trace type bits:
//
//  1. a Bit constant in tracetype.go, the bit taken out of BitsUndefined, its size in NodeLen;
//  2. a field in Node, its unit in the comment;
//  3. one line in Node.Decode and one in Node.Append, in bit order: bits are defined from 12 on, so the line stands
//     before the loop over Undefined, which then starts one bit later;
//  4. a row in TestNodeUnavailable and in TestNodeLen.
//
// To add an option type:
//
//  1. a Type constant in option.go and a line in the list above;
//  2. a file with the type, its drawing, Decode, Append and Len;
//  3. a test with wiretest.Check, and a case and a seed in fuzz_test.go.
package ioam
