package export

import (
	"math"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

// bits10 has the fields of TR 1.0 and their places in its RepMdBits.
var bits10 = [...]struct {
	field uint16
	bit   uint8
}{
	{report.MDInterfaces, report.V10Interfaces},
	{report.MDHopLatency, report.V10HopLatency},
	{report.MDQueue, report.V10Queue},
	{report.MDEgressTS, report.V10EgressTS},
	{report.MDDrop, report.V10Drop},
	{report.MDTxUtil, report.V10TxUtil},
}

// add10 sends a report of version 1.0 (TR 1.0 §3.2). It has no place for level 2 interfaces, buffers and domain
// specific metadata, and 32 bits for a timestamp.
func (e *Exporter) add10(p *pending, r *Report, nowNs uint64) error {
	if len(r.Fragment) == 0 {
		return ErrNoFragment
	}
	if err := r.checkFragment(); err != nil {
		return err
	}
	dropped := r.is(telemetry.Dropped)
	v := report.V10{
		D: dropped, Q: r.is(telemetry.Congested), F: r.tracked(),
		HWID: r.HWID, SwitchID: e.config.NodeID, Sequence: p.sequence, IngressTS: uint32(r.IngressTS),
		Metadata: r.available(dropped),
	}
	m := &v.Metadata
	clearIf(m, report.MDEgressTS, uint32(m.EgressTS) == math.MaxUint32)
	for _, row := range bits10 {
		if m.Bits&row.field != 0 {
			v.RepMdBits |= row.bit
		}
	}
	switch r.Kind {
	case report.InIPv4:
		v.NProt = report.NProtIPv4
	case report.InIPv6:
		v.NProt = report.NProtIPv6
	}
	v.Length = uint8(v.Len() / 4)
	n, err := e.fit(r, e.room-v.Len())
	if err != nil {
		return err
	}
	e.begin(p, r.Flow, nowNs)
	p.buf = append(v.Append(p.buf), r.Fragment[:n]...)
	p.reports = 1
	e.countCut(r, n)
	e.finish(p, nowNs)
	return nil
}
