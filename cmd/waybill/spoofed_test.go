package main

import "net/netip"

// spoofed returns a different source address for every i.
func spoofed(i uint32) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 5000)
}
