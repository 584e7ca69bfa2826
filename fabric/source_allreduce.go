package fabric

import (
	"slices"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// An allReduce lets hosts around a ring sum up a vector (Patarasuk and Yuan, 2009). In each of 2(n-1) steps every host
// sends an n-th of the vector to the next one, and begins a step when it has received its piece of the one before. Each
// host has one TCP connection to the next one, for all rounds.
type allReduce struct {
	talk
	hosts   []*host
	piece   uint64 // bytes of a step
	steps   uint64 // of a round
	everyNs int64

	ring   []*conversation // of host i to the next one; nil before the first round
	begun  int64           // when the round began
	rounds uint64          // begun
	told   []uint64        // pieces that host i has sent, in all rounds
	got    []uint64        // pieces that have come from host i
}

func newAllReduce(t talk, hosts []*host, p *scenario.AllReduce) *allReduce {
	n := uint64(len(hosts))
	return &allReduce{
		talk: t, hosts: hosts, piece: (uint64(p.Bytes) + n - 1) / n, steps: 2 * (n - 1),
		everyNs: int64(p.Every), told: make([]uint64, n), got: make([]uint64, n),
	}
}

// fire begins a round.
func (s *allReduce) fire(f *Fabric) int64 {
	if s.ring == nil {
		for i, h := range s.hosts {
			c := f.begin(&s.shape, h, s.hosts[(i+1)%len(s.hosts)], s.v6(), 0, false)
			c.owner = s
			f.schedule(c, s.stopNs, evStop)
			s.ring = append(s.ring, c)
		}
	}
	s.begun = f.nowNs
	s.rounds++
	for i := range s.ring {
		s.tell(f, i)
	}
	return never // heard says when
}

// tell sends the piece of the next step.
func (s *allReduce) tell(f *Fabric, i int) {
	s.told[i]++
	s.ring[i].size += s.piece
	f.say(s.ring[i])
}

// heard implements listener: the host behind host i has received bytes from it in all.
func (s *allReduce) heard(f *Fabric, c *conversation, bytes uint64) {
	if f.nowNs >= s.stopNs {
		return // others of the ring may be gone
	}
	i := slices.Index(s.ring, c)
	next, all := (i+1)%len(s.ring), s.rounds*s.steps
	arrived := bytes / s.piece
	if arrived == s.got[i] {
		return
	}
	s.got[i] = arrived
	for s.told[next] <= arrived && s.told[next] < all {
		s.tell(f, next)
	}
	if !slices.ContainsFunc(s.got, func(got uint64) bool { return got < all }) {
		f.again(s.index, max(s.begun+s.everyNs, f.nowNs))
	}
}
