package baseline

import (
	"testing"
	"time"
)

// A latency that is five times as long for five seconds of each minute is an anomaly each time, for two hours: the
// windows of one are not learned from, and what is usual does not follow.
func TestBaselinesRegime(t *testing.T) {
	const minutes = 120
	b, err := New(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	key := Key{Node: 1, Out: 1}
	startNs := int64(20_000 * dayNs)
	var began, ended int
	for ns := startNs; ns < startNs+int64(minutes*time.Minute); ns += 20e6 {
		for _, a := range b.Advance(ns) {
			minute, second := (a.StartNs-startNs)/60e9, (a.StartNs-startNs)%60e9
			if second != 48e9 || !a.High {
				t.Errorf("minute %d: an anomaly %d ns after its beginning, %+v", minute, second, a)
			}
			if a.Ended == "" {
				began++
			} else {
				ended++
			}
			if a.MedianNs < 95_000 || a.MedianNs > 120_000 {
				t.Errorf("minute %d: %d ns are usual", minute, a.MedianNs)
			}
		}
		latency := uint64(100_000 + ns%7*1000)
		if second := (ns - startNs) % 60e9; second >= 48e9 && second < 53e9 {
			latency = 500_000
		}
		b.Observe(&key, &Value{Value: latency, AtNs: ns})
	}
	if began != minutes || ended != minutes {
		t.Errorf("%d anomalies began and %d ended, want %d", began, ended, minutes)
	}
}
