package export

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

const (
	groupLen = 8

	// toPayloadEnd is the Report Length of a report of 255 words or more: it runs to the end of the UDP payload, and
	// none follows (TR 2.0 §3.3).
	toPayloadEnd = 255
	firstWordLen = 4
)

// add20 adds a report of version 2.0 (TR 2.0 §3.3) to what is pending.
func (e *Exporter) add20(p *pending, r *Report, nowNs uint64) error {
	v, err := e.report20(r)
	if err != nil {
		return err
	}
	header := v.Len()
	n, err := e.fit(r, (e.room-groupLen-header)&^3)
	if err != nil {
		return err
	}
	most := header + (n+3)&^3
	if len(p.buf) > 0 && len(p.buf)+most > e.room {
		e.finish(p, nowNs)
	}
	if len(p.buf) == 0 {
		e.begin(p, r.Flow, nowNs)
		p.buf = p.buf[:groupLen] // for finish
	}
	start := len(p.buf)
	p.buf = v.Append(p.buf)
	last := most >= firstWordLen+4*toPayloadEnd
	if last {
		p.buf[start+1] = toPayloadEnd
		p.buf = append(p.buf, r.Fragment[:n]...)
	} else {
		p.buf, n = appendWords(p.buf, r.Fragment[:n], r.Kind)
		p.buf[start+1] = uint8((len(p.buf) - start - firstWordLen) / 4)
	}
	e.countCut(r, n)
	p.reports++
	if last || e.config.CoalesceNs == 0 || p.reports == report.MaxReports {
		e.finish(p, nowNs)
	}
	return nil
}

// report20 returns r without Report Length and fragment.
func (e *Exporter) report20(r *Report) (report.V20, error) {
	dropped := r.is(telemetry.Dropped)
	v := report.V20{
		D: dropped, Q: r.is(telemetry.Congested), F: r.tracked(), I: r.intermediate(),
		Metadata: r.available(dropped),
	}
	if len(r.Fragment) > 0 {
		if err := r.checkFragment(); err != nil {
			return v, err
		}
		v.InType = r.Kind
	}
	if err := e.domain(r, &v); err != nil {
		return v, err
	}
	v.RepMdBits = v.Metadata.Bits
	words := report.MDWords(v.RepMdBits) + len(v.DSMetadata)/4
	if words > 0 || v.DomainID != 0 || v.DSMdStatus != 0 {
		v.RepType = report.RepINT
		v.MDLength = uint8(words)
	}
	if firstWordLen+8+4*words > e.room-groupLen || words > 255 {
		return v, ErrTooLong
	}
	return v, nil
}

// domain fills in what is domain specific. The default domain has no metadata of its own, and those of an unknown
// domain are left out (TR 2.0 §3.3.1), as they are in the Transparent Security profile.
func (e *Exporter) domain(r *Report, v *report.V20) error {
	if e.config.Format == TransparentSecurity {
		v.DomainID = report.TSDomain
		v.I = false // the profile has reports of sinks only
		return nil
	}
	v.DomainID = r.DomainID
	d := e.config.Domains[r.DomainID]
	if d == nil {
		return nil
	}
	if DSMdBits(d, r.DSMdBits, true) != r.DSMdBits ||
		len(r.DSMetadata) != d.PerHopBytes(r.DSMdBits)+d.SourceOnlyBytes(r.DSMdBits) {
		return ErrDomainMetadata
	}
	v.DSMdBits, v.DSMdStatus, v.DSMetadata = r.DSMdBits, r.DSMdStatus, r.DSMetadata
	return nil
}
