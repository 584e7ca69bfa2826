package main

import (
	"encoding/binary"
	"strings"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/report"
)

// reportPayload returns the UDP payload of a captured packet if it is a telemetry report to a report port of cfg, in
// any tunnel that decode reads. Fragments of datagrams are no reports: a part of one cannot be sent on.
func reportPayload(p *collect.Packet, cfg *codepoint.Config) ([]byte, bool) {
	start, ok := dissect.StartOfLinkType(p.LinkType)
	if !ok {
		return nil, false
	}
	end := len(p.Data)
	for _, l := range dissect.Packet(p.Data, start, cfg) {
		switch {
		case l.Find("fragment_offset") != nil:
			return nil, false
		case l.Name == "udp":
			// Some switches leave the lengths of IP too large; then UDP, or else the frame, ends the datagram.
			if n := int(l.Find("length").Number()); n >= 8 {
				end = min(end, l.Bit/8+n)
			}
		case strings.HasPrefix(l.Name, "telemetry_report"):
			b := p.Data[l.Bit/8 : max(end, l.Bit/8)]
			_, err := report.Version(b)
			return b, err == nil
		}
	}
	return nil, false
}

// A sequenceKey is one sequence of reports: numbers count per node and hardware id.
type sequenceKey struct {
	version uint8
	hwID    uint8
	node    uint32
}

// A sequenceSpan is the lowest and highest number of a sequence in the captures.
type sequenceSpan struct{ low, high uint32 }

// sequenceOf reads the sequence number in the header of a report.
func sequenceOf(b []byte) (key sequenceKey, n uint32, ok bool) {
	version, err := report.Version(b)
	if err != nil {
		return key, 0, false
	}
	key.version = version
	switch {
	case version == 0 && len(b) >= 16:
		key.hwID, n = b[3]&0x3f, binary.BigEndian.Uint32(b[4:])
		if b[0]&0x0f != report.NProtoEthernet { // a second header names the switch
			key.node = binary.BigEndian.Uint32(b[12:])
		}
	case version == 1 && len(b) >= 12:
		key.hwID, key.node, n = b[3]&0x3f, binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	case version == 2 && len(b) >= 8:
		word := binary.BigEndian.Uint32(b)
		key.hwID, key.node, n = uint8(word>>22)&0x3f, binary.BigEndian.Uint32(b[4:]), word&(1<<22-1)
	default:
		return key, 0, false
	}
	return key, n, true
}

// setSequence writes the sequence number of a report for which sequenceOf was ok.
func setSequence(b []byte, n uint32) {
	switch b[0] >> 4 {
	case 0:
		binary.BigEndian.PutUint32(b[4:], n)
	case 1:
		binary.BigEndian.PutUint32(b[8:], n)
	case 2:
		binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)&^(1<<22-1)|n&(1<<22-1))
	}
}
