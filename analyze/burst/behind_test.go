package burst

import (
	"reflect"
	"slices"
	"testing"
)

// delayed has a switch take longer behind its queue for each packet that begins to leave that from some moment on, and
// up to another one, all in microseconds.
func delayed(samples []Sample, fromUs, toUs, us uint64) []Sample {
	for i := range samples {
		s := &samples[i]
		if left := s.OutNs - 1000; s.Has&SampleOut != 0 && left >= 1e9+fromUs*1000 && left < 1e9+toUs*1000 {
			s.OutNs += us * 1000
		}
	}
	return samples
}

// TestBurstsBehind has a switch that becomes slower, behind its queue. Between the packets of the burst and the next
// one nobody tells when those had left, but packets that found the port idle tell what each spends behind the queue.
// Where that changes, the end has slack.
func TestBurstsBehind(t *testing.T) {
	const text = "0 z 100 x20 +20\n600 z 100 x5 +20\n1000 a 1000 x15\n1200 z 100 x5 +20\n"
	for _, c := range []struct {
		name     string
		from, to uint64
		want     string
	}{
		{
			"never", 9000, 9000, `1/2/0 1000.0-1072.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B
	culprit a 100% of 14000 B
`,
		},
		{
			"for long before it, and later", 500, 2000,
			`1/2/0 1000.0-1072.0 us, peak 14000 B +152 us at 1000.0, 14 packets 14000 B
	culprit a 100% of 14000 B
`,
		},
		{
			"from within it", 1040, 2000,
			`1/2/0 1000.0-1072.0 us, peak 14000 B +152 us at 1000.0, 14 packets 14000 B, slack 0/40 us
	culprit a 100% of 14000 B
`,
		},
		{
			"up to somewhere in it", 500, 1090,
			`1/2/0 1000.0-1072.0 us, peak 14000 B +128 us at 1000.0, 14 packets 14000 B, slack 0/40 us
	culprit a 100% of 14000 B
`,
		},
		{
			"some time after it", 1150, 2000,
			`1/2/0 1000.0-1032.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B, slack 0/40 us
	culprit a 100% of 14000 B
`,
		},
	} {
		samples := delayed(burstScript(t, 25_000, text), c.from, c.to, 40)
		got := burstText(play(NewSearch(testBurstConfig()), samples))
		if got != c.want {
			t.Errorf("slower %s: got\n%swant\n%s", c.name, got, c.want)
		}
	}

	// A packet of another queue of the port may be in front of one that found its queue empty, so that depths have to
	// say first that the switch is slower.
	const want = `1/2/0 1000.0-1080.0 us, peak 14000 B +152 us at 1000.0, 15 packets 14100 B
	culprit a 100% of 14000 B
	victim z 1 packets +105 us, max 105 us
`
	samples := delayed(burstScript(t, 25_000, text+"1055 z 100\n"), 500, 2000, 40)
	other := samples[0]
	other.Queue = 1
	samples = slices.Insert(samples, 1, other)
	if got := burstText(play(NewSearch(testBurstConfig()), samples)); got != want {
		t.Errorf("slower for long, with two queues: got\n%swant\n%s", got, want)
	}
}

// TestStackBehind: what a slow switch adds behind the queue is no time in it.
func TestStackBehind(t *testing.T) {
	const text = "0 z 100 x20 +20\n600 z 100 x5 +20\n1000 a 1000 x15\n1200 z 100 x5 +20\n"
	var stacks []Stack
	for _, us := range []uint64{0, 40} {
		bursts := play(NewSearch(testBurstConfig()), delayed(burstScript(t, 25_000, text), 500, 2000, us))
		if len(bursts) != 1 {
			t.Fatalf("%d bursts", len(bursts))
		}
		stacks = append(stacks, bursts[0].Stack)
	}
	if !reflect.DeepEqual(stacks[0], stacks[1]) {
		t.Errorf("got %+v, want %+v", stacks[1], stacks[0])
	}
}
