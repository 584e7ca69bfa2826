package inband

// ComplementUnused is the checksum complement of a node that updated the checksum field of TCP or UDP instead, or that
// had nothing to update because the UDP checksum is 0 (INT 2.1 §5.6).
const ComplementUnused uint32 = 0xFFFFFFFF

// ChecksumComplement returns the checksum complement for a node that has inserted its record: the word that makes the
// TCP or UDP checksum right again which the packet already carries (INT 2.1 §5.6). Its upper half is 0.
//
// segment is the TCP or UDP header and all that follows it, as the node will send it: with the new UDP length, with the
// checksum that was there before, and with 0 in the complement word, which must start at an even offset. pseudo is the
// sum of the 16 bit words of the pseudo header, with the new length.
func ChecksumComplement(segment []byte, pseudo uint32) uint32 {
	sum := uint64(pseudo)
	for len(segment) >= 2 {
		sum += uint64(segment[0])<<8 | uint64(segment[1])
		segment = segment[2:]
	}
	if len(segment) == 1 {
		sum += uint64(segment[0]) << 8
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return uint32(^uint16(sum))
}
