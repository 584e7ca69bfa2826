package burst

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// burstScript turns text into the samples of one queue (node 1, port 2, queue 0) that drains at 1 Gbit/s, in the order
// in which the packets leave. Behind the queue a packet spends another microsecond. Lines are
//
//	1000 a 1500           at 1000 us a packet of flow a (sender a) comes, 1500 bytes
//	1000 a 1500 x10 +2    ten of them, one every 2 us
//
// and, behind that, what becomes of the samples: lost, twice, late (comes last), bare (says no depth), 1/4 (each fourth
// packet is sampled; across lines). Packets for which there are not capacity bytes are dropped. Lines must be in the
// order of time.
func burstScript(t *testing.T, capacity uint64, text string) (samples []Sample) {
	t.Helper()
	type waiting struct{ startNs, bytes uint64 }
	var queue []waiting
	var late []Sample
	freeNs, number := uint64(0), uint64(0)
	type arrival struct {
		ns    uint64
		bytes uint32
		flow  string
		flags []string
	}
	var arrivals []arrival
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var at, step, bytes, times uint64 = 0, 0, 0, 1
		fmt.Sscan(fields[0], &at)
		fmt.Sscan(fields[2], &bytes)
		for _, f := range fields[3:] {
			fmt.Sscanf(f, "x%d", &times)
			fmt.Sscanf(f, "+%d", &step)
		}
		for i := range times {
			arrivals = append(arrivals, arrival{(at + i*step) * 1000, uint32(bytes), fields[1], fields[3:]})
		}
	}
	slices.SortStableFunc(arrivals, func(a, b arrival) int { return int(a.ns) - int(b.ns) })
	for _, a := range arrivals {
		number++
		for len(queue) > 0 && queue[0].startNs <= a.ns {
			queue = queue[1:]
		}
		depth := uint64(0)
		for _, w := range queue {
			depth += w.bytes
		}
		s := Sample{
			Node: 1, Port: 2, Has: SampleIn | SampleDepth, InNs: 1e9 + a.ns,
			Depth: uint32(depth), Unit: codepoint.UnitBytes,
			Bytes: a.bytes,
			Flow:  FlowRef(a.flow[0]), Source: uint32(a.flow[0]), Packet: number, Every: 1,
		}
		if depth+uint64(a.bytes) > capacity {
			s.Has |= SampleDropped
		} else {
			startNs := max(a.ns, freeNs)
			freeNs = startNs + uint64(a.bytes)*8
			queue = append(queue, waiting{startNs, uint64(a.bytes)})
			s.OutNs, s.Has = 1e9+startNs+1000, s.Has|SampleOut
		}
		keep := 1
		for _, f := range a.flags {
			var every uint32
			switch n, _ := fmt.Sscanf(f, "1/%d", &every); {
			case n == 1:
				s.Every = every
				if number%uint64(every) != 0 {
					keep = 0
				}
			case f == "lost":
				keep = 0
			case f == "twice":
				keep = 2
			case f == "bare":
				s.Has &^= SampleDepth
			case f == "late":
				late = append(late, s)
				keep = 0
			}
		}
		for range keep {
			samples = append(samples, s)
		}
	}
	slices.SortStableFunc(samples,
		func(a, b Sample) int { return int(max(a.OutNs, a.InNs)) - int(max(b.OutNs, b.InNs)) })
	return append(samples, late...)
}

// burstText spells out bursts, one a line, and below it its flows.
func burstText(bursts []Burst) string {
	var out strings.Builder
	us := func(ns uint64) string { return fmt.Sprintf("%.1f", (float64(ns)-1e9)/1e3) }
	for i := range bursts {
		r := &bursts[i]
		fmt.Fprintf(&out, "%d/%d/%d %s-%s us, peak %d B +%d us at %s, %d packets %d B", r.Node, r.Port, r.Queue,
			us(r.StartNs), us(r.EndNs), r.Peak, r.PeakDelayNs/1000, us(r.PeakNs), r.Packets, r.Bytes)
		if r.Drops > 0 {
			fmt.Fprintf(&out, ", %d drops", r.Drops)
		}
		if r.Complete < 1 {
			fmt.Fprintf(&out, ", complete %.2f", r.Complete)
		}
		if r.StartSlackNs+r.EndSlackNs > 0 {
			fmt.Fprintf(&out, ", slack %d/%d us", r.StartSlackNs/1000, r.EndSlackNs/1000)
		}
		if r.Incast {
			fmt.Fprintf(&out, ", incast of %d", r.Sources)
		}
		if r.Open {
			out.WriteString(", open")
		}
		out.WriteByte('\n')
		for _, f := range r.Culprits {
			fmt.Fprintf(&out, "\tculprit %c %.0f%% of %d B", rune(f.Flow), 100*f.Share, f.Bytes)
			if f.Drops > 0 {
				fmt.Fprintf(&out, ", %d drops", f.Drops)
			}
			out.WriteByte('\n')
		}
		for _, f := range r.Victims {
			fmt.Fprintf(&out, "\tvictim %c %d packets +%d us, max %d us", rune(f.Flow), f.Packets, f.ExtraNs/1000,
				f.MaxExtraNs/1000)
			if f.Drops > 0 {
				fmt.Fprintf(&out, ", %d drops", f.Drops)
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// testBurstConfig has small thresholds and no automatic ones.
func testBurstConfig() Config {
	c := DefaultConfig()
	c.AboveBytes, c.BelowBytes, c.AboveNs, c.BelowNs, c.LatenessNs = 10_000, 5_000, 80_000, 40_000, 1e6
	return c
}

// play lets a fake clock run with the samples, which come at once when packets have left, and returns the bursts.
func play(b *Search, samples []Sample) []Burst {
	now := uint64(0)
	for i := range samples {
		now = max(now, samples[i].InNs, samples[i].OutNs)
		b.Observe(&samples[i])
		b.Advance(int64(now))
	}
	b.Finish()
	return b.Take()
}

func TestBursts(t *testing.T) {
	const quiet = "0 z 100 x20 +20\n"
	for _, c := range []struct{ name, in, want string }{
		{"a quiet queue", quiet, ""},
		{"two senders and who waits for them", quiet + `
			1000 a 1000 x10 +4
			1000 b 1000 x10 +4
			1030 c 100
			1060 d 100
			1200 z 100`, `1/2/0 1028.0-1120.0 us, peak 15100 B +116 us at 1036.0, 18 packets 16200 B
	culprit a 50% of 8000 B
	culprit b 50% of 8000 B
	victim d 1 packets +100 us, max 100 us
	victim c 1 packets +98 us, max 98 us
`},
		{"just not enough", quiet + "1000 a 1000 x11\n1100 z 100", ``},
		{
			"just enough", quiet + "1000 a 1000 x12\n1200 z 100",
			`1/2/0 1000.0-1048.0 us, peak 11000 B +88 us at 1000.0, 11 packets 11000 B
	culprit a 100% of 11000 B
`,
		},
		{
			"two bursts", quiet + "1000 a 1000 x15\n1200 b 1000 x15\n1400 z 100",
			`1/2/0 1000.0-1072.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B
	culprit a 100% of 14000 B
1/2/0 1200.0-1272.0 us, peak 14000 B +112 us at 1200.0, 14 packets 14000 B
	culprit b 100% of 14000 B
`,
		},
		{
			"one burst with a dent", quiet + "1000 a 1000 x15\n1060 b 1000 x15\n1400 z 100",
			`1/2/0 1000.0-1192.0 us, peak 22000 B +172 us at 1060.0, 29 packets 29000 B
	culprit b 52% of 15000 B
	culprit a 48% of 14000 B
`,
		},
		{"eight senders", quiet + `
			1000 a 1500 x2
			1000 b 1500 x2
			1000 c 1500 x2
			1000 d 1500 x2
			1000 e 1500 x2
			1000 f 1500 x2
			1000 g 1500 x2
			1000 h 1500 x2
			1400 z 100`, `1/2/0 1000.0-1144.0 us, peak 22500 B +180 us at 1000.0, 15 packets 22500 B, incast of 8
	culprit b 13% of 3000 B
	culprit c 13% of 3000 B
	culprit d 13% of 3000 B
	culprit e 13% of 3000 B
	culprit f 13% of 3000 B
	culprit g 13% of 3000 B
	culprit h 13% of 3000 B
	culprit a 7% of 1500 B
`},
		{
			"no room", quiet + "1000 a 1500 x25\n1000 b 100\n1400 z 100",
			`1/2/0 1000.0-1156.0 us, peak 24100 B +204 us at 1000.0, 17 packets 24100 B, 8 drops
	culprit a 100% of 24000 B, 8 drops
	victim b 1 packets +204 us, max 204 us
`,
		},
		{
			"samples twice", quiet + "1000 a 1000 x15 twice\n1400 z 100",
			`1/2/0 1000.0-1072.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B
	culprit a 100% of 14000 B
`,
		},
		{
			"some reports lost", quiet + "1000 a 1000 x10 +1\n1011 b 1000 x2 +1 lost\n1020 a 1000 x10 +1\n1400 z 100",
			`1/2/0 1021.0-1144.0 us, peak 18000 B +139 us at 1029.0, 17 packets 17000 B, complete 0.89
	culprit a 100% of 17000 B
`,
		},
		{
			"the only end is silence", quiet + "1000 a 1000 x15\n9000 z 100",
			`1/2/0 1000.0-1072.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B
	culprit a 100% of 14000 B
`,
		},
		{
			"not over", quiet + "1000 a 1000 x15",
			`1/2/0 1000.0-1000.0 us, peak 14000 B +112 us at 1000.0, 14 packets 14000 B, open
	culprit a 100% of 14000 B
`,
		},
		{
			"one in four", quiet + "1000 a 1000 x12 +1 1/4\n1012 b 1000 x12 +1 1/4\n1800 z 100 x9 +9 1/4",
			`1/2/0 1015.0-1153.3 us, peak 21000 B +161 us at 1023.0, 24 packets 24000 B, complete 0.25, slack 4/673 us
	culprit a 50% of 12000 B
	culprit b 50% of 12000 B
`,
		},
		{
			"no depth", "0 z 100 x20 +20 bare\n1000 a 1000 x15 bare\n1000 b 100 bare\n1200 z 100 bare",
			`1/2/0 1000.0-1080.0 us, peak 0 B +120 us at 1000.0, 16 packets 15100 B, slack 0/120 us
	culprit a 99% of 15000 B
	victim b 1 packets +120 us, max 120 us
`,
		},
	} {
		got := burstText(play(NewSearch(testBurstConfig()), burstScript(t, 25_000, c.in)))
		if got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// TestBurstsAtOnce has a packet come at the very moment at which another one leaves the queue, and find it there still.
// A clock that drifts shows what packets spend behind the queue as a nanosecond more or less, so that it seems to have
// left before. No packet was unseen.
func TestBurstsAtOnce(t *testing.T) {
	samples := burstScript(t, 25_000, "0 z 100 x20 +20\n1000 a 1000 x15\n1024 y 100\n1032 z 100\n1200 z 100")
	for i := range samples {
		s := &samples[i]
		switch {
		case s.Flow == 'a' && s.OutNs == 1e9+1_025_000: // which y finds gone
			s.OutNs++
		case s.InNs == 1e9+1_032_000:
			s.Depth += 1000
		}
	}
	const want = `1/2/0 1000.0-1080.0 us, peak 14000 B +112 us at 1000.0, 16 packets 14200 B
	culprit a 100% of 14000 B
	victim y 1 packets +96 us, max 96 us
	victim z 1 packets +88 us, max 88 us
`
	if got := burstText(play(NewSearch(testBurstConfig()), samples)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// playScript plays what a script says.
func playScript(t *testing.T, b *Search, in string) string {
	return burstText(play(b, burstScript(t, 25_000, in)))
}

// wave is a burst of three flows about every 20 ms, which now and then drops packets, and quiet in between.
func wave(t *testing.T) []Sample {
	var text strings.Builder
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		at := i * 20_000
		fmt.Fprintf(&text, "%d z 100 x20 +%d\n", at, 20+r.IntN(50))
		for flow := range 3 {
			fmt.Fprintf(&text, "%d %c %d x%d +%d\n", at+3000+r.IntN(20), 'a'+flow, 500+r.IntN(1000), 8+r.IntN(8),
				1+r.IntN(4))
		}
		fmt.Fprintf(&text, "%d z 100 x50 +10\n", at+3000)
	}
	return burstScript(t, 25_000, text.String())
}

// The order in which reports come, within what is allowed, and reports that come twice change nothing.
func TestBurstsReordered(t *testing.T) {
	samples := wave(t)
	want := play(NewSearch(testBurstConfig()), samples)
	if len(want) < 30 {
		t.Fatalf("%d bursts only", len(want))
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		type report struct {
			Sample
			atNs uint64
		}
		var reports []report
		twice := uint64(0)
		for _, s := range samples {
			reports = append(reports, report{s, max(s.InNs, s.OutNs) + r.Uint64N(700_000)})
			if r.IntN(10) == 0 {
				twice++
				reports = append(reports, report{s, max(s.InNs, s.OutNs) + r.Uint64N(700_000)})
			}
		}
		slices.SortFunc(reports, func(a, b report) int { return int(a.atNs) - int(b.atNs) })
		b := NewSearch(testBurstConfig())
		for i := range reports {
			b.Observe(&reports[i].Sample)
			b.Advance(int64(reports[i].atNs))
		}
		b.Finish()
		if got := b.Take(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got\n%swant\n%s", seed, burstText(got), burstText(want))
		}
		if c := b.Counters(); c.Duplicates != twice || c.Late != 0 {
			t.Errorf("seed %d: %d twice, %+v", seed, twice, c)
		}
	}
}

// A sample that comes too late changes nothing of what is over.
func TestBurstsLate(t *testing.T) {
	const before, behind = "0 z 100 x20 +20\n1000 a 1000 x15\n", "5000 z 100 x20 +20\n"
	want := playScript(t, NewSearch(testBurstConfig()), before+behind)
	b := NewSearch(testBurstConfig())
	got := playScript(t, b, before+"1001 b 1000 x3 late\n1030 b 1400 late\n"+behind)
	// The late ones held the link for as long as they needed.
	if c := b.Counters(); c.Late != 4 || c.Bursts != 1 || !strings.HasPrefix(got, "1/2/0 1000.0-1") ||
		strings.Contains(got, " b ") {
		t.Errorf("%+v, got\n%swithout the late ones\n%s", c, got, want)
	}
}

// A burst that goes on for longer than there is room loses every other sample, and stays one burst with the right
// bytes.
func TestBurstsThinned(t *testing.T) {
	config := testBurstConfig()
	config.MaxSamples = 1024
	b := NewSearch(config)
	got := play(b,
		burstScript(t, 25_000,
			"0 z 100 x20 +20\n1000 a 1000 x20\n1010 a 1000 x10000 +16\n1014 b 500 x20000 +8\n180000 z 100 x9 +9"))
	c := b.Counters()
	if len(got) != 1 || c.Thinned == 0 || c.SamplesHeld != 0 || c.Early == 0 {
		t.Fatalf("%+v, got\n%s", c, burstText(got))
	}
	r := got[0]
	const seconds = 0.16
	if bytes := float64(r.Bytes); bytes < 0.8*125e6*seconds || bytes > 1.2*125e6*seconds || r.Complete > 0.1 ||
		r.StartNs != 1e9+1000e3 || len(r.Timeline) > config.MaxPoints {
		t.Errorf("%+v, got\n%s", c, burstText(got))
	}
}

// The clock of a node: a report of another time is not believed; three that agree are.
func TestBurstsClock(t *testing.T) {
	const year = 365 * 86400 * 1e9
	samples := wave(t)
	half := len(samples) / 2
	want := play(NewSearch(testBurstConfig()), samples)
	for _, c := range []struct {
		name          string
		by            uint64 // how much the clock is wrong
		samples       int    // of so many samples
		strays, jumps int
	}{
		{"one report of another year", year, 1, 1, 0},
		{"two reports of the year before", 1<<64 - year, 2, 2, 0},
		{"set to next year", year, len(samples) - half, straysToJump - 1, 1},
		{"set back by a second", 1<<64 - 900e6, len(samples) - half, straysToJump - 1, 1},
	} {
		config := testBurstConfig()
		config.JumpNs = 100e6
		b := NewSearch(config)
		now := uint64(0)
		for i, s := range samples {
			now = max(now, s.InNs, s.OutNs)
			if i >= half && i < half+c.samples {
				s.InNs += c.by
				s.OutNs += c.by
			}
			b.Observe(&s)
			b.Advance(int64(now))
		}
		b.Finish()
		got, counters := b.Take(), b.Counters()
		if len(got) != len(want) || counters.ClockJumps != uint64(c.jumps) || counters.Stray != uint64(c.strays) ||
			counters.Late != 0 {
			t.Errorf("%s: %d bursts, want %d; %+v", c.name, len(got), len(want), counters)
		}
	}
}

// Stamps of 48 bits begin again at 0 in the middle of a burst, which stays one.
func TestBurstsWrapped(t *testing.T) {
	samples := wave(t)
	want := play(NewSearch(testBurstConfig()), samples)
	const bits = 1<<48 - 1
	by := bits - want[len(want)/2].PeakNs
	now := uint64(0)
	b := NewSearch(testBurstConfig())
	for _, s := range samples {
		now = max(now, s.InNs, s.OutNs)
		s.InNs, s.OutNs = (s.InNs+by)&bits, (s.OutNs+by)&bits
		b.Observe(&s)
		b.Advance(int64(now))
	}
	b.Finish()
	got, c := b.Take(), b.Counters()
	if len(got) != len(want) || c.Stray+c.Late+c.Impossible+c.ClockJumps != 0 {
		t.Fatalf("%d bursts, want %d; %+v", len(got), len(want), c)
	}
	for i := range got {
		g, w := &got[i], &want[i]
		if g.EndNs-g.StartNs != w.EndNs-w.StartNs || g.Packets != w.Packets || g.Peak != w.Peak {
			t.Errorf("burst %d: got %d to %d, %d packets, want %d to %d, %d", i, g.StartNs, g.EndNs, g.Packets,
				w.StartNs, w.EndNs, w.Packets)
		}
	}
}

// TestBurstsOfTwoWraps: of a node whose stamps have 31 bits in records of its packets and 32 bits in headers of its
// reports, bursts are as long and as high as with stamps that never begin again.
func TestBurstsOfTwoWraps(t *testing.T) {
	samples := wave(t)
	want := play(NewSearch(testBurstConfig()), samples)
	b := NewSearch(testBurstConfig())
	now := uint64(0)
	by := uint64(1<<32) - want[len(want)/2].PeakNs
	for i, s := range samples {
		now = max(now, s.InNs, s.OutNs)
		s.WrapNs, s.ArrivalNs = 1<<(31+i%2), int64(now)
		s.InNs, s.OutNs = (s.InNs+by)%s.WrapNs, (s.OutNs+by)%s.WrapNs
		b.Observe(&s)
		b.Advance(int64(now))
	}
	b.Finish()
	got, c := b.Take(), b.Counters()
	if len(got) != len(want) || c.Stray+c.Late+c.Impossible+c.ClockJumps != 0 {
		t.Fatalf("%d bursts, want %d; %+v", len(got), len(want), c)
	}
	for i := range got {
		g, w := &got[i], &want[i]
		if g.EndNs-g.StartNs != w.EndNs-w.StartNs || g.Packets != w.Packets || g.Peak != w.Peak {
			t.Errorf("burst %d: got %d to %d, %d packets, want %d to %d, %d", i, g.StartNs, g.EndNs, g.Packets,
				w.StartNs, w.EndNs, w.Packets)
		}
	}
}

// A queue whose usual length is above the least threshold has bursts only where it is longer than usual.
func TestBurstsBaseline(t *testing.T) {
	config := testBurstConfig()
	config.AboveBytes, config.BelowBytes, config.MinAboveBytes = 0, 0, 10_000
	b := NewSearch(config)
	var samples []Sample
	r := rand.New(rand.NewPCG(1, 1))
	for i := range uint64(60_000) { // a minute, a sample each ms
		depth := uint32(4000 + r.IntN(2000))
		if i > 1000 && i < 59_000 {
			depth += 10_000 // this is how it is, from now on
		}
		if i >= 40_000 && i < 40_010 {
			depth = 60_000
		}
		in := 1e9 + i*1e6
		samples = append(samples,
			Sample{
				Node: 1, Port: 2, Has: SampleIn | SampleOut | SampleDepth, InNs: in,
				OutNs: in + 1000 + 8*uint64(depth), Depth: depth, Unit: codepoint.UnitBytes,
				Bytes: 500, Flow: 'a', Packet: i,
			})
	}
	got := play(b, samples)
	if len(got) != 10 || got[0].StartNs != 1e9+40_000e6 || got[9].StartNs != 1e9+40_009e6 ||
		got[0].Above < 15_000 || got[0].Above > 30_000 {
		t.Errorf("got\n%s", burstText(got))
	}
}

// The number of queues is bounded. Quiet ones give way; what finds no place is counted.
func TestBurstsBounds(t *testing.T) {
	config := testBurstConfig()
	config.MaxQueues, config.MaxSamples, config.MaxBursts = 8, 256, 3
	b := NewSearch(config)
	for i := range uint64(1000) {
		in := 1e9 + i*100_000
		b.Observe(&Sample{Node: uint32(i % 100), Port: 1, Has: SampleIn | SampleDepth, InNs: in, Bytes: 100})
		b.Advance(int64(in))
	}
	c := b.Counters()
	if c.Queues != 8 || len(b.clocks) > 8 || c.Evicted == 0 || c.Overflow == 0 || c.Observed != 1000 {
		t.Errorf("%+v", c)
	}
	b = NewSearch(config)
	got := play(b, wave(t))
	if c := b.Counters(); len(got) != 3 || c.Bursts != 3+c.LeftBursts || c.LeftBursts < 20 {
		t.Errorf("%d bursts, %+v", len(got), c)
	}
	b = NewSearch(config)
	b.Observe(&Sample{Has: SampleDepth})
	b.Observe(&Sample{Has: SampleOut, OutNs: 5})
	b.Observe(&Sample{Has: SampleIn | SampleOut, InNs: 6, OutNs: 5})
	b.Observe(&Sample{Has: SampleOut | SampleLatency, LatencyNs: 6, OutNs: 5})
	b.Observe(&Sample{Has: SampleIn | SampleLatency, InNs: 6, LatencyNs: 5e9})
	b.Observe(&Sample{Node: 77, Has: SampleDepth | SampleLatency, Depth: 1 << 20})
	if c := b.Counters(); c.Untimed != 3 || c.Impossible != 3 || c.Queues != 1 {
		t.Errorf("%+v", c)
	}
}

// Open shows a burst while it lasts; Advance ends it when its queue stays silent, but not if the process only stood
// still.
func TestBurstsOpen(t *testing.T) {
	config := testBurstConfig()
	config.LatenessNs = 200e6
	b := NewSearch(config)
	samples := burstScript(t, 25_000, "0 z 100 x20 +20\n1000 a 1000 x15\n")
	now := int64(7e18)
	for i := range samples {
		b.Observe(&samples[i])
	}
	b.Advance(now)
	b.Advance(now + 3600e9) // counts for 150 ms
	if n := len(b.Open(1<<10)) + len(b.Take()); n != 0 {
		t.Fatalf("%d bursts before their time", n)
	}
	b.Advance(now + 3600e9 + 50e6)
	if got := burstText(b.Open(1 << 10)); !strings.Contains(got, "1000.0-1000.0 us") ||
		!strings.Contains(got, "open") || len(b.Take()) != 0 {
		t.Errorf("got\n%s", got)
	}
	b.Advance(now + 3600e9 + 150e6)
	if got := burstText(b.Take()); !strings.Contains(got, "1000.0-1072.0 us") || len(b.Open(1<<10)) != 0 {
		t.Errorf("got\n%s", got)
	}
}

func TestBurstsNoAllocs(t *testing.T) {
	if test.RaceDetector {
		t.Skip("the race detector changes what is allocated")
	}
	samples, lengthNs := quietSamples(64)
	b := NewSearch(testBurstConfig())
	observe := func() {
		for i := range samples {
			b.Observe(&samples[i])
			samples[i].InNs += lengthNs
			samples[i].OutNs += lengthNs
			if i%1000 == 0 {
				b.Advance(int64(samples[i].InNs))
			}
		}
	}
	observe()
	if n := testing.AllocsPerRun(3, observe); n != 0 {
		t.Errorf("%v allocations for %d samples", n, len(samples))
	}
}

func FuzzBursts(f *testing.F) {
	f.Add([]byte("\x00\x10\x20\x30\x40\x50\x60\x70\x80\x90"))
	f.Fuzz(func(t *testing.T, in []byte) {
		config := testBurstConfig()
		config.MaxQueues, config.MaxSamples, config.MaxPoints, config.MaxFlows, config.LatenessNs, config.JumpNs = 4,
			64, 4, 2, 100, 1<<20
		config.AboveBytes, config.BelowBytes, config.AboveNs, config.BelowNs = 1000, 500, 300, 100
		bursts := NewSearch(config)
		now := uint64(1 << 40)
		for len(in) >= 6 {
			now += uint64(in[0]) << (in[1] % 12)
			s := Sample{
				Node: uint32(in[1] & 3),
				Has:  SampleFields(in[2]) & (SampleIn | SampleOut | SampleLatency | SampleDepth | SampleDropped),
				InNs: now - uint64(in[3]), OutNs: now + uint64(in[3]), LatencyNs: uint64(in[3]) << (in[0] % 40),
				Depth: uint32(in[4]) * 20, Unit: codepoint.UnitBytes,
				Bytes: uint32(in[5]) << (in[0] & 31), Flow: FlowRef(in[5]), Source: uint32(in[4]),
				Packet: uint64(in[0]), Every: uint32(in[2]>>5) << (in[1] & 31),
			}
			bursts.Observe(&s)
			if in[0]&7 == 0 {
				bursts.Advance(int64(now))
			}
			in = in[6:]
		}
		for _, list := range [][]Burst{bursts.Open(1 << 10), bursts.Take()} {
			checkBursts(t, &config, list)
		}
		bursts.Finish()
		checkBursts(t, &config, bursts.Take())
		c := bursts.Counters()
		if c.SamplesHeld != 0 || c.Observed < c.Untimed+c.Impossible+c.Late+c.Stray+c.Overflow {
			t.Errorf("%+v", c)
		}
	})
}

func checkBursts(t *testing.T, config *Config, list []Burst) {
	for i := range list {
		r := &list[i]
		if r.EndNs < r.StartNs || r.PeakNs < r.StartNs || r.Samples == 0 || len(r.Culprits) > config.MaxFlows ||
			len(r.Victims) > config.MaxFlows ||
			len(r.Timeline) != min(config.MaxPoints, r.Samples) || r.Complete < 0 || r.Complete > 1 ||
			r.MainSources > r.Sources {
			t.Errorf("%+v", *r)
		}
	}
}
