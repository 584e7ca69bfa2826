package dissect

import "github.com/waybill-int/waybill/wire/ifa"

var ifaFlags = []string{"metadata fragment", "tail stamp", "inband", "turn around", "checksum"}

// ifa reads the IFA header between IP and L4.
func (w *walk) ifa() Start {
	l := w.begin()
	n, err := w.ifaHeader.Decode(w.rest())
	h := &w.ifaHeader
	if err != nil {
		return w.broken("ifa_header", &l, 0, err)
	}
	number(&l, "version", h.Version, 0, 4)
	number(&l, "gns", h.GNS, 4, 4)
	number(&l, "next_header", h.NextHeader, 8, 8).Meaning = protocolName(h.NextHeader)
	number(&l, "flags", h.Flags(), 19, 5).Meaning = bitNames(uint64(h.Flags()), 5, ifaFlags)
	number(&l, "max_length", h.MaxLength, 24, 8).Unit = "words"
	w.add("ifa_header", &l, n)
	w.behindIFA = true
	next := w.protocol(h.NextHeader)
	if next != UDP && next != TCP && next != GRE {
		return Payload // only behind these headers is it known where the metadata are
	}
	return next
}

// ifaMetadata reads the metadata header and stack of IFA behind the L4 header, whose length does not count them.
func (w *walk) ifaMetadata() Start {
	w.behindIFA = false
	var h ifa.Metadata
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("ifa_metadata", &l, 4, err)
	}
	number(&l, "request_vector", h.RequestVector, 0, 8)
	number(&l, "action_vector", h.ActionVector, 8, 8).Meaning = bitNames(uint64(h.ActionVector), 8,
		[]string{"loss", "colour"})
	number(&l, "hop_limit", h.HopLimit, 16, 8)
	number(&l, "current_length", h.CurrentLength, 24, 8).Unit = "words"
	stack, err := h.Stack(&w.ifaHeader, w.rest()[n:])
	if err != nil {
		return w.broken("ifa_metadata", &l, 4, err)
	}
	hops := []Object{}
	var hop ifa.Hop
	at := w.off + n
	for stack.Next(&hop) {
		hops = append(hops, ifaHop(&hop, at))
		at += hop.Len()
	}
	l.add("hops", hops, 8*n, 8*len(stack.Words))
	if len(stack.Raw) > 0 {
		l.bytes("rest", stack.Raw, 8*(at-w.off))
	}
	w.add("ifa_metadata", &l, n+len(stack.Words))
	return Payload
}

func ifaHop(h *ifa.Hop, at int) Object {
	b := builder{start: 8 * at, fields: make(Object, 0, 14)}
	number(&b, "lns", h.LNS, 0, 4)
	number(&b, "device_id", h.DeviceID, 4, 20)
	number(&b, "ttl", h.TTL, 24, 8)
	number(&b, "speed", h.Speed, 32, 4).Meaning = ifaSpeedName(h.Speed)
	number(&b, "congestion", h.Congestion, 36, 2)
	number(&b, "queue_id", h.QueueID, 38, 6)
	number(&b, "rx_sec", h.RxSec, 44, 20).Unit = "s"
	number(&b, "egress_port", h.EgressPort, 64, 16)
	number(&b, "ingress_port", h.IngressPort, 80, 16)
	number(&b, "rx_nsec", h.RxNsec, 96, 32).Unit = "ns"
	number(&b, "residence", h.Residence, 128, 32).Unit = "ns"
	number(&b, "opaque0", h.QueueBytes, 160, 32)
	number(&b, "opaque1", h.Word6, 192, 32)
	number(&b, "opaque2", h.Word7, 224, 32)
	return b.fields
}
