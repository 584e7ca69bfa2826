package expect

import (
	"github.com/waybill-int/waybill/telemetry"
)

// maxElements is how many elements of a path a collector keeps.
const maxElements = 31

// A path is a way that packets took, over all flows.
type path struct {
	elements                         []element
	meters                           []meter
	residence, endToEnd              values
	packets, incomplete, clockErrors uint64
	flows                            int
	rule                             Rule // why the order of its packets is not known
	uncertain                        bool // the order of its elements is not known: they are of packets that look alike
}

// partOf says whether o leads along all elements of p that are known, and some more: then p was o with postcards
// missing.
func (p *path) partOf(o *path) bool {
	gaps, at := false, 0
	for i := range p.elements {
		if p.elements[i].missing > 0 {
			gaps = true
			continue
		}
		for at < len(o.elements) && o.elements[at] != p.elements[i] {
			at++
		}
		if at == len(o.elements) {
			return false
		}
		at++
	}
	return gaps || len(p.elements) < len(o.elements)
}

// agrees says whether p and o may be one way, of which different switches told: where they have a switch in common, all
// that is known beside it is the same, and without one nothing is known.
func (p *path) agrees(o *path) bool {
	places := func(p *path) (at map[int]element, of map[uint32]int) {
		at, of = map[int]element{}, map[uint32]int{}
		place := 0
		for _, e := range p.elements {
			if e.missing == 0 {
				at[place], of[e.node] = e, place
			}
			place += max(e.missing, 1)
		}
		return at, of
	}
	here, placeOf := places(p)
	there, otherPlaceOf := places(o)
	for node, place := range placeOf {
		other, ok := otherPlaceOf[node]
		if !ok {
			continue
		}
		for at, e := range here {
			if x, ok := there[at-place+other]; ok && x != e {
				return false
			}
			if at, ok := otherPlaceOf[e.node]; ok && there[at] != e {
				return false
			}
		}
		for node, at := range placeOf { // each of them as far away
			if x, ok := otherPlaceOf[node]; ok && x-other != at-place {
				return false
			}
		}
	}
	return true
}

// fit returns the places on p of what came of a packet of which postcards are missing; false if it took another path.
// TTLs tell how far apart two of them are.
func (p *path) fit(sights []sight) (places []int, ok bool) {
	if len(sights) >= len(p.elements) {
		return nil, false
	}
	at := -1
	for i := range sights {
		away := 0
		for {
			at++
			if at == len(p.elements) {
				return nil, false
			}
			away += max(p.elements[at].missing, 1)
			if p.elements[at] == sights[i].element {
				break
			}
		}
		if i > 0 && away != sights[i-1].ttl-sights[i].ttl {
			return nil, false
		}
		places = append(places, at)
	}
	return places, true
}

// elements returns the path that sights tell of, with the switches between them that told nothing; nil stands for those
// in the list of who told.
func elements(sights []sight, gaps bool) (list []element, by []*sight) {
	for i := range sights {
		if len(list) == maxElements {
			break
		}
		if i > 0 && gaps {
			if n := sights[i-1].ttl - sights[i].ttl - 1; n > 0 {
				list, by = append(list, element{missing: n}), append(by, nil)
			}
		}
		list, by = append(list, sights[i].element), append(by, &sights[i])
	}
	return list, by
}

func (p *path) answer(names map[uint32]string) telemetry.Path {
	a := telemetry.Path{
		Packets: p.packets, Incomplete: p.incomplete, ClockErrors: p.clockErrors, Flows: p.flows,
		Uncertain: p.uncertain, Residence: p.residence.answer(), EndToEnd: p.endToEnd.answer(), Hops: p.hops(names),
	}
	for i := range a.Hops {
		p.meters[i].answer(&a.Hops[i])
	}
	return a
}

// hops returns the elements alone.
func (p *path) hops(names map[uint32]string) []telemetry.PathHop {
	hops := make([]telemetry.PathHop, len(p.elements))
	for i := range p.elements {
		hops[i] = p.elements[i].answer(names)
	}
	return hops
}
