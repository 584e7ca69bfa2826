package collect

// DefaultReceiveBuffer is the receive buffer that a socket asks for when Config does not say, in bytes.
const DefaultReceiveBuffer = 32 << 20

// A Config says where and how to listen.
type Config struct {
	// Address is "udp://HOST:PORT" or "HOST:PORT". Without a host, and with [::], the sockets take IPv4 and IPv6; with
	// 0.0.0.0 they take IPv4. Port 0 lets the kernel choose.
	Address string

	// Sockets is the number of sockets that share the address, so that as many goroutines can read. Senders are spread over
	// them by source address alone: whatever its source ports (reports may put entropy there, TR 2.0 §3.1), an exporter
	// stays on one socket and its datagrams in order. 0 means 1. Only Linux opens more than one.
	Sockets int

	// ReceiveBuffer is the kernel memory per socket for datagrams that wait to be read, in bytes. 0 means
	// DefaultReceiveBuffer. A datagram of 200 bytes takes about 400 of them. Root (CAP_NET_ADMIN) gets what it asks for,
	// others at most net.core.rmem_max.
	ReceiveBuffer int
}
