package analyze

import (
	"fmt"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// drawnNetworks returns the seeds of networks that a test draws: a third of those that were wrong once, another one
// with each seed, or with TEST_SEED=all the first ones, of which there are so many. It skips the test under the race
// detector: a network takes ten times as long there, and nothing in it runs side by side.
func drawnNetworks(t *testing.T, onceWrong []uint64, many int) (seeds []uint64, all bool) {
	t.Helper()
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	turn, all := test.Seed(t)
	if all {
		for seed := range uint64(many) {
			seeds = append(seeds, seed)
		}
		return seeds, true
	}
	for i, seed := range onceWrong {
		if uint64(i)%3 == turn%3 {
			seeds = append(seeds, seed)
		}
	}
	return seeds, false
}

// inNetworks calls run for networks, several at a time. What it returns is called by one at a time, to add up.
func inNetworks(t *testing.T, seeds []uint64, run func(t *testing.T, seed uint64) (add func())) {
	t.Helper()
	var adding sync.Mutex
	t.Run("runs", func(t *testing.T) {
		for _, seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				add := run(t, seed)
				adding.Lock()
				defer adding.Unlock()
				add()
			})
		}
	})
}
