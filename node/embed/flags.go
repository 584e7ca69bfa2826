package embed

import (
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// setFlags appends p to dst with the flags of r set in the INT header, in addition to those that are.
func (d *Domain) setFlags(dst []byte, p *Packet, r Result) ([]byte, Result) {
	out, e := copied(dst, p)
	t := &p.INT
	if r.SetE {
		e.put8(t.Header, e.f[t.Header]|d.flagE())
	}
	if r.SetM {
		at, mask := d.flagM()
		e.put8(t.Header+at, e.f[t.Header+at]|mask)
	}
	if [2]byte(e.f[t.Header:]) == [2]byte(p.Frame[t.Header:]) { // they were set before
		return out, Result{Why: r.Why}
	}
	e.finish(d)
	return out, r
}

// Masks of flags in byte 0 of the INT header, and of M in byte 1 of INT 1.0.
const (
	flagE2016 = 0x04
	flagC2016 = 0x08
	flagE10   = 0x01 // 0.5 too
	flagC10   = 0x02 // 0.5 too
	flagM10   = 0x80
	flagE20   = 0x04
	flagM20   = 0x02
)

// likes2016 reports whether the flags of the header stand where they did in June 2016.
func (d *Domain) likes2016() bool {
	return d.Version == inband.Version2016 || d.Version == inband.Version05 && d.has(codepoint.QuirkVersion2Bits)
}

func (d *Domain) flagE() uint8 {
	switch {
	case d.likes2016():
		return flagE2016
	case d.Version == inband.Version20:
		return flagE20
	}
	return flagE10
}

func (d *Domain) flagC() uint8 {
	if d.likes2016() {
		return flagC2016
	}
	return flagC10
}

func (d *Domain) flagM() (at int, mask uint8) {
	if d.Version == inband.Version20 {
		return 0, flagM20
	}
	return 1, flagM10
}
