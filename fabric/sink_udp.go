package fabric

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/waybill-int/waybill/wire/packet"
)

// A UDPSink sends the payload of telemetry reports to a collector. Addresses and ports of the emulated network do not
// exist here: all reports come from one socket, unless the collector is on the loopback interface; then those of each
// switch come from an address of their own, 127.x.y.z for a switch with the address n.x.y.z.
type UDPSink struct {
	collector *net.UDPAddr
	sockets   map[[4]byte]*net.UDPConn // by the address that they are bound to
	sent      uint64
	failed    uint64
	last      error
}

// NewUDPSink returns a Sink for a collector at HOST:PORT.
func NewUDPSink(collector string) (*UDPSink, error) {
	address, err := net.ResolveUDPAddr("udp", collector)
	if err != nil {
		return nil, err
	}
	s := &UDPSink{collector: address, sockets: map[[4]byte]*net.UDPConn{}}
	_, err = s.socket([4]byte{}) // so that an address that cannot work is noticed now
	return s, err
}

// socket returns the socket for the reports of a switch.
func (s *UDPSink) socket(source [4]byte) (*net.UDPConn, error) {
	if v4 := s.collector.IP.To4(); v4 == nil || v4[0] != 127 || source == [4]byte{} {
		source = [4]byte{}
	} else {
		source[0] = 127
	}
	if c := s.sockets[source]; c != nil {
		return c, nil
	}
	var local *net.UDPAddr
	if source != [4]byte{} {
		local = net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(source), 0))
	}
	c, err := net.DialUDP("udp", local, s.collector)
	if err != nil {
		return nil, err
	}
	s.sockets[source] = c
	return c, nil
}

// Report implements Sink. A report that the system does not take is counted, no more: a collector may come and go.
func (s *UDPSink) Report(_ uint64, frame []byte) error {
	source, payload, ok := reportPayload(frame)
	if !ok {
		return fmt.Errorf("a report of %d bytes is not Ethernet with IP and UDP", len(frame))
	}
	c, err := s.socket(source)
	if err != nil {
		return err
	}
	if _, err := c.Write(payload); err != nil {
		s.failed++
		s.last = err
		return nil
	}
	s.sent++
	return nil
}

// reportPayload returns the UDP payload of a report, and its source if that is IPv4.
func reportPayload(frame []byte) (source [4]byte, payload []byte, ok bool) {
	var eth packet.Ethernet
	n, err := eth.Decode(frame)
	if err != nil {
		return source, nil, false
	}
	b, protocol := frame[n:], uint8(0)
	switch eth.EtherType {
	case packet.EtherTypeIPv4:
		var ip packet.IPv4
		n, err = ip.Decode(b)
		source, protocol = ip.Src, ip.Protocol
	case packet.EtherTypeIPv6:
		var ip packet.IPv6
		n, err = ip.Decode(b)
		protocol = ip.NextHeader
	default:
		return source, nil, false
	}
	if err != nil || protocol != packet.ProtoUDP {
		return source, nil, false
	}
	b = b[n:]
	var udp packet.UDP
	n, err = udp.Decode(b)
	if err != nil || int(udp.Length) < n || int(udp.Length) > len(b) {
		return source, nil, false
	}
	return source, b[n:udp.Length], true
}

// Flush implements Sink.
func (*UDPSink) Flush() error { return nil }

// Sent returns the number of reports that the system has taken, and of those that it has not, with the last reason.
func (s *UDPSink) Sent() (sent, failed uint64, last error) { return s.sent, s.failed, s.last }

// Close closes the sockets.
func (s *UDPSink) Close() error {
	for _, c := range s.sockets {
		c.Close()
	}
	return nil
}
