package event

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// runQueues gives a script to a Congestion of 2 ports and compares its verdicts. A line is
//
//	PORT QUEUE BYTES LATENCY  -> REASON Q began ended
//	PORT QUEUE drop           -> REASON Q began ended
func runQueues(t *testing.T, thresholds []Threshold, script string) {
	t.Helper()
	c, err := NewCongestion(2, thresholds)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(script) {
		input, want, ok := strings.Cut(strings.TrimSpace(line), "->")
		if !ok {
			continue
		}
		var port, queue int
		var bytes uint32
		var latency uint64
		var v Verdict
		if n, _ := fmt.Sscan(input, &port, &queue, &bytes, &latency); n == 4 {
			v = c.Observe(port, queue, bytes, latency)
		} else {
			v = c.TailDrop(port, queue)
		}
		if got := v.text(); got != strings.TrimSpace(want) {
			t.Errorf("%s:\ngot %s", strings.TrimSpace(line), got)
		}
	}
}

func (v *Verdict) text() string {
	words := []string{v.Reason.String()}
	for _, flag := range []struct {
		set  bool
		name string
	}{{v.Congested, "Q"}, {v.Began, "began"}, {v.Ended, "ended"}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return strings.Join(words, " ")
}

func TestCongestionByBytes(t *testing.T) {
	runQueues(t, []Threshold{{TriggerBytes: 1000, ResetBytes: 500}}, `
		0 0 999 99999  -> none
		0 0 1000 0     -> queue_congestion Q began
		0 0 2000 0     -> queue_congestion Q
		0 0 999 0      -> queue_congestion Q
		0 0 501 0      -> queue_congestion Q
		1 0 700 0      -> none
		0 0 500 0      -> none ended
		0 0 700 0      -> none
		0 0 1000 0     -> queue_congestion Q began
		0 0 0 0        -> none ended`)
}

func TestCongestionByLatency(t *testing.T) {
	runQueues(t, []Threshold{{TriggerNs: 2000, ResetNs: 1500}}, `
		0 0 99999 1999  -> none
		0 0 0 2000      -> queue_congestion Q began
		0 0 0 1501      -> queue_congestion Q
		0 0 0 1500      -> none ended`)
}

func TestCongestionEndsWhenBothAreDown(t *testing.T) {
	runQueues(t, []Threshold{{TriggerBytes: 1000, ResetBytes: 500, TriggerNs: 2000, ResetNs: 1500}}, `
		0 0 999 1999  -> none
		0 0 0 2000    -> queue_congestion Q began
		0 0 600 0     -> queue_congestion Q
		0 0 500 1501  -> queue_congestion Q
		0 0 500 1500  -> none ended
		0 0 1000 0    -> queue_congestion Q began
		0 0 0 0       -> none ended`)
}

func TestCongestionQuota(t *testing.T) {
	runQueues(t, []Threshold{{TriggerBytes: 1000, Quota: 2, TailDrop: true}}, `
		0 0 1000 0  -> queue_congestion Q began
		0 0 1000 0  -> queue_congestion Q
		0 0 1000 0  -> none Q
		0 0 drop    -> tail_drop Q
		0 0 drop    -> tail_drop Q
		0 0 drop    -> none Q
		1 0 1000 0  -> queue_congestion Q began
		0 0 1 0     -> none Q
		0 0 0 0     -> none ended
		0 0 1000 0  -> queue_congestion Q began
		0 0 drop    -> tail_drop Q`)
}

func TestTailDrop(t *testing.T) {
	runQueues(t, []Threshold{{TriggerBytes: 1000, TailDrop: true}, {TriggerBytes: 1000}, {TailDrop: true}, {}}, `
		0 0 drop    -> tail_drop Q began
		0 0 1 0     -> queue_congestion Q
		0 0 0 0     -> none ended
		0 1 drop    -> none Q began
		0 1 900 0   -> queue_congestion Q
		0 2 drop    -> tail_drop Q began
		0 2 drop    -> tail_drop Q
		0 2 9999 9  -> none ended
		0 3 drop    -> none
		0 3 9999 9  -> none`)
}

func TestQueuesThatAreNotThere(t *testing.T) {
	runQueues(t, []Threshold{{TriggerBytes: 1, TailDrop: true}}, `
		-1 0 9 9  -> none
		2 0 9 9   -> none
		0 -1 9 9  -> none
		0 1 9 9   -> none
		2 0 drop  -> none
		1 0 9 9   -> queue_congestion Q began`)
	var none Congestion
	if v := none.Observe(0, 0, 9, 9); v != (Verdict{}) {
		t.Errorf("no queues: got %s", v.text())
	}
}

func TestThresholdErrors(t *testing.T) {
	for _, tc := range []struct {
		ports     int
		threshold Threshold
		want      string
	}{
		{1, Threshold{TriggerBytes: 5, ResetBytes: 5}, "queue 0: bytes: got reset 5, want less than trigger 5"},
		{1, Threshold{ResetBytes: 5}, "queue 0: bytes: got reset 5, want less than trigger 0"},
		{1, Threshold{TriggerNs: 5, ResetNs: 6}, "queue 0: latency: got reset 6 ns, want less than trigger 5 ns"},
		{
			1,
			Threshold{TailDrop: true, Quota: 9},
			"queue 0: quota: got 9 without a trigger; nothing would tell when a congestion ends",
		},
		{-1, Threshold{}, "queues: got -1 ports with 1 queues each, want at most 1048576 in all"},
		{1<<20 + 1, Threshold{}, "queues: got 1048577 ports with 1 queues each, want at most 1048576 in all"},
	} {
		if _, err := NewCongestion(tc.ports, []Threshold{tc.threshold}); err == nil || err.Error() != tc.want {
			t.Errorf("%+v: got %v, want %s", tc.threshold, err, tc.want)
		}
	}
}

// Between a trigger and the next reset, Q is set, and nowhere else; the reports of a congestion are as many as its
// packets or its quota.
func TestCongestionOfRandomQueues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		th := Threshold{TriggerBytes: 1 + r.Uint32N(100), Quota: r.Uint32N(5)}
		th.ResetBytes = r.Uint32N(th.TriggerBytes)
		c, err := NewCongestion(1, []Threshold{th})
		if err != nil {
			t.Fatal(err)
		}
		congested, packets, reports := false, uint32(0), uint32(0)
		for range 500 {
			bytes := r.Uint32N(120)
			switch {
			case bytes >= th.TriggerBytes:
				congested = true
			case bytes <= th.ResetBytes:
				congested, packets, reports = false, 0, 0
			}
			v := c.Observe(0, 0, bytes, 0)
			if v.Congested != congested {
				t.Fatalf("%+v with %d bytes: got Q %v, want %v", th, bytes, v.Congested, congested)
			}
			if congested {
				packets++
			}
			if v.Reason == QueueCongestion {
				reports++
			}
			if want := min(packets, th.Quota); th.Quota > 0 && reports != want || th.Quota == 0 && reports != packets {
				t.Fatalf("%+v: got %d reports of %d packets", th, reports, packets)
			}
		}
	}
}
