package fabric

import (
	"math/rand/v2"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// A point of a cumulative distribution: a share of all flows has at most this many packets.
type point struct {
	packets float64
	share   float64
}

// packetBytes is what the distributions count as a packet: the payload of one of 1500 bytes.
const packetBytes = 1460

// Flow sizes of two data centres, as the simulations of pFabric have them (Alizadeh et al., SIGCOMM 2013, Fig. 4).
// Between two points all sizes are equally likely.
var (
	// webSearch: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. Mean 1140 packets, 1.7 MB.
	webSearch = []point{
		{0, 0},
		{6, 0.15},
		{13, 0.2},
		{19, 0.3},
		{33, 0.4},
		{53, 0.53},
		{133, 0.6},
		{667, 0.7},
		{1333, 0.8},
		{3333, 0.9},
		{6667, 0.97},
		{20000, 1},
	}
	// dataMining: Greenberg et al., "VL2", SIGCOMM 2009. Mean 5117 packets, 7.5 MB: half of the flows are one packet.
	dataMining = []point{
		{1, 0}, {1, 0.5}, {2, 0.6}, {3, 0.7}, {7, 0.8}, {267, 0.9}, {2107, 0.95}, {66667, 0.99}, {666667, 1},
	}
)

// sizes draws flow sizes in bytes.
type sizes struct {
	points []point // nil: all flows have fixed bytes
	fixed  uint64
	most   float64 // larger ones are cut to this many packets
}

// newSizes returns the distribution of a name, or a fixed size if the name is "".
func newSizes(name string, fixed, mostBytes uint64) sizes {
	s := sizes{fixed: fixed, most: 1e12}
	if mostBytes > 0 {
		s.most = float64(mostBytes) / packetBytes
		s.fixed = min(s.fixed, mostBytes)
	}
	switch name {
	case "web_search":
		s.points = webSearch
	case "data_mining":
		s.points = dataMining
	}
	return s
}

// draw returns the size of one flow, at least 1 byte.
func (s *sizes) draw(random *rand.Rand) uint64 {
	if s.points == nil {
		return s.fixed
	}
	u := random.Float64()
	i := 1
	for i < len(s.points)-1 && u >= s.points[i].share {
		i++
	}
	a, b := s.points[i-1], s.points[i]
	packets := a.packets + (b.packets-a.packets)*(u-a.share)/(b.share-a.share)
	return max(uint64(min(packets, s.most)*packetBytes), 1)
}

// mean returns the mean size in bytes.
func (s *sizes) mean() float64 {
	if s.points == nil {
		return float64(s.fixed)
	}
	sum := 0.0
	for i := 1; i < len(s.points); i++ {
		a, b := s.points[i-1], s.points[i]
		share := b.share - a.share
		switch {
		case b.packets <= s.most:
			sum += share * (a.packets + b.packets) / 2
		case a.packets >= s.most:
			sum += share * s.most
		default: // the part below most is a trapezoid, the part above it is cut
			below := (s.most - a.packets) / (b.packets - a.packets)
			sum += share * (below*(a.packets+s.most)/2 + (1-below)*s.most)
		}
	}
	return sum * packetBytes
}

// FlowSizes returns what draws the sizes of flows in bytes, as p says, and their mean. Other networks than emulated
// ones have the same traffic by it.
func FlowSizes(p *scenario.Poisson) (draw func(*rand.Rand) uint64, mean float64) {
	s := sizesOf(p)
	return s.draw, s.mean()
}

func sizesOf(p *scenario.Poisson) *sizes {
	name, fixed := p.Sizes, uint64(0)
	if size, ok := p.FixedSize(); ok {
		name, fixed = "", size
	}
	s := newSizes(name, fixed, uint64(p.MaxSize))
	return &s
}
