package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/wire/packet"
)

// collectors are the Sink of the reports that are sent. Nodes address a report to one of them; here it goes there.
type collectors struct {
	list []netip.AddrPort
	to   map[netip.AddrPort]*fabric.UDPSink
}

// newCollectors opens a Sink for each HOST:PORT.
func newCollectors(names []string) (*collectors, error) {
	c := &collectors{to: map[netip.AddrPort]*fabric.UDPSink{}}
	for _, name := range names {
		if err := c.add(name); err != nil {
			c.close()
			return nil, fmt.Errorf("--reports %s: %w", name, err)
		}
	}
	return c, nil
}

func (c *collectors) add(name string) error {
	udp, err := net.ResolveUDPAddr("udp", name)
	if err != nil {
		return err
	}
	if udp.IP == nil || udp.Port == 0 {
		return command.Usage(errors.New("want HOST:PORT of a collector, for example 127.0.0.1:8555"))
	}
	address := netip.AddrPortFrom(udp.AddrPort().Addr().Unmap(), uint16(udp.Port))
	switch {
	case c.to[address] != nil:
		return command.Usage(errors.New("is there twice"))
	case len(c.list) > 0 && (address.Port() != c.list[0].Port() || address.Addr().Is4() != c.list[0].Addr().Is4()):
		return command.Usage(
			errors.New(
				"collectors that share the reports have the same port (Telemetry Report 2.0 §3.1.1) and IP version"))
	}
	sink, err := fabric.NewUDPSink(address.String())
	if err != nil {
		return err
	}
	c.list = append(c.list, address)
	c.to[address] = sink
	return nil
}

// Report implements fabric.Sink.
func (c *collectors) Report(atNs uint64, frame []byte) error {
	sink := c.to[c.list[0]]
	if len(c.list) > 1 {
		if sink = c.to[destination(frame)]; sink == nil {
			return fmt.Errorf("a report to %s, which is none of the collectors", destination(frame))
		}
	}
	return sink.Report(atNs, frame)
}

// Flush implements fabric.Sink.
func (c *collectors) Flush() error { return nil }

// sent adds up what all collectors were sent.
func (c *collectors) sent() (sent, failed uint64, last error) {
	for _, address := range c.list {
		s, f, err := c.to[address].Sent()
		sent, failed = sent+s, failed+f
		if err != nil {
			last = err
		}
	}
	return sent, failed, last
}

func (c *collectors) close() {
	for _, sink := range c.to {
		_ = sink.Close() // a UDP socket keeps nothing back
	}
}

// destination returns the address that a report, Ethernet with IP without options and UDP, is sent to.
func destination(frame []byte) netip.AddrPort {
	var eth packet.Ethernet
	n, err := eth.Decode(frame)
	if err != nil {
		return netip.AddrPort{}
	}
	b := frame[n:]
	var to netip.Addr
	if eth.EtherType == packet.EtherTypeIPv6 {
		var ip packet.IPv6
		n, err = ip.Decode(b)
		to = netip.AddrFrom16(ip.Dst)
	} else {
		var ip packet.IPv4
		n, err = ip.Decode(b)
		to = netip.AddrFrom4(ip.Dst)
	}
	if err != nil {
		return netip.AddrPort{}
	}
	var udp packet.UDP
	if _, err = udp.Decode(b[n:]); err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(to, udp.DstPort)
}
