package scan

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A link that falls silent is lost, or nobody uses it: flows end. What tells the two apart is what became of the flows:
// those that took it go on by another path, or the node in front drops their packets because the link is down. Where
// nodes report no drops and there is no other path, only this is left: many flows, which came and went all the time, do
// not end all at once.

const (
	// A link is silent if it carried nothing for silentNs while expectedPackets were to be expected from what it
	// carried before; someExpected are enough of one whose near end says that it is down.
	silentNs        = 2 * int64(time.Second)
	expectedPackets = 50
	someExpected    = 5
	// It was busy if in each of busyScans it carried packets, of busyFlows flows on average. Nothing else need be known
	// of a link that was, and that is silent for busySilentNs.
	busyFlows, busyScans = 10, 30
	busySilentNs         = 5 * int64(time.Second)
	// maxDepartures bounds the paths that are remembered because flows left them, for departureNs.
	maxDepartures = 4096
	departureNs   = 60 * ScanNs
	// maxCuts bounds the ports whose link is known to be down.
	maxCuts = 4096
)

// A linkWatch is what a link carried.
type linkWatch struct {
	packets uint64  // since the last scan
	latest  uint64  // between the last scan and the one before
	rate    float64 // packets per second, smoothed, while it carried some
	last    int64   // scan at which it carried some
	flows   uint64  // since the last scan
	// between the last scan that found some and the one before
	flowsLatest uint64
	concurrent  float64 // flows per scan, smoothed, while it carried some
	scans       int     // in a row in which it carried some, up to then

	// Packets of which postcards told: since the last scan, before that, and before that.
	cards, cardsLatest, cardsBefore uint64
	byCards                         bool // what it carried last they told alone
}

// lateNs is how much later than drops at its ports a scan finds what a link carried: postcards wait for each other.
func (l *linkWatch) lateNs() int64 {
	if l.byCards {
		return ScanNs
	}
	return 0
}

// A departure is flows that left a path for another one.
type departure struct {
	links []topology.LinkKey
	to    []topology.LinkKey // of the path that the latest of them took
	flows uint32
	atNs  int64 // scan that found it
}

// An outage is a time during which a link was down: from the scan at which it carried packets last to the one at which
// it did again.
type outage struct{ fromNs, toNs int64 }

// A linkDetector finds links that carry nothing any more.
type linkDetector struct {
	*scan
	links      map[topology.LinkKey]*linkWatch
	departures []departure                 // the latest
	back       map[topology.LinkKey]outage // links that were known to be down and carry packets again
	cuts       map[dropEnd]*drop.Cut       // ports whose link is down
	active     map[uint32]uint64           // node: packets since the last scan
	waitedNs   int64                       // how long postcards wait for each other
}

func newLinkDetector(s *scan) *linkDetector {
	return &linkDetector{
		scan: s, links: map[topology.LinkKey]*linkWatch{}, back: map[topology.LinkKey]outage{},
		cuts:   map[dropEnd]*drop.Cut{},
		active: map[uint32]uint64{},
	}
}

func (d *linkDetector) begin() { clear(d.active) }

// observe adds up what links and nodes carried.
func (d *linkDetector) observe(o *Observation) {
	d.waitedNs = o.WaitedNs
	for i := range o.Left {
		d.departed(&o.Left[i])
	}
	for i := range o.Paths {
		p := &o.Paths[i]
		told := p.N // packets of which the nodes so far, or some behind them, told
		for h := range p.Hops {
			if p.Hops[h].Has&telemetry.HasNode != 0 {
				d.active[p.Hops[h].Node] += told
			}
			if h > 0 && !p.Uncertain && told > 0 {
				d.carried(p, h, told)
			}
			if len(p.Part) > 0 {
				told -= min(uint64(p.Part[h].Last), told)
			}
		}
	}
	for i := range o.Drops {
		at := &o.Drops[i]
		if at.Has&telemetry.HasNode != 0 {
			d.active[at.Node] += at.N
		}
		d.noteCut(at)
	}
}

// carried adds n packets that went on p to the hop at place h.
func (d *linkDetector) carried(p *Path, h int, n uint64) {
	k, ok := topology.LinkOf(&p.Hops[h-1].HopKey, &p.Hops[h].HopKey)
	if !ok {
		return
	}
	l := d.links[k]
	if l == nil {
		if len(d.links) >= topology.MaxLinks {
			d.leftOut++
			return
		}
		l = &linkWatch{}
		d.links[k] = l
	}
	l.packets += n
	l.flows += uint64(p.Flows)
	if p.Postcards {
		l.cards += n
	}
}

// departed notes that flows left a path for another since the last scan.
func (d *linkDetector) departed(l *Left) {
	if len(d.departures) == maxDepartures {
		d.departures = slices.Delete(d.departures, 0, maxDepartures/4)
	}
	d.departures = append(d.departures, departure{
		links: l.Links, to: l.To, flows: l.Flows, atNs: d.nowNs,
	})
}

// noteCut notes that packets were dropped because the link behind a port is down.
func (d *linkDetector) noteCut(p *drop.Packets) {
	key := &p.Key
	const port = telemetry.HasNode | telemetry.HasEgressPort
	if key.Has&port != port || dropreason.Of(key.Table, key.Reason).Group != dropreason.Hardware {
		return
	}
	k := dropEnd{key.Node, key.Out}
	if d.cuts[k] == nil && len(d.cuts) < maxCuts {
		d.cuts[k] = &drop.Cut{}
	}
	if c := d.cuts[k]; c != nil {
		c.Add(p, d.nowNs)
	}
}

func (d *linkDetector) finish() {
	seconds := float64(d.nowNs-d.lastNs) / 1e9
	silent := map[topology.LinkKey]float64{} // packets that were to be expected
	for k, l := range d.links {
		l.latest, l.packets = l.packets, 0
		l.cardsBefore, l.cardsLatest, l.cards = l.cardsLatest, l.cards, 0
		if l.latest > 0 {
			if rate := float64(l.latest) / seconds; l.rate == 0 {
				l.rate = rate
			} else {
				l.rate += (rate - l.rate) / 8
			}
			if l.last == d.lastNs {
				l.scans++
				l.concurrent += (float64(l.flows) - l.concurrent) / 8
			} else {
				l.scans, l.concurrent = 1, float64(l.flows)
			}
			if d.down(k, l.last) {
				d.back[k] = outage{l.last, d.nowNs}
			}
			l.last, l.flowsLatest, l.flows, l.byCards = d.nowNs, l.flows, 0, l.cardsLatest == l.latest
			if d.log.Ongoing(linkLost(k)) {
				d.noteLost(k)
				endNs := d.lastNs
				if l.byCards { // they have waited for each other
					endNs -= d.waitedNs
				}
				d.log.End(linkLost(k), endNs)
			}
			if c := d.cuts[dropEnd{k.From, k.FromPort}]; c != nil && c.AtNs+l.lateNs() < d.nowNs {
				c.Told()
			}
			continue
		}
		silence := d.nowNs - l.last
		switch expected := l.rate * float64(silence) / 1e9; {
		case silence > int64(time.Hour):
			delete(d.links, k)
		case silence >= silentNs && expected >= someExpected && (d.alive(k) || d.cut(k)):
			silent[k] = expected
		}
	}
	d.departures = slices.DeleteFunc(d.departures, func(gone departure) bool { return d.nowNs-gone.atNs > departureNs })
	for k, c := range d.cuts {
		if d.nowNs-c.AtNs > departureNs {
			delete(d.cuts, k)
		}
	}
	for k, o := range d.back {
		if d.nowNs-o.toNs > departureNs {
			delete(d.back, k)
		}
	}
	lost := d.lostOf(silent)
	for k := range silent {
		back, ok := k.Reverse()
		if lost[k] || ok && lost[back] && d.silentTogether(k, back) || d.log.Ongoing(linkLost(k)) {
			d.noteLost(k)
		}
	}
}

// neighbours are the nodes at the other ends of links, by the port at this end.
func (d *linkDetector) neighbours() map[dropEnd]uint32 {
	at := make(map[dropEnd]uint32, 2*len(d.links))
	for k := range d.links {
		at[dropEnd{k.From, k.FromPort}], at[dropEnd{k.To, k.ToPort}] = k.To, k.From
	}
	return at
}

// alive reports whether both ends of a link tell of packets.
func (d *linkDetector) alive(k topology.LinkKey) bool {
	return d.active[k.From] > 0 && d.active[k.To] > 0
}

// down reports whether a link was known to be down since a scan at which it still carried packets.
func (d *linkDetector) down(k topology.LinkKey, sinceNs int64) bool {
	c := d.cuts[dropEnd{k.From, k.FromPort}]
	return d.log.Ongoing(linkLost(k)) || c != nil && c.AtNs >= sinceNs && k.Has&telemetry.HasEgressPort != 0
}

// silentTogether reports whether k fell silent with back, the other direction: not so long before that its flows had
// ended by then.
func (d *linkDetector) silentTogether(k, back topology.LinkKey) bool {
	l := d.links[k]
	before := d.links[back].last - l.last
	return before <= QuietNs || l.rate*float64(before)/1e9 < expectedPackets
}

// wasDown reports whether a link that carries packets again was known to be down about atNs: either way, since one end
// may have had no packets to drop.
func (d *linkDetector) wasDown(k topology.LinkKey, atNs int64) bool {
	down := func(k topology.LinkKey) bool {
		o, ok := d.back[k]
		return ok && atNs >= o.fromNs && atNs <= o.toNs+QuietNs
	}
	back, ok := k.Reverse()
	return down(k) || ok && down(back)
}

// returned reports whether the flows went back to a link that had been down until then: what they left is well.
func (d *linkDetector) returned(gone *departure) bool {
	return slices.ContainsFunc(gone.to, func(k topology.LinkKey) bool {
		o, ok := d.back[k]
		return ok && max(gone.atNs-o.toNs, o.toNs-gone.atNs) <= QuietNs
	})
}

// lostOf returns which of the links that are silent are lost.
func (d *linkDetector) lostOf(silent map[topology.LinkKey]float64) map[topology.LinkKey]bool {
	lost := map[topology.LinkKey]bool{}
	if len(silent) == 0 {
		return lost
	}
	for k := range silent {
		l := d.links[k]
		busy := l.scans >= busyScans && l.concurrent >= busyFlows
		if d.cut(k) || busy && d.nowNs-l.last >= busySilentNs {
			lost[k] = true
		}
	}
	// Flows that left tell of all links of the path that they took before. If one of them is known to be lost the
	// others need not be, and if only one is silent it is that one.
	for _, most := range []int{1, topology.MaxHops} {
		var found []topology.LinkKey
		for i := range d.departures {
			gone := &d.departures[i]
			if d.returned(gone) {
				continue
			}
			var candidates []topology.LinkKey
			explained := false
			for _, k := range gone.links {
				if silent[k] >= expectedPackets && gone.atNs >= d.links[k].last {
					candidates = append(candidates, k)
					explained = explained || lost[k]
				}
			}
			if !explained && len(candidates) <= most {
				found = append(found, candidates...)
			}
		}
		for _, k := range found {
			lost[k] = true
		}
	}
	return lost
}

// cut reports whether the node at the near end of a link has said that it is down since the link carried packets last.
func (d *linkDetector) cut(k topology.LinkKey) bool {
	c, l := d.cuts[dropEnd{k.From, k.FromPort}], d.links[k]
	return c != nil && l != nil && k.Has&telemetry.HasEgressPort != 0 && c.AtNs+l.lateNs() >= l.last
}

// linkLost is the key of the event that a link is lost.
func linkLost(k topology.LinkKey) eventlog.Key {
	return eventlog.Key{Kind: telemetry.EventLinkLost, Node: k.From, Port: k.FromPort, ToNode: k.To, ToPort: k.ToPort}
}

// noteLost notes a link that is lost.
func (d *linkDetector) noteLost(k topology.LinkKey) {
	l, c := d.links[k], &drop.Cut{}
	if at := d.cuts[dropEnd{k.From, k.FromPort}]; at != nil && k.Has&telemetry.HasEgressPort != 0 {
		c = at
	}
	sinceNs := l.last
	if l.byCards { // they have waited for each other
		sinceNs -= d.waitedNs
	}
	if c.Packets > 0 { // in the scan that saw it last, or later
		sinceNs = max(min(c.SinceNs, sinceNs), l.last-ScanNs-l.lateNs())
	}
	d.log.Note(linkLost(k), sinceNs, d.nowNs, c.Packets, func(e *telemetry.Event) {
		e.Severity = telemetry.Warning
		d.betweenEnds(e, k)
		e.Text = fmt.Sprintf("no traffic %s -> %s; both nodes still report", d.name(k.From), d.name(k.To))
		if !d.alive(k) {
			e.Text = fmt.Sprintf("no traffic %s -> %s; %[1]s says that the link is down", d.name(k.From), d.name(k.To))
		}
		e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "packets_before", Value: l.rate, Unit: "1/s"})
	})
	d.hit(linkLost(k), c.Hit)
	c.Told()
}
