package burst

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/waybill-int/waybill/telemetry"
)

// The stack of a burst is what a look at the queue in each nanosecond would add up to.
func TestBurstStack(t *testing.T) {
	samples := burstScript(t, 1<<20, "0 a 1500 x20 +4\n3 b 500 x30 +3\n50 c 100 x3 +20\n")
	config := testBurstConfig()
	config.AboveBytes, config.BelowBytes = 10_000, 5000
	list := play(NewSearch(config), samples)
	if len(list) != 1 {
		t.Fatalf("got %d bursts", len(list))
	}
	b := &list[0]
	least := uint64(1 << 63)
	for i := range samples {
		least = min(least, samples[i].OutNs-samples[i].InNs)
	}
	for row := range b.Stack.Bytes {
		for step, got := range b.Stack.Bytes[row] {
			from := b.StartNs + uint64(step)*b.Stack.StepNs
			to := min(from+b.Stack.StepNs, b.EndNs)
			want := 0.0
			for now := from; now < to; now++ {
				for i := range samples {
					s := &samples[i]
					if s.InNs <= now && now < s.OutNs-least && row < len(b.Stack.Flows) &&
						s.Flow == b.Stack.Flows[row] {
						want += float64(s.Bytes)
					}
				}
			}
			if want /= float64(to - from); float64(got) < want-1 || float64(got) > want+1 {
				t.Errorf("flow %d, step %d: got %d bytes, want %.1f", row, step, got, want)
			}
		}
	}
	if n := len(b.Stack.Bytes); n != 4 || len(b.Stack.Bytes[0]) < stackSteps/2 || len(b.Stack.Bytes[0]) > stackSteps {
		t.Errorf("%d rows of %d", n, len(b.Stack.Bytes[0]))
	}
}

// A log keeps what it has memory for, and counts the rest; what it takes is what it says.
func TestBurstLogIsBounded(t *testing.T) {
	one := &Record{Burst: Burst{Timeline: make([]Point, 100)}}
	if least := unsafe.Sizeof(*one) + 100*unsafe.Sizeof(Point{}); one.size() < uint64(least) {
		t.Errorf("a burst takes %d bytes and says %d", least, one.size())
	}
	if unsafe.Sizeof(Share{}) > perBurstFlow || unsafe.Sizeof(Victim{}) > perBurstFlow ||
		unsafe.Sizeof(telemetry.FlowKey{})+9 > perBurstFlow {
		t.Error("a flow of a burst takes more than it says")
	}
	l := NewLog(10 * one.size())
	for i := range 100 {
		k := *one
		k.ID, k.StartUnixNs = fmt.Sprint(i), int64(i)
		l.Add(&k)
	}
	if n := l.Totals(); n.Kept != 10 || n.Forgotten != 90 {
		t.Errorf("got %+v", n)
	}
	list, total := l.Bursts(nil, ByLast, 3)
	if total != 10 || len(list) != 3 || list[0].ID != "99" {
		t.Errorf("got %d, %+v", total, list)
	}
	if _, found := l.Burst("89"); found {
		t.Error("a burst that was forgotten is still there")
	}
	l = NewLog(1 << 40)
	for range MaxKept + 7 {
		l.Add(&Record{})
	}
	if n := l.Totals(); n.Kept != MaxKept || n.Forgotten != 7 {
		t.Errorf("got %+v", n)
	}
}
