package collect

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/wire/packet"
)

// Networks of addresses whose reports come in frames from an interface, past the kernel's network.
const (
	networkXDP    = "xdp"
	networkPacket = "packet"
)

// listenOnInterface opens the socket of xdp:// or packet://. Where the kernel does not allow it, UDP sockets take its
// place, and Fallback says why.
func listenOnInterface(network, hostPort string, cfg Config) ([]*Socket, error) {
	name, portText, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	port, _ := strconv.ParseUint(portText, 10, 16) // splitAddress has seen it
	inter, err := net.InterfaceByName(name)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("listen on %s: want %s://INTERFACE:PORT with an interface that is there (ip link)",
			cfg.Address, network)
	}
	s := new(Socket)
	if network == networkXDP {
		// It also gets what the program passes: fragments, packets with options or on other interfaces.
		if s, err = open("udp", ":"+portText, cfg, false); err != nil {
			return nil, listenError(cfg.Address, err)
		}
	}
	s.frames, err = openFrames(network, inter, uint16(port), cfg, s)
	if err == nil {
		return []*Socket{s}, nil
	}
	if s.conn != nil {
		s.Close()
	}
	cfg.Address = ":" + portText
	sockets, listenErr := Listen(cfg)
	if listenErr == nil {
		sockets[0].fallback = fmt.Errorf("%s: %w", network, err)
	}
	return sockets, listenErr
}

// Fallback says why the socket is one of UDP although its address asked for frames of an interface; nil if it did not.
func (s *Socket) Fallback() error { return s.fallback }

// String returns the address of the socket: HOST:PORT of UDP, or xdp://INTERFACE:PORT and packet://INTERFACE:PORT.
func (s *Socket) String() string {
	if s.frames != nil {
		return s.frames.name
	}
	return s.Addr().String()
}

// URL returns what String says with its scheme, as Config.Address has it.
func URL(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "udp://" + address
}

// datagramIn returns the UDP datagram to port in an Ethernet frame. It is false for all else, for fragments and for
// lengths that contradict each other. The checksum of UDP is not looked at: of packets from this machine it is not
// computed yet.
func datagramIn(frame []byte, port uint16) (d Datagram, ok bool) {
	var eth packet.Ethernet
	n, err := eth.Decode(frame)
	if err != nil {
		return d, false
	}
	b, kind := frame[n:], eth.EtherType
	for packet.IsVLAN(kind) {
		var tag packet.VLAN
		if n, err = tag.Decode(b); err != nil {
			return d, false
		}
		b, kind = b[n:], tag.EtherType
	}
	var source netip.Addr
	length, protocol := 0, uint8(0)
	switch kind {
	case packet.EtherTypeIPv4:
		var h packet.IPv4
		if n, err = h.Decode(b); err != nil || h.IsFragment() {
			return d, false
		}
		source, length, protocol = netip.AddrFrom4(h.Src), int(h.TotalLength)-n, h.Protocol
	case packet.EtherTypeIPv6:
		var h packet.IPv6
		if n, err = h.Decode(b); err != nil {
			return d, false
		}
		source, length, protocol = netip.AddrFrom16(h.Src).Unmap(), int(h.PayloadLength), h.NextHeader
	default:
		return d, false
	}
	b = b[n:]
	var h packet.UDP
	n, err = h.Decode(b)
	if err != nil || protocol != packet.ProtoUDP || h.DstPort != port || int(h.Length) < n || int(h.Length) > length {
		return d, false
	}
	end := min(int(h.Length), len(b))
	d.Source = netip.AddrPortFrom(source, h.SrcPort)
	d.Payload, d.Truncated = b[n:end:end], end < int(h.Length)
	return d, true
}
