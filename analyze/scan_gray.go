package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// With postcards each node tells of each packet. A packet that one node of a path sent out, and of which no node behind
// it tells anything, was lost between the two, or the reports about it were. The sequence numbers of reports say which.

const (
	// A link that loses packets without a reason is an event if it is certain, to so many standard deviations, that it
	// lost one, in at least grayScans scans.
	grayDeviations, grayScans = 3, 2
	// grayPackets is how many lost packets tell more than those of scans, or of a flow that lost all of its packets.
	grayPackets = 10
	// graySilenceNs is how long it loses none before that is over.
	graySilenceNs = 5 * ScanNs
)

// A crossing is what postcards leave open of the packets on a link, since the last scan.
type crossing struct {
	lost            uint64 // packets that the near end sent, and of which nobody behind it tells
	again           uint64 // of these, those whose flow lost the packet before, too
	appeared        uint64 // packets of which nobody in front of the far end tells
	firstNs, lastNs int64  // when the lost ones came to the near end
	crossed         uint64 // packets that came over the link in that scan
	path            uint64 // on which most was lost; its hash
	pathLost        uint32
}

// A grayDetector finds links that lose packets of which postcards tell.
type grayDetector struct {
	*scan
	links     *linkDetector
	exporters *exporterDetector
	crossings map[topology.LinkKey]*crossing // of this scan: links on which packets were not seen as a whole
	earlier   map[topology.LinkKey]*crossing // of the scan before
	suspects  map[topology.LinkKey]*grayLink // links that lost packets lately
}

// maxCrossings bounds them, each kind.
const maxCrossings = 1 << 14

func newGrayDetector(s *scan, links *linkDetector, exporters *exporterDetector) *grayDetector {
	return &grayDetector{
		s, links, exporters,
		map[topology.LinkKey]*crossing{},
		map[topology.LinkKey]*crossing{},
		map[topology.LinkKey]*grayLink{},
	}
}

func (d *grayDetector) begin() {
	d.earlier, d.crossings = d.crossings, d.earlier
	clear(d.crossings)
}

func (d *grayDetector) observe(o *observation) {
	for i := range o.paths {
		if p := o.paths[i].path; p.incomplete > 0 {
			d.take(p)
		}
	}
}

// take adds up the packets on p that some of its hops told of, and lets them count anew.
func (d *grayDetector) take(p *path) {
	var appeared uint64
	for i := range p.hops {
		appeared += uint64(p.hops[i].part.first)
	}
	for i := range p.hops {
		part := p.hops[i].part
		p.hops[i].part = partSeen{}
		appeared -= uint64(part.first)
		if i+1 == len(p.hops) {
			break
		}
		k, ok := topology.LinkOf(&p.hops[i].HopKey, &p.hops[i+1].HopKey)
		if ok && !p.uncertain && appeared+uint64(part.last) > 0 {
			d.cross(k, p, appeared, &part)
		}
	}
}

func (d *grayDetector) cross(k topology.LinkKey, p *path, appeared uint64, part *partSeen) {
	c := d.crossings[k]
	if c == nil {
		if len(d.crossings) >= maxCrossings {
			d.leftOut++
			return
		}
		c = &crossing{}
		d.crossings[k] = c
	}
	c.appeared += appeared
	if part.last == 0 {
		return
	}
	if c.lost == 0 {
		c.firstNs = part.firstNs
	}
	c.firstNs, c.lastNs = min(c.firstNs, part.firstNs), max(c.lastNs, part.lastNs)
	c.lost += uint64(part.last)
	c.again += uint64(part.again)
	if part.last > c.pathLost || part.last == c.pathLost && p.hash < c.path {
		c.path, c.pathLost = p.hash, part.last
	}
}

// A grayLink is one direction of a link that loses packets.
type grayLink struct {
	scans           int
	firstNs, lastNs int64
	noted           uint64 // lost packets that are in the count of the event
	streams         bool   // known by what senders of TCP sent again
	numbered        bool   // by numbers of packets that did not come

	// The scans in which it began and was seen last are those of a part of the time only, and what lies between them is
	// the better measure. Scans since then, in which nothing was lost, wait in tail for another loss.
	first, latest, between, tail lossCount
}

// add takes the count of a scan.
func (g *grayLink) add(c lossCount) {
	switch {
	case c.lost == 0:
		g.tail.add(c)
		return
	case g.scans == 0:
		g.first = c
	default:
		g.between.add(g.latest)
		g.between.add(g.tail)
		g.latest, g.tail = c, lossCount{}
	}
	g.scans++
}

func (g *grayLink) total() lossCount {
	all := g.first
	all.add(g.between)
	all.add(g.latest)
	return all
}

// certain reports whether it loses packets for certain, and not in a single scan: zero is not in the interval.
func (g *grayLink) certain() bool {
	return g.scans >= grayScans && atLeast(g.total().lost, grayDeviations) >= 1
}

// share is how much of what it was sent it lost.
func (g *grayLink) share() float64 {
	if g.between.lost >= grayPackets {
		return g.between.share()
	}
	return g.total().share()
}

// finish looks at what the scan before found: only if others came over the link
// afterwards it is the packets that are gone, and not all that the far end has to tell.
func (d *grayDetector) finish() {
	for k, c := range d.crossings {
		if l := d.links.links[k]; l != nil && l.last == d.nowNs {
			c.crossed = l.cardsLatest
		}
	}
	for k, c := range d.earlier {
		if c.lost == 0 || d.suspects[k] != nil {
			continue
		}
		if len(d.suspects) >= maxCrossings {
			d.leftOut++
			continue
		}
		d.suspects[k] = &grayLink{firstNs: c.firstNs}
	}
	for k, g := range d.suspects {
		c := d.earlierOn(k)
		count, silent, _ := d.evidence(k, c)
		if silent {
			d.noteSilentBlackhole(k, c)
			delete(d.suspects, k)
			continue
		}
		g.add(count)
		switch {
		case count.lost > 0:
			g.lastNs = c.lastNs
			d.noteGray(k, g, d.suspects, c.path)
		case g.scans == 0 || d.nowNs-g.lastNs > graySilenceNs:
			delete(d.suspects, k)
		}
	}
}

// earlierOn returns the crossing of a link in the scan before.
func (d *grayDetector) earlierOn(k topology.LinkKey) *crossing {
	c := d.earlier[k]
	if c == nil {
		c = &crossing{}
		if l := d.links.links[k]; l != nil {
			c.crossed = l.cardsBefore
		}
	}
	return c
}

// evidence returns how many packets a link was sent and how many of these it lost, as far as that is no doubt: not
// if reports may be missing instead of packets, and not if the two ends do not speak of the same packets. silent says
// that all packets of some flows are lost, and no others, and why, why nothing is known.
func (d *grayDetector) evidence(k topology.LinkKey, c *crossing) (count lossCount, silent bool, why string) {
	l := d.links.links[k]
	if l == nil || l.last != d.nowNs || c.crossed+c.lost == 0 {
		return count, false, ""
	}
	farLost, known := d.exporters.reportsLost(k.To)
	if !known {
		return count, false, fmt.Sprintf(lossUnnumbered, d.name(k.To))
	}
	count = lossCount{sent: c.crossed + c.lost, open: c.lost}
	if c.lost <= farLost {
		return count, false, ""
	}
	nearLost, _ := d.exporters.reportsLost(k.From)
	lost := c.lost - farLost
	both := c.crossed - min(c.appeared, c.crossed) // packets that both ends told of, for certain
	if appeared := c.appeared - min(nearLost, c.appeared); appeared*20 > both {
		return lossCount{}, false, lossUnlike
	}
	if lost >= grayPackets && both > 0 && c.again*10 >= c.lost*8 {
		return count, true, ""
	}
	if lost < both {
		count.lost, count.open = lost, farLost
	}
	return count, false, ""
}

// noteGray notes a link that lost packets in this scan. A link that loses packets both ways is one event.
func (s *scan) noteGray(k topology.LinkKey, g *grayLink, links map[topology.LinkKey]*grayLink, path uint64) {
	all := g.total()
	if !g.certain() {
		return
	}
	one, other := k, topology.LinkKey{}
	if back, ok := k.Reverse(); ok {
		if other = back; topology.CompareLinks(back, k) < 0 {
			one, other = back, k
		}
	}
	key := eventlog.Key{
		Kind: telemetry.EventGrayFailure, Node: one.From, Port: one.FromPort, ToNode: one.To,
		ToPort: one.ToPort,
	}
	s.log.Note(key, g.firstNs, g.lastNs, all.lost-g.noted, func(e *telemetry.Event) {
		e.Severity = telemetry.Critical
		s.betweenEnds(e, one)
		e.Path = topology.PathID(path)
	})
	g.noted = all.lost
	there, back := grayShare(links, one), grayShare(links, other)
	s.log.Amend(key, func(e *telemetry.Event) {
		e.Evidence = nil
		e.Text = fmt.Sprintf("packets are lost between %s and %s, and no node says why", s.name(one.From),
			s.name(one.To))
		share := func(name string, to uint32, share float64) {
			if share > 0 {
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: share})
				e.Text += fmt.Sprintf("; %.2g %% of those to %s", 100*share, s.name(to))
			}
		}
		share("share_lost", one.To, there)
		share("share_lost_back", one.From, back)
		switch {
		case g.numbered:
			e.Text += "; seen by the numbers that sources give to packets"
		case g.streams:
			e.Text += "; seen by TCP, which sent them again"
		}
	})
}

// grayShare returns the share of its packets that a link loses, 0 if it does not lose enough.
func grayShare(links map[topology.LinkKey]*grayLink, k topology.LinkKey) float64 {
	g := links[k]
	if g == nil || !g.certain() {
		return 0
	}
	return g.share()
}

// noteSilentBlackhole notes a link behind which all packets of some flows are gone, and others are not.
func (d *grayDetector) noteSilentBlackhole(k topology.LinkKey, c *crossing) {
	key := eventlog.Key{Kind: telemetry.EventBlackhole, Node: k.From, Port: k.FromPort, ToNode: k.To, ToPort: k.ToPort}
	d.log.Note(key, c.firstNs, c.lastNs, c.lost, func(e *telemetry.Event) {
		e.Severity = telemetry.Critical
		d.betweenEnds(e, k)
		e.Path = topology.PathID(c.path)
		e.Text = fmt.Sprintf(
			"all packets of some flows are lost between %s and %s, and no node says why; others come through",
			d.name(k.From), d.name(k.To))
	})
}
