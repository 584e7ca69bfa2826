package collect

import "net/netip"

// A Datagram is one received UDP datagram.
type Datagram struct {
	// Source is the sender. An IPv4 sender has an IPv4 address on a dual stack socket too. The zone of a link-local
	// address is left out.
	Source netip.AddrPort

	// Collector is the name of the collector that received it; "": this process.
	Collector string

	// Payload is a view into the batch, valid until the batch is read into again.
	Payload []byte

	// ArrivedNs is when the kernel received it, nanoseconds since 1970; 0: nobody asked (see Config.Stamp), or frames
	// of an interface were read.
	ArrivedNs int64

	// Truncated says that the datagram was longer than Payload.
	Truncated bool

	// Kept says that the owner of its flows, in another process, keeps the datagram: Payload is its Header, see
	// AppendHeader.
	Kept Kept
}

// A Kept is a datagram in a message that an owner keeps.
type Kept struct {
	Is      bool
	Holder  int    // the owner, see ownerOf
	Message uint64 // as the owner numbers them
	At      int    // place in the message
}
