package ioam

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	ipv6Len         = 40
	extensionMinLen = 2 // Next Header and Hdr Ext Len
)

// A Packet is what a node needs to know of one frame. Parse fills it, without allocating; reuse it for the next frame.
// Offsets are bytes from the start of Frame.
type Packet struct {
	Frame []byte // as given to Parse; never modified

	L3          int // of the IPv6 header; 0 if the frame is not IPv6
	HopByHop    int // of the hop-by-hop options header; 0: none
	HopByHopEnd int // behind it
	End         int // of the IPv6 packet: bytes behind it are padding of the frame

	TotalLength int // 40 + Payload Length
	HopLimit    uint8

	// Malformed says why the hop-by-hop options cannot be read to their end; 0: they can. The packet is then forwarded
	// as it is.
	Malformed wire.Error
}

// Parse reads frame, which starts with an Ethernet header and any number of VLAN tags, into p, and overwrites all of
// it. p refers to frame. A frame that is not IPv6 is no error. An error says that a header up to the hop-by-hop options
// is cut or wrong; L3 is then 0, and all functions of this package forward the frame as it is. That holds for
// jumbograms too (RFC 2675), whose Payload Length does not cover their hop-by-hop options.
func (p *Packet) Parse(frame []byte) error {
	*p = Packet{Frame: frame}
	at, err := findIPv6(frame)
	if err != nil || at == 0 {
		return err
	}
	var ip packet.IPv6
	n, err := ip.Decode(frame[at:])
	if err != nil {
		return err
	}
	end := at + n + int(ip.PayloadLength)
	if end > len(frame) {
		return wire.ErrTruncatedIPv6
	}
	q := Packet{Frame: frame, L3: at, End: end, TotalLength: end - at, HopLimit: ip.HopLimit}
	if ip.NextHeader == packet.ProtoHopByHop {
		var h packet.IPv6Options
		size, err := h.Decode(frame[at+n : end])
		if err != nil {
			return err
		}
		q.HopByHop, q.HopByHopEnd = at+n, at+n+size
		q.Malformed = checkOptions(h.Options)
	}
	*p = q
	return nil
}

// findIPv6 returns the offset of the IPv6 header; 0: there is none.
func findIPv6(frame []byte) (int, error) {
	var eth packet.Ethernet
	at, err := eth.Decode(frame)
	if err != nil {
		return 0, err
	}
	etherType := eth.EtherType
	for packet.IsVLAN(etherType) {
		var tag packet.VLAN
		n, err := tag.Decode(frame[at:])
		if err != nil {
			return 0, err
		}
		at += n
		etherType = tag.EtherType
	}
	if etherType != packet.EtherTypeIPv6 {
		return 0, nil
	}
	return at, nil
}

// checkOptions says why not all options can be read.
func checkOptions(b []byte) wire.Error {
	var o packet.IPv6Option
	for len(b) > 0 {
		n, err := o.Decode(b)
		if err != nil {
			return wire.ErrIPv6OptionOverrun
		}
		b = b[n:]
	}
	return 0
}

// Options returns the IOAM options of the hop-by-hop header.
func (p *Packet) Options() Options {
	if p.HopByHop == 0 || p.Malformed != 0 {
		return Options{}
	}
	return Options{frame: p.Frame, at: p.HopByHop + extensionMinLen, end: p.HopByHopEnd}
}
