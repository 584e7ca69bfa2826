package scan

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// With postcards each node tells of each packet. A packet that one node of a path sent out, and of which no node behind
// it tells anything, was lost between the two, or the reports about it were. The sequence numbers of reports say which.

// A grayDetector finds links that lose packets of which postcards tell.
type grayDetector struct {
	*scan
	links     *linkDetector
	exporters *exporterDetector
	crossings map[topology.LinkKey]*loss.Crossing // of this scan: links on which packets were not seen as a whole
	earlier   map[topology.LinkKey]*loss.Crossing // of the scan before
	losing    loss.Links                          // links that lost packets lately
	ended     map[[2]uint32]uint64                // packets whose way ends at a port in this scan, by node and port
}

func newGrayDetector(s *scan, links *linkDetector, exporters *exporterDetector) *grayDetector {
	return &grayDetector{
		s, links, exporters,
		map[topology.LinkKey]*loss.Crossing{},
		map[topology.LinkKey]*loss.Crossing{},
		loss.Links{},
		map[[2]uint32]uint64{},
	}
}

func (d *grayDetector) begin() {
	d.earlier, d.crossings = d.crossings, d.earlier
	clear(d.crossings)
	clear(d.ended)
}

func (d *grayDetector) observe(o *Observation) {
	for i := range o.Paths {
		p := &o.Paths[i]
		if len(p.Part) > 0 {
			d.take(p)
		}
		if at := p.last(); p.Postcards && !p.dropped() && at.Has&telemetry.HasEgressPort != 0 {
			d.ended[[2]uint32{at.Node, at.Out}] += p.N
		}
	}
}

// take adds up the packets on p that some of its hops told of.
func (d *grayDetector) take(p *Path) {
	var appeared uint64
	for i := range p.Hops {
		appeared += uint64(p.Part[i].First)
	}
	for i := range p.Hops {
		part := &p.Part[i]
		appeared -= uint64(part.First)
		if i+1 == len(p.Hops) {
			break
		}
		k, ok := topology.LinkOf(&p.Hops[i].HopKey, &p.Hops[i+1].HopKey)
		if ok && !p.Uncertain && appeared+uint64(part.Last+part.Open) > 0 {
			d.cross(k, p, appeared, part)
		}
	}
}

func (d *grayDetector) cross(k topology.LinkKey, p *Path, appeared uint64, part *loss.Part) {
	c := d.crossings[k]
	if c == nil {
		if len(d.crossings) >= loss.MaxLinks {
			d.leftOut++
			return
		}
		c = &loss.Crossing{}
		d.crossings[k] = c
	}
	c.Meet(p.Hash, appeared, part)
}

// finish looks at what the scan before found: only if others came over the link
// afterwards it is the packets that are gone, and not all that the far end has to tell.
func (d *grayDetector) finish() {
	for k := range d.links.links { // of flows of which none came through nobody knows where they were to go
		n := d.ended[[2]uint32{k.From, k.FromPort}]
		if n == 0 || k.Has&telemetry.HasEgressPort == 0 {
			continue
		}
		if d.crossings[k] == nil {
			if len(d.crossings) >= loss.MaxLinks {
				d.leftOut++
				continue
			}
			d.crossings[k] = &loss.Crossing{}
		}
		d.crossings[k].Open += n
	}
	for k, c := range d.crossings {
		if l := d.links.links[k]; l != nil && l.last == d.nowNs {
			c.Crossed = l.cardsLatest
		}
	}
	for k, c := range d.earlier {
		if c.Lost == 0 || d.losing[k] != nil {
			continue
		}
		if len(d.losing) >= loss.MaxLinks {
			d.leftOut++
			continue
		}
		d.losing[k] = &loss.Link{}
	}
	for k, g := range d.losing {
		c := d.earlierOn(k)
		count, silent, _ := d.evidence(k, c)
		if silent {
			d.noteSilentBlackhole(k, c)
			delete(d.losing, k)
			continue
		}
		switch {
		case count.Lost > 0 && g.Scans == 0:
			g.Begin(c.FirstNs)
		case count.Lost == 0 && c.Lost > 0:
			g.Doubt(c.FirstNs, c.LastNs)
		}
		g.Add(count)
		switch {
		case count.Lost > 0:
			g.LastNs, g.Hit = c.LastNs, g.Hit.Plus(c.Hit)
			d.noteGray(k, g, d.losing, c.Path)
		case g.IsOver(d.nowNs):
			delete(d.losing, k)
		case c.Lost > 0:
			d.noteGray(k, g, d.losing, c.Path)
		}
	}
}

// earlierOn returns the crossing of a link in the scan before.
func (d *grayDetector) earlierOn(k topology.LinkKey) *loss.Crossing {
	c := d.earlier[k]
	if c == nil {
		c = &loss.Crossing{}
		if l := d.links.links[k]; l != nil {
			c.Crossed = l.cardsBefore
		}
	}
	return c
}

// evidence returns how many packets a link was sent and how many of these it lost, as far as that is no doubt: not
// if reports may be missing instead of packets, and not if the two ends do not speak of the same packets. silent says
// that all packets of some flows are lost, and no others, and why, why nothing is known.
func (d *grayDetector) evidence(k topology.LinkKey, c *loss.Crossing) (count loss.Amount, silent bool, why string) {
	l := d.links.links[k]
	if l == nil || l.last != d.nowNs || c.Crossed+c.Lost == 0 {
		return count, false, ""
	}
	farLost, known := d.exporters.reportsLost(k.To)
	if !known {
		return count, false, fmt.Sprintf(loss.Unnumbered, d.name(k.To))
	}
	nearLost, _ := d.exporters.reportsLost(k.From)
	return c.Evidence(nearLost, farLost)
}

// noteGray notes a link that lost packets in this scan, or perhaps did. A link that loses packets both ways is one
// event.
func (s *scan) noteGray(k topology.LinkKey, g *loss.Link, links loss.Links, path uint64) {
	all := g.Total()
	if !g.Certain() {
		return
	}
	one, other := k, topology.LinkKey{}
	firstNs, lastNs, earliestNs, latestNs := g.FirstNs, g.LastNs, g.Earliest(), g.LatestNs
	if back, ok := k.Reverse(); ok {
		if b := links[back]; b != nil && b.Certain() {
			firstNs, lastNs = min(firstNs, b.FirstNs), max(lastNs, b.LastNs)
			earliestNs, latestNs = min(earliestNs, b.Earliest()), max(latestNs, b.LatestNs)
		}
		if other = back; topology.CompareLinks(back, k) < 0 {
			one, other = back, k
		}
	}
	key := eventlog.Key{
		Kind: telemetry.EventGrayFailure, Node: one.From, Port: one.FromPort, ToNode: one.To,
		ToPort: one.ToPort,
	}
	if all.Lost == g.Noted && !s.log.Ongoing(key) {
		return // what it may have lost begins no event
	}
	s.log.Note(key, firstNs, g.LastNs, all.Lost-g.Noted, func(e *telemetry.Event) {
		e.Severity = telemetry.Critical
		s.betweenEnds(e, one)
		e.Path = topology.PathID(path)
	})
	s.hit(key, g.Hit.Plus(&telemetry.Extent{Partly: true})) // of some lost packets nothing tells
	g.Noted, g.Hit = all.Lost, nil
	there, thereLeast := links.Share(one)
	back, backLeast := links.Share(other)
	s.log.Amend(key, func(e *telemetry.Event) {
		e.Evidence = nil
		e.Text = fmt.Sprintf("packets are lost between %s and %s, and no node says why", s.name(one.From),
			s.name(one.To))
		share := func(name string, to uint32, share, least float64) {
			if share == 0 {
				return
			}
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: share})
			if e.Text += "; "; least < share {
				e.Text += "at least "
			}
			e.Text += fmt.Sprintf("%.2g %% of those to %s", 100*least, s.name(to))
		}
		share("share_lost", one.To, there, thereLeast)
		share("share_lost_back", one.From, back, backLeast)
		switch {
		case g.Numbered:
			e.Text += "; seen by the numbers that sources give to packets"
		case g.Streams:
			e.Text += "; seen by TCP, which sent them again"
		}
		slack := func(name, text string, ns int64) {
			if ns > 0 {
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: float64(ns) / 1e9, Unit: "s"})
				e.Text += fmt.Sprintf(text, time.Duration(ns).Round(time.Millisecond))
			}
		}
		slack("start_slack", "; it may have begun %v earlier, when as many reports were missing", firstNs-earliestNs)
		slack("end_slack", "; it may have lasted %v longer, when as many reports were missing", latestNs-lastNs)
	})
}

// noteSilentBlackhole notes a link behind which all packets of some flows are gone, and others are not.
func (d *grayDetector) noteSilentBlackhole(k topology.LinkKey, c *loss.Crossing) {
	key := eventlog.Key{Kind: telemetry.EventBlackhole, Node: k.From, Port: k.FromPort, ToNode: k.To, ToPort: k.ToPort}
	d.log.Note(key, c.FirstNs, c.LastNs, c.Lost, func(e *telemetry.Event) {
		e.Severity = telemetry.Critical
		d.betweenEnds(e, k)
		e.Path = topology.PathID(c.Path)
		e.Text = fmt.Sprintf(
			"all packets of some flows are lost between %s and %s, and no node says why; others come through",
			d.name(k.From), d.name(k.To))
	})
	d.hit(key, c.Hit)
}
