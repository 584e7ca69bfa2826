package inband

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/wire"
)

// A walker reads INT out of a packet the way a decoder does, into layers that have the shape of "expect" in the
// vectors. It knows just enough of the carriers for the vectors.
type walker struct {
	zero        Version0
	probeMarker uint64
	sourceOnly  map[uint16]int // bytes of source-only metadata per domain
	layers      []map[string]any
}

// The code points of the vectors.
const (
	vectorINTPort      = 17768
	vectorGREProtocol  = 0x4569
	vectorDSCP         = 0x17
	vectorGeneveClass  = 0x0103
	vectorGeneveOld    = 0x00AB
	protoTCP, protoUDP = 6, 17
	protoGRE           = 47
)

func (w *walker) add(name string, fields map[string]any) {
	fields["layer"] = name
	w.layers = append(w.layers, fields)
}

func (w *walker) start(at string, b []byte) error {
	switch at {
	case "ethernet":
		return w.ethernet(b)
	case "vxlan_gpe":
		return w.vxlanGPE(b)
	case "geneve":
		return w.geneve(b)
	case "int_shim_l4_v2":
		return w.shimL4(b)
	case "int_2016":
		return w.header2016(b)
	}
	return fmt.Errorf("starts_at %q is not known to the test", at)
}

func (w *walker) ethernet(b []byte) error {
	if len(b) < 14 {
		return wire.ErrTruncatedEthernet
	}
	etherType, b := binary.BigEndian.Uint16(b[12:]), b[14:]
	switch {
	case etherType == 0x0800 && len(b) >= 20 && len(b) >= 4*int(b[0]&15):
		return w.transport(b[9], b[1]>>2, b[4*int(b[0]&15):])
	case etherType == 0x86DD && len(b) >= 40:
		return w.transport(b[6], uint8(binary.BigEndian.Uint16(b)>>6&0x3F), b[40:])
	}
	return nil
}

func (w *walker) transport(proto, dscp uint8, b []byte) error {
	if proto == protoTCP && len(b) >= 20 && dscp == vectorDSCP && len(b) >= 4*int(b[12]>>4) {
		return w.shimL4(b[4*int(b[12]>>4):])
	}
	if proto == protoGRE {
		return w.gre(b)
	}
	if proto != protoUDP || len(b) < 8 {
		return nil
	}
	switch port, b := binary.BigEndian.Uint16(b[2:]), b[8:]; {
	case port == 4790:
		return w.vxlanGPE(b)
	case port == 6081:
		return w.geneve(b)
	case port == vectorINTPort, dscp == vectorDSCP:
		return w.shimL4(b)
	case w.probeMarker != 0 && len(b) >= 8 && binary.BigEndian.Uint64(b) == w.probeMarker:
		return w.shimL4(b[8:])
	}
	return nil
}

func (w *walker) gre(b []byte) error {
	if len(b) < 4 || binary.BigEndian.Uint16(b[2:]) != vectorGREProtocol {
		return nil
	}
	options := 4 * bits.OnesCount8(b[0]&0xB0)
	if len(b) < 4+options {
		return wire.ErrTruncatedGRE
	}
	b = b[4+options:]
	var s ShimGRE
	if _, err := s.Decode(b); err != nil {
		return err
	}
	w.add("int_shim_gre_v2",
		map[string]any{"type": s.Type, "g": s.G, "length": s.Length, "next_protocol": s.NextProtocol})
	return w.contents(b, s.End(), Family2x, s.Type)
}

func (w *walker) vxlanGPE(b []byte) error {
	if len(b) < 8 {
		return wire.ErrTruncatedVXLAN
	}
	next, b := b[3], b[8:]
	for {
		var end int
		switch next {
		case 5, 8:
			var s ShimGPEOld
			if _, err := s.Decode(b); err != nil {
				return err
			}
			name := "int_shim_vxlan_gpe_v1_0"
			if next == 5 {
				name = map[Version0]string{
					ZeroIs2016: "int_shim_vxlan_gpe_2016",
					ZeroIs05:   "int_shim_vxlan_gpe_v0_5",
				}[w.zero]
			}
			w.add(name, map[string]any{"type": s.Type, "length": s.Length, "next_protocol": s.NextProtocol})
			if err := w.contents(b, s.End(), FamilyOld, s.Type); err != nil {
				return err
			}
			next, end = s.NextProtocol, s.End()
		case 0x80, 0x82:
			var s ShimGPE
			if _, err := s.Decode(b); err != nil {
				return err
			}
			w.add("int_shim_vxlan_gpe_v2",
				map[string]any{"type": s.Type, "length": s.Length, "g": s.G, "next_protocol": s.NextProtocol})
			if err := w.contents(b, s.End(), Family2x, s.Type); err != nil {
				return err
			}
			next, end = s.NextProtocol, s.End()
		default:
			return nil
		}
		b = b[end:]
	}
}

func (w *walker) geneve(b []byte) error {
	if len(b) < 8 || len(b) < 8+4*int(b[0]&0x3F) {
		return wire.ErrTruncatedGeneve
	}
	for b = b[8 : 8+4*int(b[0]&0x3F)]; len(b) >= 4; {
		class, typ, end := binary.BigEndian.Uint16(b), b[2], 4+4*int(b[3]&0x1F)
		if end > len(b) {
			return wire.ErrGeneveOptionOverrun
		}
		if class == vectorGeneveClass || class == vectorGeneveOld && w.zero == ZeroIs2016 {
			if err := w.header(b[4:end], FamilyGeneve, typ); err != nil {
				return err
			}
		}
		b = b[end:]
	}
	return nil
}

func (w *walker) shimL4(b []byte) error {
	if DetectL4(b) == FamilyOld {
		var s ShimL4Old
		if _, err := s.Decode(b); err != nil {
			return err
		}
		w.add("int_shim_l4_v1", map[string]any{"type": s.Type, "length": s.Length, "original_dscp": s.DSCP})
		return w.contents(b, s.End(), FamilyOld, s.Type)
	}
	var s ShimL4
	if _, err := s.Decode(b); err != nil {
		return err
	}
	fields := map[string]any{"type": s.Type, "npt": s.NPT, "length": s.Length}
	switch s.NPT {
	case NPTDSCP:
		fields["original_dscp"] = s.DSCP
	case NPTDstPort:
		fields["original_dst_port"] = s.DstPort
	case NPTProtocol:
		fields["ip_protocol"] = s.Protocol
	}
	w.add("int_shim_l4_v2", fields)
	return w.contents(b, s.End(), Family2x, s.Type)
}

func (w *walker) contents(b []byte, end int, family Family, typ uint8) error {
	if err := CheckType(family, typ); err != nil {
		return err
	}
	contents, err := Contents(b, end)
	if err != nil {
		return err
	}
	return w.header(contents, family, typ)
}

func (w *walker) header(b []byte, family Family, typ uint8) error {
	version, _, err := Identify(b, family, w.zero)
	if err != nil {
		return err
	}
	switch {
	case version == Version2016:
		return w.header2016(b)
	case version == Version05:
		return w.header05(b)
	case version == Version10:
		return w.header10(b)
	case typ == TypeMX:
		return w.mx(b)
	}
	return w.md(b)
}

func (w *walker) header2016(b []byte) error {
	var h Header2016
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	s, err := h.Stack(b[n:])
	if err != nil {
		return err
	}
	w.add("int_2016", map[string]any{
		"version": h.Version, "rep": h.Rep, "c": h.C, "e": h.E, "instruction_count": h.InstructionCount,
		"max_hop_count": h.MaxHopCount, "total_hop_count": h.TotalHopCount, "instruction_bitmap": h.Bitmap,
		"bos_index": BOSIndex(b[n:]), "hops": hops(&s, Format2016, h.Bitmap),
	})
	return nil
}

func (w *walker) header05(b []byte) error {
	var h Header05
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	s, err := h.Stack(b[n:], &Widths05)
	if err != nil {
		return err
	}
	w.add("int_hbh_v0_5", map[string]any{
		"version": h.Version, "rep": h.Rep, "c": h.C, "e": h.E, "instruction_count": h.InstructionCount,
		"max_hop_count": h.MaxHopCount, "total_hop_count": h.TotalHopCount, "instruction_bitmap": h.Bitmap,
		"hops": hops(&s, Format05, h.Bitmap),
	})
	return nil
}

func (w *walker) header10(b []byte) error {
	var h Header10
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	format, err := h.Format()
	if err != nil {
		return err
	}
	s, err := h.Stack(b[n:], format.Widths())
	if err != nil {
		return err
	}
	w.add("int_hbh_v1", map[string]any{
		"version": h.Version, "rep": h.Rep, "c": h.C, "e": h.E, "m": h.M, "hop_ml": h.HopML,
		"remaining_hop_count": h.RemainingHopCount, "instruction_bitmap": h.Bitmap, "hops": hops(&s, format, h.Bitmap),
	})
	return nil
}

func (w *walker) md(b []byte) error {
	var h MD
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	so, known := w.sourceOnly[h.DomainID]
	if !known {
		so = -1
	}
	s, err := h.Stack(b[n:], so)
	if err != nil {
		return err
	}
	w.add("int_md", map[string]any{
		"version": h.Version, "d": h.D, "e": h.E, "m": h.M, "hop_ml": h.HopML,
		"remaining_hop_count": h.RemainingHopCount, "instruction_bitmap": h.Bitmap, "domain_specific_id": h.DomainID,
		"ds_instruction": h.DSInstruction, "ds_flags": h.DSFlags, "hops": hops(&s, Format20, h.Bitmap),
		"source_only": fmt.Sprintf("%x", s.SourceOnly),
	})
	return nil
}

func (w *walker) mx(b []byte) error {
	var h MX
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	w.add("int_mx", map[string]any{
		"version": h.Version, "d": h.D, "instruction_bitmap": h.Bitmap, "domain_specific_id": h.DomainID,
		"ds_instruction": h.DSInstruction, "ds_flags": h.DSFlags,
		"source_inserted": fmt.Sprintf("%x", h.SourceInserted(b[n:])),
	})
	return nil
}

// hops decodes every record of s under the names that the vectors use for the format.
func hops(s *Stack, format Format, bitmap uint16) []map[string]any {
	layout := NewLayout(format, bitmap)
	all := []map[string]any{}
	for i := range s.Len() {
		var m Metadata
		layout.Decode(s.Record(i), &m)
		hop := map[string]any{}
		for _, value := range values(&m, format) {
			if m.Has&value.field != 0 {
				hop[value.name] = value.value
			}
		}
		if format == Format20 {
			for i, v := range m.Reserved {
				if bitmap&(0x8000>>(9+i)) != 0 {
					hop[fmt.Sprintf("reserved_bit%d", 9+i)] = v
				}
			}
			if ds := s.DSMetadata(i); ds != nil {
				hop["ds_metadata"] = fmt.Sprintf("%x", ds)
			}
		}
		if format == Format20 || format == Format2016 {
			hop["invalid"] = invalid(&m, format)
		}
		all = append(all, hop)
	}
	return all
}

type namedValue struct {
	field Fields
	name  string
	value any
}

func values(m *Metadata, format Format) []namedValue {
	switch format {
	case Format2016:
		return []namedValue{
			{NodeID, "switch_id", m.NodeID},
			{L1Ingress, "ingress_port_id", m.L1Ingress},
			{HopLatency, "hop_latency", m.HopLatency},
			{QueueOccupancy, "queue_occupancy", m.QueueOccupancy},
			{IngressTS, "ingress_ts", m.IngressTS},
			{L1Egress, "egress_port_id", m.L1Egress},
			{QueueCongestion, "queue_congestion", m.QueueCongestion},
			{EgressTxUtil, "egress_tx_util", m.EgressTxUtil},
		}
	case Format20:
		return append(words(m),
			namedValue{IngressTS, "ingress_ts", fmt.Sprintf("0x%016x", m.IngressTS)},
			namedValue{EgressTS, "egress_ts", fmt.Sprintf("0x%016x", m.EgressTS)})
	}
	return append(words(m), namedValue{IngressTS, "ingress_ts", m.IngressTS},
		namedValue{EgressTS, "egress_ts", m.EgressTS})
}

func words(m *Metadata) []namedValue {
	return []namedValue{
		{NodeID, "node_id", m.NodeID},
		{L1Ingress, "l1_ingress", m.L1Ingress},
		{L1Egress, "l1_egress", m.L1Egress},
		{HopLatency, "hop_latency", m.HopLatency},
		{QueueID, "queue_id", m.QueueID},
		{QueueOccupancy, "queue_occupancy", m.QueueOccupancy},
		{QueueCongestion, "queue_congestion", m.QueueCongestion},
		{L2Ingress, "l2_ingress", m.L2Ingress},
		{L2Egress, "l2_egress", m.L2Egress},
		{EgressTxUtil, "egress_tx_util", m.EgressTxUtil},
		{BufferID, "buffer_id", m.BufferID},
		{BufferOccupancy, "buffer_occupancy", m.BufferOccupancy},
		{Complement, "checksum_complement", m.Complement},
	}
}

// invalid names what is not available; values that share a word in 2.x have one name.
func invalid(m *Metadata, format Format) []string {
	shared := map[Fields]string{
		L1Ingress: "l1_interfaces", L1Egress: "l1_interfaces", QueueID: "queue", QueueOccupancy: "queue",
		L2Ingress: "l2_interfaces", L2Egress: "l2_interfaces", BufferID: "buffer", BufferOccupancy: "buffer",
	}
	names := []string{}
	for _, value := range values(m, format) {
		name := value.name
		if s, ok := shared[value.field]; ok && format == Format20 {
			name = s
		}
		if m.Invalid&value.field != 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
