// Package packet reads and writes the headers of the packets that carry telemetry and of those inside reports:
// Ethernet, VLAN, MPLS, IPv4, IPv6 with its extension headers, UDP, TCP, SCTP, ICMP, GRE, VXLAN, VXLAN-GPE, Geneve and
// NSH; and the Internet checksum. It does not know INT: package inband does.
//
// Every header is a struct in the words of its specification, with three methods:
//
//   - Decode(b) reads the value from the front of b and returns the bytes used; b may be longer. It overwrites the
//     whole receiver, so one struct serves for many packets. On an error, fields that were not read are zero, and the
//     number is 0 unless the method says otherwise. A []byte field is a view into b and lives as long as b; an empty
//     one is nil.
//   - Append(b) appends exactly Len() bytes. It writes what the struct says, right or wrong, and computes neither
//     lengths nor checksums. A value too wide for its field loses its upper bits. Reserved bits are written as zero.
//   - Len() is the length of the header in bytes.
//
// None of them allocates (Append only when b is too small) or panics. Decode checks what it needs to find its way, not
// whether a packet is good: packets in captures and reports are cut, so lengths of what follows a header are not
// compared with the bytes that are there.
//
// To add a header type:
//
//  1. the reasons for which it can be refused, in package wire;
//  2. a file named after it: the drawing with its specification, the type, Decode, Append and Len;
//  3. a test file beside it with wiretest.Check over annotated bytes and a test for each error;
//  4. a row in headers of fuzz_test.go, which gives it to FuzzPacket and to the tests that hold for all types;
//  5. the number that announces it, in numbers.go.
package packet
