// Package portcount keeps what devices count at their ports, as counters of sFlow tell it: how much comes and goes, how
// much of it is discarded, and whether the port is up. It is apart from what reports tell of packets: these are some of
// those that a device counts.
package portcount

import (
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	maxNodes = 4096
	maxPorts = 65536 // of all nodes, about 0.3 kB each
)

// A Table keeps the counters of ports, a bounded number of them, and forgets none.
type Table struct {
	ports []port
	index map[place]int
	nodes map[uint32]bool

	Overflow uint64 // samples of ports for which there was no place
	PassedBy uint64 // samples that came again or too late, or of another agent that counts at the same port
}

type place struct{ node, port uint32 }

// A port is what is known of one.
type port struct {
	latest          telemetry.CounterSample
	firstNs, lastNs int64
	intervalNs      int64 // from the sample before to the latest one; 0: there is none since the counters began
	restarts        uint64
	in, out         direction
}

// A direction is what came in by a port, or what left by it.
type direction struct {
	octets, packets  growth // in the latest interval
	discards, errors growth // since the first sample
}

// A growth is what a counter grew by.
type growth struct {
	n     uint64
	known bool
}

// New returns an empty table.
func New() Table { return Table{index: map[place]int{}, nodes: map[uint32]bool{}} }

// Len returns how many ports are kept.
func (t *Table) Len() int { return len(t.ports) }

// Add takes a sample that arrived at nowNs.
func (t *Table) Add(s *telemetry.CounterSample, nowNs int64) {
	at := place{s.Node, s.Port}
	i, known := t.index[at]
	if !known {
		if len(t.ports) >= maxPorts || !t.nodes[s.Node] && len(t.nodes) >= maxNodes {
			t.Overflow++
			return
		}
		t.index[at], t.nodes[s.Node] = len(t.ports), true
		t.ports = append(t.ports, port{firstNs: nowNs})
		t.ports[len(t.ports)-1].begin(s, nowNs)
		return
	}
	p := &t.ports[i]
	switch p.order(s, nowNs) {
	case passedBy:
		t.PassedBy++
	case anew:
		p.restarts++
		p.begin(s, nowNs)
	case next:
		p.advance(s, nowNs)
	}
}

// What a sample is to the one before.
type order int

const (
	next     order = iota
	passedBy       // it came before, or others that were made later did, or somebody else counts
	anew           // the counters began anew
)

const (
	// A device that was started since its latest sample was up for no longer than that, and for what one sample took
	// less on its way than the other.
	startSlackNs = 1e9
	wrapNs       = 1 << 31 * 1e6 // in so much time that for which an agent is up may grow and look smaller
)

func (p *port) order(s *telemetry.CounterSample, nowNs int64) order {
	if s.Agent != p.latest.Agent || s.SubAgent != p.latest.SubAgent {
		if p.silent(nowNs) {
			return anew
		}
		return passedBy
	}
	elapsedNs := nowNs - p.lastNs
	up, number := int32(s.UptimeMs-p.latest.UptimeMs), int32(s.Sequence-p.latest.Sequence)
	switch {
	case elapsedNs >= wrapNs:
		return anew
	case up < 0 && int64(s.UptimeMs)*1e6 <= elapsedNs+startSlackNs:
		return anew
	case up < 0, up == 0 && number <= 0:
		return passedBy
	case number < 0: // an agent that resets a counter resets this number too (sFlow version 5, counters_sample)
		return anew
	case fell(&p.latest.In, &s.In), fell(&p.latest.Out, &s.Out):
		return anew
	}
	return next
}

// fell reports whether counters are such that they began anew after those before. Octets do not wrap. The others do,
// and one that fell looks as if it had grown by nearly all that it can hold: so many packets have more octets.
func fell(before, now *telemetry.PortCounts) bool {
	octets, packets := octetsOf(before, now), packetsOf(before, now)
	if octets.known && now.Octets < before.Octets {
		return true
	}
	const most = 1 << 31
	const header = 14 // octets, of Ethernet: no packet is shorter
	return packets.n > most && !(octets.known && octets.n/header >= packets.n) ||
		since(before.Discards, now.Discards).n > most || since(before.Errors, now.Errors).n > most
}

func octetsOf(before, now *telemetry.PortCounts) growth {
	if before.Octets == telemetry.UnknownOctets || now.Octets == telemetry.UnknownOctets {
		return growth{}
	}
	return growth{now.Octets - before.Octets, true}
}

// packetsOf adds up the kinds of packets that the device counts. All devices count unicast packets, some with others
// among them.
func packetsOf(before, now *telemetry.PortCounts) growth {
	unicast := since(before.Unicast, now.Unicast)
	return growth{
		unicast.n + since(before.Multicast, now.Multicast).n + since(before.Broadcast, now.Broadcast).n,
		unicast.known,
	}
}

// since returns how much a counter grew that wraps.
func since(before, now uint32) growth {
	if before == telemetry.UnknownCount || now == telemetry.UnknownCount {
		return growth{}
	}
	return growth{uint64(now - before), true}
}

// begin takes the first sample, or the first one after counters began anew.
func (p *port) begin(s *telemetry.CounterSample, nowNs int64) {
	p.latest, p.lastNs, p.intervalNs = *s, nowNs, 0
	p.in.begin(&s.In)
	p.out.begin(&s.Out)
}

func (d *direction) begin(c *telemetry.PortCounts) {
	d.octets, d.packets = growth{}, growth{}
	d.discards.add(growth{0, c.Discards != telemetry.UnknownCount})
	d.errors.add(growth{0, c.Errors != telemetry.UnknownCount})
}

func (g *growth) add(more growth) { g.n, g.known = g.n+more.n, g.known || more.known }

// advance takes the sample after the latest.
func (p *port) advance(s *telemetry.CounterSample, nowNs int64) {
	// The agent knows better when one sample waited on its way and the next one did not; but not all agents tell the
	// time that they are up for in milliseconds, as they should.
	p.intervalNs = max(nowNs-p.lastNs, int64(s.UptimeMs-p.latest.UptimeMs)*1e6, 0)
	p.in.advance(&p.latest.In, &s.In)
	p.out.advance(&p.latest.Out, &s.Out)
	p.latest, p.lastNs = *s, max(p.lastNs, nowNs)
}

func (d *direction) advance(before, now *telemetry.PortCounts) {
	d.octets, d.packets = octetsOf(before, now), packetsOf(before, now)
	const shortest = 64 // octets of a packet where so many can be sent in an interval
	if d.octets.known && d.octets.n/shortest > 1<<32-1 {
		d.packets = growth{} // they may have wrapped twice
	}
	d.discards.add(since(before.Discards, now.Discards))
	d.errors.add(since(before.Errors, now.Errors))
}

const (
	silentIntervals = 3 // without a sample, until what was counted last is not how it is now
	minSilentNs     = 60e9
)

// silent reports whether no sample came for so long that nobody knows how it is now.
func (p *port) silent(nowNs int64) bool {
	return nowNs-p.lastNs > max(silentIntervals*p.intervalNs, minSilentNs)
}

// A Port is what a device counts at a port.
type Port struct {
	Node, Port uint32
	telemetry.PortCounters
}

// Ports returns the ports in the order in which they came, as of nowNs. lock is that of who adds: it is taken for some
// ports at a time.
func (t *Table) Ports(lock sync.Locker, nowNs int64) []Port {
	var list []Port
	for done := false; !done; {
		lock.Lock()
		end := min(len(list)+256, len(t.ports))
		for i := len(list); i < end; i++ {
			list = append(list, t.ports[i].answer(nowNs))
		}
		done = end == len(t.ports)
		lock.Unlock()
	}
	return list
}

func (p *port) answer(nowNs int64) Port {
	a := Port{Node: p.latest.Node, Port: p.latest.Port, PortCounters: telemetry.PortCounters{
		Speed: p.latest.Speed, Admin: upOrDown(p.latest.AdminUp), Oper: upOrDown(p.latest.OperUp),
		IntervalNs: p.intervalNs, Restarts: p.restarts,
		First: time.Unix(0, p.firstNs).UTC(), Last: time.Unix(0, p.lastNs).UTC(),
		InDiscards: p.in.discards.answer(), OutDiscards: p.out.discards.answer(),
		InErrors: p.in.errors.answer(), OutErrors: p.out.errors.answer(),
	}}
	if p.intervalNs > 0 && !p.silent(nowNs) {
		a.InBPS, a.InUse, a.InPPS = p.in.rates(p.intervalNs, a.Speed)
		a.OutBPS, a.OutUse, a.OutPPS = p.out.rates(p.intervalNs, a.Speed)
	}
	return a
}

func upOrDown(up bool) string {
	if up {
		return telemetry.PortUp
	}
	return telemetry.PortDown
}

func (g growth) answer() *uint64 {
	if !g.known {
		return nil
	}
	return &g.n
}

// rates returns what there was in a second of the latest interval: bits, the share that they are of speed, and packets.
func (d *direction) rates(intervalNs int64, speed uint64) (bits *uint64, use *float64, packets *uint64) {
	seconds := float64(intervalNs) / 1e9
	if d.octets.known {
		rate := float64(d.octets.n) * 8 / seconds
		bits = new(uint64(rate + 0.5))
		if speed > 0 {
			use = new(rate / float64(speed))
		}
	}
	if d.packets.known {
		packets = new(uint64(float64(d.packets.n)/seconds + 0.5))
	}
	return bits, use, packets
}
