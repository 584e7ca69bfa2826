package collect

import "time"

// A Packet is one packet of a capture file.
type Packet struct {
	// Number counts the packets of the file from 1, as Wireshark does.
	Number int

	// Time is the capture time in UTC. It is the zero time in a pcapng simple packet block, which has none.
	Time time.Time

	// Data is what the file holds of the packet, from its link layer header on. It is valid until the next call of
	// Next.
	Data []byte

	// Length is the length of the packet on the wire in bytes, as the file says: more than len(Data) if the capture was
	// limited.
	Length int

	// LinkType is the LINKTYPE_ value (tcpdump.org/linktypes.html) of the interface: 1 for Ethernet.
	LinkType int
}
