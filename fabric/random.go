package fabric

import (
	"hash/fnv"
	"math/rand/v2"
)

// random returns the random numbers for one purpose. Each purpose has its own, so that one more flow does not change
// which packets a gray link loses.
func (f *Fabric) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(f.seed, h.Sum64()))
}
