package expect

import (
	"github.com/waybill-int/waybill/telemetry"
)

// maxStations is how many stations of a path a collector keeps.
const maxStations = 31

// A path is a way that packets took, over all flows.
type path struct {
	stations                         []station
	meters                           []meter
	residence, endToEnd              values
	packets, incomplete, clockErrors uint64
	flows                            int
	rule                             Rule // why the order of its packets is not known
}

// partOf says whether o leads along all stations of p that are known, and some more: then p was o with postcards
// missing.
func (p *path) partOf(o *path) bool {
	gaps, at := false, 0
	for i := range p.stations {
		if p.stations[i].missing > 0 {
			gaps = true
			continue
		}
		for at < len(o.stations) && o.stations[at] != p.stations[i] {
			at++
		}
		if at == len(o.stations) {
			return false
		}
		at++
	}
	return gaps || len(p.stations) < len(o.stations)
}

// fit returns the places on p of what came of a packet of which postcards are missing; false if it took another path.
// TTLs tell how far apart two of them are.
func (p *path) fit(sights []sight) (places []int, ok bool) {
	if len(sights) >= len(p.stations) {
		return nil, false
	}
	at := -1
	for i := range sights {
		away := 0
		for {
			at++
			if at == len(p.stations) {
				return nil, false
			}
			away += max(p.stations[at].missing, 1)
			if p.stations[at] == sights[i].station {
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

// stations returns the path that sights tell of, with the switches between them that told nothing; nil stands for those
// in the list of who told.
func stations(sights []sight, gaps bool) (list []station, by []*sight) {
	for i := range sights {
		if len(list) == maxStations {
			break
		}
		if i > 0 && gaps {
			if n := sights[i-1].ttl - sights[i].ttl - 1; n > 0 {
				list, by = append(list, station{missing: n}), append(by, nil)
			}
		}
		list, by = append(list, sights[i].station), append(by, &sights[i])
	}
	return list, by
}

func (p *path) answer(names map[uint32]string) telemetry.Path {
	a := telemetry.Path{
		Packets: p.packets, Incomplete: p.incomplete, ClockErrors: p.clockErrors, Flows: p.flows,
		Residence: p.residence.answer(), EndToEnd: p.endToEnd.answer(), Hops: p.hops(names),
	}
	for i := range a.Hops {
		p.meters[i].answer(&a.Hops[i])
	}
	return a
}

// hops returns the stations alone.
func (p *path) hops(names map[uint32]string) []telemetry.PathHop {
	hops := make([]telemetry.PathHop, len(p.stations))
	for i := range p.stations {
		hops[i] = p.stations[i].answer(names)
	}
	return hops
}
