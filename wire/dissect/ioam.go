package dissect

import (
	"strconv"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// ioamShim reads IOAM behind VXLAN-GPE or NSH. next tells what a Next Protocol number of the carrier stands for.
func (w *walk) ioamShim(next func(*walk, uint8) Start) Start {
	var h ioam.Shim
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("ioam_shim", &l, 4, err)
	}
	number(&l, "ioam_type", h.Type, 0, 8).Meaning = ioamTypeName(h.Type)
	number(&l, "hdr_len", h.HdrLen, 8, 8).Unit = "words"
	number(&l, "next_protocol", h.NextProtocol, 24, 8).Meaning = nextProtocolName(h.NextProtocol)
	size, err := h.BodyLen(len(w.rest()) - n)
	if err != nil {
		return w.broken("ioam_shim", &l, 4, err)
	}
	w.add("ioam_shim", &l, n)
	from := w.off
	w.ioam(h.Type, from, from+size)
	w.off = from + size
	return next(w, h.NextProtocol)
}

// bareIOAM reads bytes that start with the header of a pre-allocated trace.
func (w *walk) bareIOAM() Start {
	w.ioam(ioam.TypePreallocated, w.off, w.end)
	return nothing
}

// ioam reads the body of an IOAM option that is at packet[from:to] and adds it as a layer.
func (w *walk) ioam(optionType uint8, from, to int) {
	body := w.packet[from:to:to]
	l := builder{start: 8 * from}
	var name string
	var err error
	switch optionType {
	case ioam.TypePreallocated, ioam.TypeIncremental:
		name = "ioam_trace"
		err = w.ioamTrace(&l, body, optionType)
	case ioam.TypePOT:
		name = "ioam_pot"
		err = ioamPOT(&l, body)
	case ioam.TypeE2E:
		name = "ioam_e2e"
		err = ioamE2E(&l, body)
	case ioam.TypeDEX:
		name = "ioam_dex"
		err = ioamDEX(&l, body)
	default:
		name = "ioam"
		l.bytes("hex", body, 0)
		err = wire.ErrUnknownIOAMType
	}
	if err != nil {
		if len(l.fields) == 0 {
			name = ""
		}
		l.fail(err)
	}
	w.layers = append(w.layers, Layer{Name: name, Bit: l.start, Width: 8 * len(body), Fields: l.fields})
}

func (w *walk) ioamTrace(l *builder, body []byte, optionType uint8) error {
	var h ioam.Trace
	n, err := h.Decode(body)
	if err != nil {
		return err
	}
	derived(l, "option_type", int(optionType)).Meaning = ioamTypeName(optionType)
	number(l, "namespace_id", h.NamespaceID, 0, 16)
	number(l, "node_len", h.NodeLen, 16, 5).Unit = "words"
	l.flag("overflow", h.Overflow, 21)
	l.flag("loopback", h.Loopback, 22)
	l.flag("active", h.Active, 23)
	number(l, "remaining_len", h.RemainingLen, 25, 7).Unit = "words"
	number(l, "trace_type", h.Type, 32, 24).Meaning = bitNames(uint64(h.Type), 24, ioamTraceBits)
	nodes, err := h.Nodes(body[n:], optionType == ioam.TypePreallocated)
	if err != nil {
		return err
	}
	derived(l, "free_words", nodes.FreeWords).Unit = "words"
	var list []Object
	var node ioam.Node
	at := l.start + 8*(n+4*nodes.FreeWords)
	for nodes.Next(&node) {
		list = append(list, ioamNode(&node, at))
		at += 8 * node.LenFor(h.Type)
	}
	if err := nodes.Err(); err != nil {
		list = append(list, Object{errorAt(err, at)})
	}
	l.add("nodes", list, 8*n, 8*(len(body)-n))
	return nil
}

// ioamNode returns the record of one node, which starts at bit start.
func ioamNode(n *ioam.Node, start int) Object {
	b := builder{start: start, fields: make(Object, 0, 8)}
	at := 0
	// none marks the last field if the node had no value for bit.
	none := func(bit uint32) {
		if n.Unavailable&bit != 0 {
			b.fields[len(b.fields)-1].Meaning = NotAvailable
		}
	}
	word := func(bit uint32, name string, v uint32, unit string) {
		if n.Has&bit != 0 {
			number(&b, name, v, at, 32).Unit = unit
			none(bit)
			at += 32
		}
	}
	if n.Has&ioam.BitHopLimitNodeID != 0 {
		number(&b, "hop_lim", n.HopLimit, at, 8)
		number(&b, "node_id", n.NodeID, at+8, 24)
		none(ioam.BitHopLimitNodeID)
		at += 32
	}
	if n.Has&ioam.BitInterfaces != 0 {
		ioamInterface(&b, "ingress_if", uint32(n.IngressIf), ioam.NoInterface, at, 16)
		ioamInterface(&b, "egress_if", uint32(n.EgressIf), ioam.NoInterface, at+16, 16)
		at += 32
	}
	word(ioam.BitTsSec, "ts_sec", n.TsSec, "unix s")
	word(ioam.BitTsFrac, "ts_frac", n.TsFrac, "")
	word(ioam.BitTransitDelay, "transit_delay", n.TransitDelay, "ns")
	if f := b.fields.Find("transit_delay"); f != nil && f.Meaning == "" &&
		n.TransitDelay&ioam.TransitDelayOverflow != 0 {
		f.Meaning, f.Unit = "overflow", ""
	}
	word(ioam.BitNSData, "ns_data", n.NSData, "")
	word(ioam.BitQueueDepth, "queue_depth", n.QueueDepth, "")
	word(ioam.BitComplement, "checksum_complement", n.Complement, "")
	if n.Has&ioam.BitHopLimitNodeIDWide != 0 {
		number(&b, "hop_lim_wide", n.HopLimitWide, at, 8)
		number(&b, "node_id_wide", n.NodeIDWide, at+8, 56)
		none(ioam.BitHopLimitNodeIDWide)
		at += 64
	}
	if n.Has&ioam.BitInterfacesWide != 0 {
		ioamInterface(&b, "ingress_if_wide", n.IngressIfWide, ioam.NoInterfaceWide, at, 32)
		ioamInterface(&b, "egress_if_wide", n.EgressIfWide, ioam.NoInterfaceWide, at+32, 32)
		at += 64
	}
	if n.Has&ioam.BitNSDataWide != 0 {
		number(&b, "ns_data_wide", n.NSDataWide, at, 64)
		none(ioam.BitNSDataWide)
		at += 64
	}
	word(ioam.BitBufferOccupancy, "buffer_occupancy", n.BufferOccupancy, "")
	for i, v := range n.Undefined {
		word(uint32(0x000800)>>i, "undefined_bit"+strconv.Itoa(12+i), v, "")
	}
	if n.Has&ioam.BitSnapshot != 0 {
		oss := builder{start: start + at}
		number(&oss, "schema_id", n.Snapshot.SchemaID, 8, 24)
		if n.Unavailable&ioam.BitSnapshot != 0 {
			oss.fields[0].Meaning = NotAvailable
		}
		oss.bytes("data", n.Snapshot.Data, 32)
		b.add("oss", oss.fields, at, 8*n.Snapshot.Len())
	}
	return b.fields
}

func ioamInterface(b *builder, name string, v, none uint32, bit, width int) {
	f := number(b, name, v, bit, width)
	if v == none {
		f.Meaning = NotAvailable
	}
}

func ioamE2E(l *builder, body []byte) error {
	var h ioam.E2E
	if _, err := h.Decode(body); err != nil {
		return err
	}
	number(l, "namespace_id", h.NamespaceID, 0, 16)
	number(l, "e2e_type", h.Type, 16, 16)
	at := 32
	if h.Type&ioam.E2ESeq64 != 0 {
		number(l, "seq64", h.Seq64, at, 64)
		at += 64
	}
	word := func(bit uint16, name string, v uint32) {
		if h.Type&bit != 0 {
			number(l, name, v, at, 32)
			at += 32
		}
	}
	word(ioam.E2ESeq32, "seq32", h.Seq32)
	word(ioam.E2ETsSec, "ts_sec", h.TsSec)
	word(ioam.E2ETsFrac, "ts_frac", h.TsFrac)
	if f := l.fields.Find("ts_sec"); f != nil {
		f.Unit = "unix s"
	}
	return nil
}

func ioamDEX(l *builder, body []byte) error {
	var h ioam.DEX
	if _, err := h.Decode(body); err != nil {
		return err
	}
	number(l, "namespace_id", h.NamespaceID, 0, 16)
	number(l, "flags", h.Flags, 16, 8)
	number(l, "extension_flags", h.ExtFlags, 24, 8)
	number(l, "trace_type", h.TraceType, 32, 24).Meaning = bitNames(uint64(h.TraceType), 24, ioamTraceBits)
	at := 64
	if h.ExtFlags&ioam.DEXFlowID != 0 {
		number(l, "flow_id", h.FlowID, at, 32)
		at += 32
	}
	if h.ExtFlags&ioam.DEXSequence != 0 {
		number(l, "sequence", h.Sequence, at, 32)
		at += 32
	}
	if len(h.Extra) > 0 {
		l.bytes("extensions", h.Extra, at)
	}
	return nil
}

func ioamPOT(l *builder, body []byte) error {
	var h ioam.POT
	if _, err := h.Decode(body); err != nil {
		return err
	}
	number(l, "namespace_id", h.NamespaceID, 0, 16)
	number(l, "pot_type", h.Type, 16, 8)
	number(l, "flags", h.Flags, 24, 8)
	if h.Type != 0 {
		l.bytes("hex", h.Extra, 32)
		return nil
	}
	number(l, "pkt_id", h.PktID, 32, 64)
	number(l, "cumulative", h.Cumulative, 96, 64)
	return nil
}
