package export

import (
	"math"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// sendable are the bits of RepMdBits that have a meaning. Reserved ones are never sent.
const sendable = report.MDInterfaces | report.MDHopLatency | report.MDQueue | report.MDIngressTS | report.MDEgressTS |
	report.MDL2Interfaces | report.MDTxUtil | report.MDBuffer | report.MDDrop

const max24 = 1<<24 - 1

// available returns the metadata of r that can be sent. A value that is not available is left out and never all ones
// (TR 2.0 §3.3.1); nor is one that happens to be all ones, as it would be read as not available.
func (r *Report) available(dropped bool) report.Metadata {
	m := r.Metadata
	m.IngressTS = r.IngressTS
	m.QueueOccupancy = min(m.QueueOccupancy, max24)
	m.BufferOccupancy = min(m.BufferOccupancy, max24)
	m.Bits &= sendable &^ m.Invalid
	m.Invalid = 0
	if !dropped {
		m.Bits &^= report.MDDrop
	}
	clearIf(&m, report.MDInterfaces, m.IngressPort == math.MaxUint16 && m.EgressPort == math.MaxUint16)
	clearIf(&m, report.MDHopLatency, m.HopLatency == math.MaxUint32)
	clearIf(&m, report.MDQueue, m.QueueID == math.MaxUint8 && m.QueueOccupancy == max24)
	clearIf(&m, report.MDIngressTS, m.IngressTS == math.MaxUint64)
	clearIf(&m, report.MDEgressTS, m.EgressTS == math.MaxUint64)
	clearIf(&m, report.MDL2Interfaces, m.L2Ingress == math.MaxUint32 && m.L2Egress == math.MaxUint32)
	clearIf(&m, report.MDTxUtil, m.TxUtil == math.MaxUint32)
	clearIf(&m, report.MDBuffer, m.BufferID == math.MaxUint8 && m.BufferOccupancy == max24)
	return m
}

func clearIf(m *report.Metadata, bit uint16, allOnes bool) {
	if allOnes {
		m.Bits &^= bit
	}
}

// FromInband returns the metadata of a report from what a node would put on the stack for the Instruction Bitmap of an
// INT 2.x header (INT 2.1 §5.8): the node id is in the header of the report, and there is no checksum complement. The
// bit that has the complement's place means the drop reason in a report: who reports a drop sets it.
func FromInband(bitmap uint16, m *inband.Metadata) report.Metadata {
	valid := m.Has &^ m.Invalid
	r := report.Metadata{
		IngressPort: uint16(m.L1Ingress), EgressPort: uint16(m.L1Egress), HopLatency: m.HopLatency,
		QueueID: m.QueueID, QueueOccupancy: m.QueueOccupancy, IngressTS: m.IngressTS, EgressTS: m.EgressTS,
		L2Ingress: m.L2Ingress, L2Egress: m.L2Egress, TxUtil: m.EgressTxUtil,
		BufferID: m.BufferID, BufferOccupancy: m.BufferOccupancy,
	}
	for _, row := range inbandFields {
		if valid&row.fields != 0 {
			r.Bits |= bitmap & row.bit
		}
	}
	// Of two ports, one may be unknown: the egress port of a packet that was dropped before it had one.
	if valid&inband.L1Ingress == 0 {
		r.IngressPort = 0
	}
	if valid&inband.L1Egress == 0 {
		r.EgressPort = 0
	}
	return r
}

// inbandFields has the fields of each bit of RepMdBits. Bits 1 to 8 of the Instruction Bitmap ask for the same.
var inbandFields = [...]struct {
	bit    uint16
	fields inband.Fields
}{
	{report.MDInterfaces, inband.L1Ingress | inband.L1Egress},
	{report.MDHopLatency, inband.HopLatency},
	{report.MDQueue, inband.QueueOccupancy},
	{report.MDIngressTS, inband.IngressTS},
	{report.MDEgressTS, inband.EgressTS},
	{report.MDL2Interfaces, inband.L2Ingress | inband.L2Egress},
	{report.MDTxUtil, inband.EgressTxUtil},
	{report.MDBuffer, inband.BufferOccupancy},
}

// DSMdBits returns which metadata of a domain a node reports for the DS Instruction of an INT header: those that every
// hop adds, and those of the source only if they are copied into the report (INT 2.1 §5.8, §5.9).
func DSMdBits(d *codepoint.Domain, instruction uint16, copySourceOnly bool) uint16 {
	bits := uint16(0)
	for i := range d {
		if d[i].Bytes > 0 && (copySourceOnly || !d[i].SourceOnly) {
			bits |= instruction & (0x8000 >> i)
		}
	}
	return bits
}
