package expect

import "github.com/waybill-int/waybill/telemetry"

// overtakenNs is how long packets of the path before may still arrive after those of a new one.
const overtakenNs = 1e9

// An arrival is the path by which packets of a flow arrive.
type arrival struct {
	by *path
	// when the first of them came into the network, ns, by the clock of its first switch; nil: it did not say
	entered *uint64
	atNs    int64 // when that packet was noticed
	cards   bool  // each switch tells of packets, and may not tell of some
	changed bool  // the path has changed since the first packet
}

// turns notes that a packet arrived by p, which another path was before, and returns the paths of before and behind if
// that shows that the path has changed. What a loop let go is not on its way, and neither is a packet that was sent
// before those of the new path, and overtaken by them: it shows only which path was before, if nothing else did.
func (a *arrival) turns(p *path, first *sight, nowNs int64) (from, to *path) {
	if a.by == p || p.loops() {
		return nil, nil
	}
	if a.by != nil {
		stamped := a.entered != nil && first.has&telemetry.HasIngressTime != 0 && nowNs-a.atNs < overtakenNs
		if a.cards && !a.by.partOf(p) && a.by.agrees(p) {
			stamped = false
		}
		if stamped && int64(first.ingress-*a.entered) < 0 && a.by.elements[0].node == p.elements[0].node {
			if a.changed || a.by.partOf(p) || p.partOf(a.by) {
				return nil, nil
			}
			a.changed = true
			return p, a.by
		}
		if !a.by.partOf(p) && !(a.cards && a.by.agrees(p)) {
			from, to = a.by, p
		}
	}
	*a = arrival{by: p, atNs: nowNs, cards: a.cards, changed: a.changed || from != nil}
	if first.has&telemetry.HasIngressTime != 0 {
		a.entered = &first.ingress
	}
	return from, to
}

// loops reports whether p comes to a switch twice.
func (p *path) loops() bool {
	seen := map[uint32]bool{}
	for _, s := range p.elements {
		if s.named() && seen[s.node] {
			return true
		}
		seen[s.node] = true
	}
	return false
}
