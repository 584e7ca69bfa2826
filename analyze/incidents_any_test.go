package analyze

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/anynet"
)

// drawn has the ways to draw networks, each with those of which incidents of no fault were told once, or wrong counts:
// of each kind that was mended, one at least.
var drawn = []struct {
	name      string
	draw      func(*rand.Rand) string
	onceWrong []uint64
	right     float64 // of 100 incidents, of all networks
}{
	{"one_fault", anynet.Long, []uint64{17, 50, 59, 64, 75, 96, 214, 240, 254, 259}, 98},
	{"several", anynet.Several, []uint64{0, 25, 29, 42, 108, 133, 136, 159}, 98},
	{"slow", anynet.Slow, []uint64{111, 206, 232, 240, 248, 264}, 98},
}

// TestAnyIncidents has networks, traffic and faults that nobody has thought of: an incident that needs somebody is of
// a fault, of the right kind and at the right place, and what it is said to have cost is what it has cost. Those
// that were wrong once must be right; of three hundred with one fault, as many with several, and as many with few
// packets, with TEST_SEED=all, nearly all incidents (docs/explanation/accuracy.md).
func TestAnyIncidents(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	_, all := test.Seed(t)
	for _, d := range drawn {
		t.Run(d.name, func(t *testing.T) { anyIncidents(t, d.draw, d.onceWrong, d.right, d.name == "slow", all) })
	}
}

func anyIncidents(t *testing.T, draw func(*rand.Rand) string, seeds []uint64, right float64, slow, all bool) {
	t.Helper()
	if all {
		seeds = nil
		for seed := range uint64(300) {
			seeds = append(seeds, seed)
		}
	}
	for _, mode := range accuracyModes[:2] {
		t.Run(mode.name, func(t *testing.T) {
			var sum incidentScore
			var adding sync.Mutex
			t.Run("runs", func(t *testing.T) {
				for _, seed := range seeds {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						text := draw(rand.New(rand.NewPCG(seed, 7)))
						_, s := scoreRun(t, scenarioOf(t, text), 0, mode.nodes)
						// What fills queues beside a loop, unless there are few packets, and where traffic goes that a
						// link has lost, is theirs too, and the truth does not say so.
						costs := (slow || !strings.Contains(text, "loop:")) && !strings.Contains(text, "link_down:")
						if wrong := s.right < s.told || costs && (s.exact < s.known || s.below < s.bounds); wrong {
							t.Logf("%+v\n%s", s, text)
							if !all {
								t.Fail()
							}
						}
						adding.Lock()
						defer adding.Unlock()
						sum.add(s)
					})
				}
			})
			t.Logf("%d of %d faults found, %d of %d incidents right", sum.found, sum.faults, sum.right, sum.told)
			if percent(sum.right, sum.told) < right {
				t.Error("too many incidents are of no fault")
			}
		})
	}
}
