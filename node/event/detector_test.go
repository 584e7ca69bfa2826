package event

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// run gives a script to a Detector and compares what it says. A line is
//
//	TIME FLOW KEY=VALUE... FLAG...   -> REASONS
//	TIME sweep                       -> END; END
//
// with the keys in, out, path and lat and the flags start, end and all. A packet keeps what the last one of its flow
// had, as far as it does not say otherwise. Ends stand behind the reasons.
func run(t *testing.T, c Config, script string) {
	t.Helper()
	var ended []string
	c.Ended = func(e End) {
		what := "ended"
		if e.Forgotten {
			what = "forgot"
		}
		ended = append(ended, fmt.Sprintf("%s %c at %d", what, rune(e.Flow), e.LastNs))
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]Observation{}
	for line := range strings.Lines(script) {
		input, want, ok := strings.Cut(strings.TrimSpace(line), "->")
		if !ok {
			continue
		}
		words := strings.Fields(input)
		now, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		ended = nil
		var got []string
		if words[1] == "sweep" {
			d.Sweep(now, d.Buckets())
		} else {
			o := last[words[1]]
			o.Flow, o.NowNs, o.Start, o.End, o.ReportAll = uint64(words[1][0]), now, false, false, false
			for _, word := range words[2:] {
				set(t, &o, word)
			}
			last[words[1]] = o
			got = append(got, d.Observe(&o).String())
		}
		if got := strings.Join(append(got, ended...), "; "); got != strings.TrimSpace(want) {
			t.Errorf("%s:\ngot %s", strings.TrimSpace(line), got)
		}
	}
}

func set(t *testing.T, o *Observation, word string) {
	t.Helper()
	key, value, _ := strings.Cut(word, "=")
	n, _ := strconv.ParseUint(value, 10, 32)
	switch key {
	case "in":
		o.IngressPort = uint32(n)
	case "out":
		o.EgressPort = uint32(n)
	case "path":
		o.Path = n
	case "lat":
		o.LatencyNs = n
	case "start":
		o.Start = true
	case "end":
		o.End = true
	case "all":
		o.ReportAll = true
	default:
		t.Fatalf("unknown word %q", word)
	}
}

func TestDetectorFlowState(t *testing.T) {
	run(t, Config{Flows: 64, LatencyQuantumNs: 256}, `
		0   a in=1 out=2 lat=100  -> new_flow
		1   a                     -> none
		2   b in=1 out=2 lat=100  -> new_flow
		3   a out=3               -> path_change
		4   a                     -> none
		5   a in=4                -> path_change
		6   a path=77             -> path_change
		7   a path=77             -> none
		8   a path=0 out=2        -> path_change
		9   b                     -> none
		10  a all                 -> all
		11  a out=3 lat=1000 all  -> path_change|latency_change|all`)
}

func TestDetectorLatency(t *testing.T) {
	run(t, Config{Flows: 64, LatencyQuantumNs: 256}, `
		0  a lat=0      -> new_flow
		1  a lat=255    -> none
		2  a lat=256    -> latency_change
		3  a lat=511    -> none
		4  a lat=4096   -> latency_change
		5  a lat=4096   -> none
		6  a lat=255    -> latency_change
		7  a lat=257    -> latency_change
		8  a lat=255    -> latency_change`) // the edge of a quantum
	run(t, Config{Flows: 64, LatencyQuantumNs: 1}, `
		0  a lat=7  -> new_flow
		1  a lat=8  -> latency_change
		2  a lat=8  -> none`)
	run(t, Config{Flows: 64}, `
		0  a lat=7        -> new_flow
		1  a lat=4000000  -> none`)
}

func TestDetectorPeriod(t *testing.T) {
	run(t, Config{Flows: 64, PeriodNs: 100}, `
		50   a        -> new_flow
		149  a        -> none
		150  a        -> period
		200  a out=1  -> path_change
		299  a        -> none
		300  a        -> period
		700  a        -> period
		701  a        -> none
		600  a        -> none
		801  a        -> period`) // 600: the clock went backwards
}

func TestDetectorEnd(t *testing.T) {
	run(t, Config{Flows: 64, IdleNs: 100}, `
		0    a start  -> new_flow
		10   a end    -> flow_end
		11   a end    -> none
		12   a        -> none
		20   a start  -> new_flow
		21   a end    -> flow_end
		30   b start end  -> new_flow|flow_end
		40   c        -> new_flow
		139  sweep    -> 
		140  sweep    -> ended c at 40
		141  sweep    -> 
		150  c        -> new_flow
		249  c        -> none
		349  c out=9  -> new_flow; ended c at 249
		350  c        -> none
		351  c start  -> new_flow
		352  c start  -> new_flow`) // the last one may be the same packet once more
}

func TestDetectorReset(t *testing.T) {
	run(t, Config{Flows: 64, ResetNs: 1000}, `
		100   a  -> new_flow
		900   b  -> new_flow
		999   a  -> none
		1000  a  -> new_flow
		1001  a  -> none
		1500  b  -> new_flow
		1999  b  -> none
		9000  a  -> new_flow
		9001  b  -> new_flow
		9002  b  -> none`)
}

func TestDetectorForgetsTheQuietestFlow(t *testing.T) {
	// Room for 16: in the long run, each new flow pushes out another one.
	c := Config{Flows: 16, IdleNs: 1000}
	forgotten := 0
	c.Ended = func(e End) {
		if !e.Forgotten {
			t.Errorf("flow %d: got its end, want it to be forgotten", e.Flow)
		}
		forgotten++
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for flow := range uint64(100) {
		if got := d.Observe(&Observation{Flow: flow, NowNs: flow}); got != NewFlow {
			t.Errorf("flow %d: got %s", flow, got)
		}
		if got := d.Observe(&Observation{Flow: flow, NowNs: flow}); got != 0 {
			t.Errorf("flow %d again: got %s, want it to be remembered", flow, got)
		}
	}
	if d.Flows() > 16 || d.Flows()+forgotten != 100 || d.Forgotten() != uint64(forgotten) {
		t.Errorf("got %d flows, %d of 100 forgotten by the callback, %d by the counter", d.Flows(), forgotten,
			d.Forgotten())
	}
	d.Sweep(5000, 0) // nothing is swept: no end
	if d.Flows() == 0 {
		t.Error("an empty sweep took flows away")
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		config Config
		want   string
	}{
		{Config{}, "flows: got 0, want 16 to 16777216"},
		{Config{Flows: 1<<24 + 1}, "flows: got 16777217, want 16 to 16777216"},
		{Config{Flows: 16, LatencyQuantumNs: 100}, "latency quantum: got 100 ns, want a power of two, or 0"},
	} {
		if _, err := New(tc.config); err == nil || err.Error() != tc.want {
			t.Errorf("%+v: got %v, want %s", tc.config, err, tc.want)
		}
	}
	if d, err := New(DefaultConfig()); err != nil || d.Buckets()*ways != 1<<16 {
		t.Errorf("default: got %v", err)
	}
}

func TestReasonString(t *testing.T) {
	for r, want := range map[Reason]string{
		0: "none", NewFlow: "new_flow", TailDrop | Drop | QueueCongestion: "queue_congestion|tail_drop|drop",
		1<<9 - 1: strings.Join(reasonNames[:], "|"),
	} {
		if got := r.String(); got != want {
			t.Errorf("%#x: got %s, want %s", uint16(r), got, want)
		}
	}
}
