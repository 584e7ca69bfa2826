// Package ifa decodes and writes the Inband Flow Analyzer (IFA) 2.0 headers (draft-kumar-ippm-ifa).
//
// A packet with IFA is, from the front:
//
//	IP, protocol number by configuration
//	Header                the protocol that IP named before
//	TCP, UDP, …           as sent: length and checksum are those of the packet without IFA
//	Metadata, then Stack  Current Length words, the newest Hop first
//	payload
//
// The lengths of the layers around the stack do not count it. Only Current Length says where the payload starts.
//
// To add a metadata template of another global or local name space:
//
//  1. a file with the record type, its drawing, Decode, Append and Len;
//  2. a test with wiretest.Check, and a case and a seed in fuzz_test.go;
//  3. a Next method of Stack for it, over Stack.Words. Which template a name space uses is not on the wire: the caller
//     chooses by configuration.
package ifa
