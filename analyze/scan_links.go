package analyze

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
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
	packets    uint64  // since the last scan
	latest     uint64  // between the last scan and the one before
	before     uint64  // between that one and the one before it
	rate       float64 // packets per second, smoothed, while it carried some
	last       int64   // scan at which it carried some
	flows      uint64  // since the last scan
	concurrent float64 // flows per scan, smoothed, while it carried some
	scans      int     // in a row in which it carried some, up to then
}

// A departure is flows that left a path for another one.
type departure struct {
	links []linkKey
	to    []linkKey // of the path that the latest of them took
	flows uint32
	atNs  int64 // scan that found it
}

// An outage is a time during which a link was down: from the scan at which it carried packets last to the one at which
// it did again.
type outage struct{ fromNs, toNs int64 }

// departed notes which flows left p for another path since the last scan.
func (s *Scanner) departed(shard *Shard, p *path, nowNs int64) {
	left := p.sinceScan.left
	if left == 0 || p.uncertain {
		return
	}
	if len(s.departures) == maxDepartures {
		s.departures = slices.Delete(s.departures, 0, maxDepartures/4)
	}
	s.departures = append(s.departures, departure{
		links: p.links(), to: shard.paths.paths[p.sinceScan.to].links(), flows: left, atNs: nowNs,
	})
}

// links returns the links of p, as far as both ends are known.
func (p *path) links() (list []linkKey) {
	for h := 1; h < len(p.hops); h++ {
		if k, ok := linkOf(&p.hops[h-1].station, &p.hops[h].station); ok {
			list = append(list, k)
		}
	}
	return list
}

// cut notes that packets were dropped because the link behind a port is down.
func (s *Scanner) cut(key *dropKey, nowNs int64) {
	const port = telemetry.HasNode | telemetry.HasEgressPort
	if key.has&port != port || dropreason.Of(key.table, key.reason).Group != dropreason.Hardware {
		return
	}
	k := dropEnd{key.node, key.out}
	if _, ok := s.cuts[k]; ok || len(s.cuts) < maxCuts {
		s.cuts[k] = nowNs
	}
}

// scanLinks finds links that carry nothing any more.
func (s *Scanner) scanLinks(nowNs int64) {
	seconds := float64(nowNs-s.lastNs) / 1e9
	silent := map[linkKey]float64{} // packets that were to be expected
	for k, l := range s.links {
		l.before, l.latest, l.packets = l.latest, l.packets, 0
		if l.latest > 0 {
			if rate := float64(l.latest) / seconds; l.rate == 0 {
				l.rate = rate
			} else {
				l.rate += (rate - l.rate) / 8
			}
			if l.last == s.lastNs {
				l.scans++
				l.concurrent += (float64(l.flows) - l.concurrent) / 8
			} else {
				l.scans, l.concurrent = 1, float64(l.flows)
			}
			if s.down(k, l.last) {
				s.back[k] = outage{l.last, nowNs}
			}
			l.last, l.flows = nowNs, 0
			s.log.End(k.lost(), s.lastNs)
			continue
		}
		silence := nowNs - l.last
		switch expected := l.rate * float64(silence) / 1e9; {
		case silence > int64(time.Hour):
			delete(s.links, k)
		case silence >= silentNs && expected >= someExpected && s.active[k.from] > 0 && s.active[k.to] > 0:
			silent[k] = expected
		}
	}
	s.departures = slices.DeleteFunc(s.departures, func(d departure) bool { return nowNs-d.atNs > departureNs })
	for k, atNs := range s.cuts {
		if nowNs-atNs > departureNs {
			delete(s.cuts, k)
		}
	}
	for k, o := range s.back {
		if nowNs-o.toNs > departureNs {
			delete(s.back, k)
		}
	}
	lost := s.lostOf(silent, nowNs)
	for k := range silent {
		if back, ok := k.reverse(); lost[k] || ok && lost[back] && s.together(k, back) || s.log.Ongoing(k.lost()) {
			s.noteLost(k, nowNs)
		}
	}
}

// down reports whether a link was known to be down since a scan at which it still carried packets.
func (s *Scanner) down(k linkKey, sinceNs int64) bool {
	at, cut := s.cuts[dropEnd{k.from, k.fromPort}]
	return s.log.Ongoing(k.lost()) || cut && at >= sinceNs && k.has&telemetry.HasEgressPort != 0
}

// together reports whether k fell silent with back, the other direction: not so long before that its flows had ended by
// then.
func (s *Scanner) together(k, back linkKey) bool {
	l := s.links[k]
	before := s.links[back].last - l.last
	return before <= quietNs || l.rate*float64(before)/1e9 < expectedPackets
}

// returned reports whether the flows went back to a link that had been down until then: what they left is well.
func (s *Scanner) returned(d *departure) bool {
	return slices.ContainsFunc(d.to, func(k linkKey) bool {
		o, ok := s.back[k]
		return ok && max(d.atNs-o.toNs, o.toNs-d.atNs) <= quietNs
	})
}

// lostOf returns which of the links that are silent are lost.
func (s *Scanner) lostOf(silent map[linkKey]float64, nowNs int64) map[linkKey]bool {
	lost := map[linkKey]bool{}
	if len(silent) == 0 {
		return lost
	}
	for k := range silent {
		if l := s.links[k]; l.scans >= busyScans && l.concurrent >= busyFlows && nowNs-l.last >= busySilentNs {
			lost[k] = true
		}
		if at, ok := s.cuts[dropEnd{k.from, k.fromPort}]; ok && k.has&telemetry.HasEgressPort != 0 &&
			at >= s.links[k].last {
			lost[k] = true
		}
	}
	// Flows that left tell of all links of the path that they took before. If one of them is known to be lost the
	// others need not be, and if only one is silent it is that one.
	for _, most := range []int{1, maxStations} {
		var found []linkKey
		for i := range s.departures {
			d := &s.departures[i]
			if s.returned(d) {
				continue
			}
			var suspects []linkKey
			explained := false
			for _, k := range d.links {
				if silent[k] >= expectedPackets && d.atNs >= s.links[k].last {
					suspects = append(suspects, k)
					explained = explained || lost[k]
				}
			}
			if !explained && len(suspects) <= most {
				found = append(found, suspects...)
			}
		}
		for _, k := range found {
			lost[k] = true
		}
	}
	return lost
}

// lost is the key of the event that a link is lost.
func (k *linkKey) lost() eventlog.Key {
	return eventlog.Key{Kind: telemetry.EventLinkLost, Node: k.from, Port: k.fromPort, ToNode: k.to, ToPort: k.toPort}
}

// noteLost notes a link that is lost.
func (s *Scanner) noteLost(k linkKey, nowNs int64) {
	l := s.links[k]
	s.log.Note(k.lost(), l.last, nowNs, 0, func(e *telemetry.Event) {
		e.Severity = telemetry.Warning
		s.betweenEnds(e, k)
		e.Text = fmt.Sprintf("nothing comes from %s to %s any more, and both still report", s.name(k.from),
			s.name(k.to))
		e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "packets_before", Value: l.rate, Unit: "1/s"})
	})
}
