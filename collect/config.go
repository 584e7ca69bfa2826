package collect

// Receive buffers that a socket asks for when Config does not say, in bytes.
const (
	// DefaultReceiveBuffer is for datagrams that come one by one. It holds about 9,000 reports. A larger one takes
	// longer bursts, but under lasting overload it makes more losses, not fewer: what waited in 32 MiB is no longer in
	// the processor's cache when it is read. Of 6 million reports sent as fast as possible a receiver kept 42 to 97 %
	// with 4 MiB (16 runs, the low ones on a busy machine) and 34 to 46 % with 32 MiB (6 runs).
	DefaultReceiveBuffer = 4 << 20

	// MinRunsBuffer and MaxRunsBuffer bound what is for runs (see Socket.Coalesced), which come so fast that a burst
	// has to wait for the tables, and which cost the same to read when they waited. The larger one holds about 6
	// million reports.
	MinRunsBuffer, MaxRunsBuffer = 64 << 20, maxReceiveBuffer
	maxReceiveBuffer             = 1<<30 - 1 // the kernel gives no more
)

// runsBuffer is the receive buffer of each of the sockets that share an address: together a sixteenth of the memory, of
// which full ones take twice as much.
func runsBuffer(sockets int) int {
	return max(MinRunsBuffer, min(memory()/16/max(sockets, 1), MaxRunsBuffer))
}

// A Config says where and how to listen.
type Config struct {
	// Address is "udp://HOST:PORT" or "HOST:PORT". Without a host, and with [::], the sockets take IPv4 and IPv6; with
	// 0.0.0.0 they take IPv4. Port 0 lets the kernel choose.
	// "xdp://INTERFACE:PORT" (AF_XDP) and "packet://INTERFACE:PORT" (TPACKET_V3) take frames of an interface, by one
	// socket; see Socket.Fallback.
	Address string

	// Sockets is the number of sockets that share the address, so that as many goroutines can read. Senders are spread
	// over them by source address alone: whatever its source ports (reports may put entropy there, TR 2.0 §3.1), an
	// exporter stays on one socket and its datagrams in order. 0 means 1. Only Linux opens more than one.
	Sockets int

	// ReceiveBuffer is the kernel memory per socket for datagrams that wait to be read, in bytes. 0 means
	// DefaultReceiveBuffer or, if Socket.Coalesced is true, as much as the memory of the machine allows (see
	// MaxRunsBuffer). A datagram of 200 bytes takes about 460 of them, and 110 in a run. Root (CAP_NET_ADMIN) gets what
	// it asks for, others at most net.core.rmem_max.
	ReceiveBuffer int

	// Coalesce asks the kernel for runs of datagrams in one piece (UDP_GRO), which takes a receiver a third of the time
	// and less of the receive buffer; see Socket.Coalesced for what it needs.
	Coalesce bool

	// Stamp asks the kernel when each datagram came (SO_TIMESTAMPNS), for Datagram.ArrivedNs. Those of a run have one
	// time. The kernel begins with it some milliseconds after the first socket asks: until then it is the time at which
	// they are read.
	Stamp bool
}
