package export

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/wire/report"
)

const (
	maxHWID = 63
	udpLen  = 8
	ipv4Len = 20
	ipv6Len = 40
)

// An Exporter makes datagrams of Reports. See the package comment.
type Exporter struct {
	config Config
	send   func(*Datagram)
	room   int // bytes of UDP payload that the MTU leaves

	pendings []*pending // by destination and hw_id; nil until needed
	waiting  queue
	ids      []identification // by destination

	stats    Stats
	datagram Datagram // the one that send gets
}

// New returns an Exporter that calls send for each datagram. The Datagram and its Payload are valid until send returns;
// send must not call the Exporter.
func New(c Config, send func(*Datagram)) (*Exporter, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if send == nil {
		return nil, errors.New("export: nobody to send datagrams")
	}
	c.Destinations = slices.Clone(c.Destinations)
	e := &Exporter{
		config: c, send: send,
		pendings: make([]*pending, len(c.Destinations)*(maxHWID+1)),
		ids:      make([]identification, len(c.Destinations)),
		room:     c.MTU - ipv6Len - udpLen,
	}
	if c.Source.Is4() {
		e.room = c.MTU - ipv4Len - udpLen
	}
	for i := range e.ids {
		e.ids[i].next = uint16(mix(c.Seed + uint64(i)))
	}
	return e, nil
}

// Stats returns what was counted so far.
func (e *Exporter) Stats() Stats { return e.stats }

// Add takes a report, and first sends what has waited long enough. It keeps no reference to r. A refused report is
// counted, and the Error says why.
func (e *Exporter) Add(r *Report, nowNs uint64) error {
	e.Flush(nowNs)
	err := e.add(r, nowNs)
	if reason, ok := err.(Error); ok {
		e.stats.Refused[reason]++
		return err
	}
	e.stats.Reports++
	return nil
}

func (e *Exporter) add(r *Report, nowNs uint64) error {
	if r.HWID > maxHWID {
		return ErrHWID
	}
	p := e.pendingOf(e.Destination(r.Flow), r.HWID)
	switch e.config.Format {
	case TR05:
		return e.add05(p, r, nowNs)
	case TR10:
		return e.add10(p, r, nowNs)
	}
	return e.add20(p, r, nowNs)
}

// Flush sends the datagrams that have waited as long as they may.
func (e *Exporter) Flush(nowNs uint64) {
	for p := e.waiting.first; p != nil && elapsed(p.sinceNs, nowNs) >= e.config.CoalesceNs; p = e.waiting.first {
		e.finish(p, nowNs)
	}
}

// Drain sends the datagrams that wait, however short they have waited.
func (e *Exporter) Drain(nowNs uint64) {
	for e.waiting.first != nil {
		e.finish(e.waiting.first, nowNs)
	}
}

// Lose says that so many reports were lost before they came here: as many numbers of datagrams are left out, spread
// over the destinations that were sent some since the last call. It says whether there were such: a collector sees no
// gap that nothing comes before.
func (e *Exporter) Lose(reports uint32) bool {
	var to []*pending
	for _, p := range e.pendings {
		if p != nil && p.sent {
			to = append(to, p)
		}
	}
	for i, p := range to {
		share := reports / uint32(len(to))
		if uint32(i) < reports%uint32(len(to)) {
			share++
		}
		p.sent, p.sequence = false, (p.sequence+share)&e.config.Format.sequenceMask()
	}
	return len(to) > 0
}

// Deadline returns when Flush must be called for no report to wait longer than Config.CoalesceNs, and whether any
// waits.
func (e *Exporter) Deadline() (ns uint64, ok bool) {
	p := e.waiting.first
	if p == nil {
		return 0, false
	}
	return p.sinceNs + e.config.CoalesceNs, true
}

// Destination returns the index of the destination that gets the reports about a flow.
func (e *Exporter) Destination(flow uint64) int {
	// The upper half of a product spreads 64 bits evenly over the destinations.
	n, _ := bits.Mul64(mix(flow), uint64(len(e.config.Destinations)))
	return int(n)
}

// sourcePort returns the UDP source port of a datagram about a flow: of those that no service has (RFC 6335 §6). It is
// of the lower bits of the hash, of which Destination uses the upper ones.
func (e *Exporter) sourcePort(flow uint64) uint16 {
	if e.config.EntropyPort {
		return 0xC000 | uint16(mix(flow))&0x3FFF
	}
	return e.config.SourcePort
}

// mix spreads x over 64 bits; it is the finalizer of SplitMix64. Hashes of flows go through it because nodes may choose
// paths by the same hash.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (e *Exporter) pendingOf(destination int, hwID uint8) *pending {
	p := &e.pendings[destination*(maxHWID+1)+int(hwID)]
	if *p == nil {
		*p = &pending{destination: destination, hwID: hwID, buf: make([]byte, 0, e.room)}
	}
	return *p
}

// begin opens an empty pending for a report of a flow.
func (e *Exporter) begin(p *pending, flow, nowNs uint64) {
	p.reports, p.flow, p.sinceNs = 0, flow, nowNs
	e.waiting.push(p)
}

// finish sends what is pending.
func (e *Exporter) finish(p *pending, nowNs uint64) {
	e.waiting.remove(p)
	if e.config.Format.groups() {
		group := report.Group{HWID: p.hwID, Sequence: p.sequence, NodeID: e.config.NodeID}
		group.Append(p.buf[:0]) // over the bytes that were kept free for it
	}
	d := &e.datagram
	*d = Datagram{
		Destination: p.destination, SourcePort: e.sourcePort(p.flow), DF: true, HWID: p.hwID, Sequence: p.sequence,
		Reports: p.reports, Payload: p.buf,
	}
	if e.config.Source.Is4() && !e.config.DontFragment {
		id, ok := e.ids[p.destination].take(nowNs)
		if ok {
			d.DF, d.IPID = false, id
		} else {
			e.stats.ForcedDF++
		}
	}
	p.sent = true
	p.sequence = (p.sequence + 1) & e.config.Format.sequenceMask()
	e.stats.Datagrams++
	e.stats.Bytes += uint64(len(p.buf))
	e.send(d)
	p.buf = p.buf[:0]
}
