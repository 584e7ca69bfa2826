package report

import "encoding/binary"

// FragmentPadding returns how many bytes at the end of a fragment are not part of it but fill up the last word of its
// report or TLV: 0 to 3. inner is the fragment, inType its kind in the values of V20.InType.
//
// TR 2.0 says nothing about fragments that are no multiple of 4 bytes, and its own example (§4.4) has one. The length
// in the fragment's first IP header tells where it ends. A fragment that was cut is shorter than that and has no
// padding; one that is not IP, or is longer by more than 3 bytes, is left alone.
func FragmentPadding(inner []byte, inType uint8) int {
	surplus := len(inner) - fragmentLen(inner, inType)
	if surplus < 0 || surplus > 3 {
		return 0
	}
	return surplus
}

// fragmentLen returns the length that the first IP header of b claims for b, and len(b) if there is none to ask.
func fragmentLen(b []byte, inType uint8) int {
	ip := 0
	if inType == InEthernet {
		ip, inType = skipEthernet(b)
	}
	switch {
	case inType == InIPv4 && len(b) >= ip+4 && b[ip]>>4 == 4:
		if total := int(binary.BigEndian.Uint16(b[ip+2:])); total >= 20 { // 0 if the host left it to its network card
			return ip + total
		}
	case inType == InIPv6 && len(b) >= ip+6 && b[ip]>>4 == 6:
		return ip + 40 + int(binary.BigEndian.Uint16(b[ip+4:]))
	}
	return len(b)
}

// skipEthernet returns where the header behind Ethernet and its VLAN tags begins and its kind, InNone if it is not IP.
func skipEthernet(b []byte) (int, uint8) {
	for end := 14; len(b) >= end; end += 4 {
		switch binary.BigEndian.Uint16(b[end-2:]) {
		case 0x0800:
			return end, InIPv4
		case 0x86DD:
			return end, InIPv6
		case 0x8100, 0x88A8, 0x9100:
		default:
			return 0, InNone
		}
	}
	return 0, InNone
}
