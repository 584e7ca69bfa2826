package watch

import "math/bits"

// A Sampler decides which packets of a sampled entry are taken. Its zero value is ready to use; it is not safe for
// concurrent use. Two Samplers with the same seed that are asked the same answer the same.
type Sampler struct{ state uint64 }

// NewSampler returns a Sampler whose random choices follow from seed.
func NewSampler(seed uint64) Sampler { return Sampler{state: seed} }

// Take says whether to take a packet that matched a. packetHash is a well spread hash of what does not change on the
// way of the packet and differs between packets of a flow: it decides for SampleByHash. Of many packets, 1 in a.Sample
// is taken.
func (s *Sampler) Take(a *Action, packetHash uint64) bool {
	if a.Sample <= 1 {
		return true
	}
	choice := packetHash
	if a.Sampling == SampleAtRandom {
		s.state += golden
		choice = s.state
	}
	// The upper half of a product spreads 64 bits evenly over a.Sample values.
	n, _ := bits.Mul64(avalanche(choice), uint64(a.Sample))
	return n == 0
}

const golden = 0x9e3779b97f4a7c15

// avalanche is the finalizer of SplitMix64: every bit of x changes half of the result. Fed with a counter of golden
// steps it is that generator. Packet hashes go through it because a node may use the same hash to choose paths and
// queues.
func avalanche(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
