package export

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

// local05 are the metadata of the switch local header.
const local05 = report.MDInterfaces | report.MDQueue | report.MDEgressTS

// add05 sends a report of version 0.5 (TR 0.5 §3.2). A dropped packet gets the drop header if its reason is known,
// another one the switch local header if everything in it is. All fields of these headers are always there: with the
// drop header, ports that are not known are 0.
func (e *Exporter) add05(p *pending, r *Report, nowNs uint64) error {
	if len(r.Fragment) == 0 {
		return ErrNoFragment
	}
	if r.Kind != report.InEthernet {
		return ErrFragmentKind
	}
	if err := r.checkFragment(); err != nil {
		return err
	}
	dropped := r.is(telemetry.Dropped)
	m := r.available(dropped)
	v := report.V05{
		D: dropped, Q: r.is(telemetry.Congested), F: r.tracked(),
		HWID: r.HWID, Sequence: p.sequence, IngressTS: uint32(r.IngressTS),
	}
	switch {
	case m.Bits&report.MDDrop != 0:
		v.NProto = report.NProtoDrop
		v.Drop = report.DropHeader{SwitchID: e.config.NodeID, QueueID: m.DropQueueID, Reason: m.DropReason}
		if m.Bits&report.MDInterfaces != 0 {
			v.Drop.IngressPort, v.Drop.EgressPort = m.IngressPort, m.EgressPort
		}
	case m.Bits&local05 == local05:
		v.NProto = report.NProtoSwitchLocal
		v.Local = report.SwitchLocal{
			SwitchID: e.config.NodeID, IngressPort: m.IngressPort, EgressPort: m.EgressPort,
			QueueID: m.QueueID, QueueOccupancy: m.QueueOccupancy, EgressTS: uint32(m.EgressTS),
		}
	}
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
