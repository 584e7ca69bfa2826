package telemetry

// Flags of TCP (RFC 9293 §3.1).
const (
	tcpFIN = 0x01
	tcpSYN = 0x02
	tcpRST = 0x04
	tcpACK = 0x10
)

// stream notes which part of the stream of a connection the TCP packet of the fragment has. The lengths that its
// headers tell say so, and the report need not have its data.
func (d *Decoder) stream() {
	f, r := &d.frag, d.report
	data := f.segment - (f.inserted - f.outside) - 20 - f.tcpOptions
	if data < 0 || f.tcpFlags&tcpRST != 0 {
		return
	}
	n := uint32(data)
	if f.tcpFlags&tcpSYN != 0 {
		n++
		if f.tcpFlags&tcpACK == 0 {
			r.Flags |= Opening
		}
	}
	if f.tcpFlags&tcpFIN != 0 {
		n++
	}
	r.StreamFrom, r.StreamTo = f.sequence, f.sequence+n
}
