package analyze

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/anynet"
)

// A drawing is a way to draw networks.
type drawing struct {
	name string
	draw func(*rand.Rand) string
	// onceWrong are those of which incidents of no fault were told once, or wrong counts: of each kind that was mended,
	// one at least.
	onceWrong []uint64
	// calm says that nothing fills queues beside a loop: what loops cost is compared too, if no link fails.
	calm bool
}

var drawings = []drawing{
	{"one_fault", anynet.Long, []uint64{17, 50, 59, 64, 75, 96, 214, 240, 254, 259}, false},
	{"several", anynet.Several, []uint64{0, 29, 42, 108, 133, 136, 155, 159}, false},
	{"slow", anynet.Slow, []uint64{111, 206, 232, 240, 248, 264}, true},
	{"partly", anynet.Partly, []uint64{73, 121, 185}, true},
}

// TestAnyIncidents has networks, traffic and faults that nobody has thought of: an incident that needs somebody is of
// a fault, of the right kind and at the right place, and what it is said to have cost is what it has cost. Those
// that were wrong once must be right; of three hundred of each drawing, with TEST_SEED=all, 98 of 100 incidents
// (docs/explanation/accuracy.md).
func TestAnyIncidents(t *testing.T) {
	for _, d := range drawings {
		seeds, all := drawnNetworks(t, d.onceWrong, 300)
		for _, mode := range accuracyModes[:2] {
			t.Run(d.name+" "+mode.name, func(t *testing.T) { d.run(t, mode.nodes, seeds, all) })
		}
	}
}

// run compares the incidents of networks with the truth, and fails if one is wrong, or too many of all.
func (d *drawing) run(t *testing.T, nodes string, seeds []uint64, all bool) {
	t.Helper()
	var sum incidentScore
	inNetworks(t, seeds, func(t *testing.T, seed uint64) func() {
		text := d.draw(rand.New(rand.NewPCG(seed, 7)))
		_, s := scoreRun(t, scenarioOf(t, text), 0, nodes)
		calm := d.calm && !strings.Contains(text, "link_down:")
		if s.right < s.told || s.wrong > 0 || calm && (s.exact < s.known || s.below < s.bounds) {
			t.Logf("%+v\n%s", s, text)
			if !all {
				t.Fail()
			}
		}
		return func() { sum.add(s) }
	})
	t.Logf("%d of %d faults found, %d of %d incidents right", sum.found, sum.faults, sum.right, sum.told)
	if percent(sum.right, sum.told) < 98 {
		t.Error("too many incidents are of no fault")
	}
}
