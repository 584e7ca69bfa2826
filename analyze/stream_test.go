package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A streamScript gives a shard the reports of a sink, one for each word, a tenth of a millisecond apart:
//
//	100+50    data of a connection, from sequence number 100 on, 50 bytes
//	!100+50   a node on the way says that it dropped these
//	@20       20 ms pass
//	/2        from here on packets take path 2
//	#2        the same, of flow 2
//
// Sequence numbers count from a start that makes them wrap.
type streamScript struct {
	shard      *Shard
	nowNs      int64
	path, flow uint32
}

func newStreamScript() *streamScript {
	return &streamScript{
		shard: NewShard(Config{MaxFlows: 100, MaxPaths: 100, MaxDrops: 10, MaxQueues: 10, JoinPlaces: 16}),
		nowNs: second, path: 1, flow: 1,
	}
}

func (s *streamScript) run(t *testing.T, text string) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		var n, from, length int
		dropped := strings.HasPrefix(word, "!")
		rest := strings.TrimPrefix(word, "!")
		if _, err := fmt.Sscanf(rest, "%d+%d", &from, &length); err == nil {
			s.report(uint32(from), uint32(length), dropped)
		} else if _, err := fmt.Sscanf(rest[1:], "%d", &n); err != nil {
			t.Fatal(word)
		}
		switch rest[0] {
		case '@':
			s.nowNs += int64(n) * 1e6
		case '/':
			s.path = uint32(n)
		case '#':
			s.flow = uint32(n)
		}
	}
}

func (s *streamScript) report(from, length uint32, dropped bool) {
	const start = 1<<32 - 350
	r := telemetry.Report{
		Flags:      telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked,
		Flow:       telemetry.FlowKey{Protocol: 6, SrcPort: uint16(s.flow), DstPort: 80},
		StreamFrom: start + from, StreamTo: start + from + length,
	}
	for node := range uint32(3) {
		r.Hops = append(r.Hops,
			telemetry.Hop{Has: telemetry.HasNode | telemetry.HasEgressPort, NodeID: node + 1, EgressPort: s.path})
	}
	if dropped {
		r.Flags |= telemetry.Dropped
		r.Hops = r.Hops[:1]
		r.Local = telemetry.Hop{Has: telemetry.HasNode | telemetry.HasDrop, NodeID: 2}
	}
	s.nowNs += 1e5
	s.shard.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, s.nowNs)
}

// counts says what came and was lost on each path, by its egress port.
func (s *streamScript) counts() string {
	var list []string
	for i := range s.shard.paths.paths {
		p := &s.shard.paths.paths[i]
		if c := &p.sinceScan.streams; c.Any() {
			list = append(list,
				fmt.Sprintf("/%d %d in order, %d lost by %d", p.hops[0].Out, c.Arrived, c.Lost, c.Flows))
		}
	}
	return strings.Join(list, "; ")
}

func TestStreams(t *testing.T) {
	const ten = "0+100 100+100 200+100 300+100 400+100 500+100 600+100 700+100 800+100 900+100 "
	for _, c := range []struct{ name, text, want string }{
		{"nothing lost", ten, "/1 8 in order, 0 lost by 0"},
		{"sent again after three", ten + "1100+100 1200+100 1300+100 1000+100 1400+100", "/1 12 in order, 1 lost by 1"},
		{"sent again after a timeout", ten + "1100+100 @200 1000+100", "/1 9 in order, 1 lost by 1"},
		{"overtaken by two", ten + "1100+100 1200+100 1000+100 1300+100", "/1 11 in order, 0 lost by 0"},
		{
			"never sent again: the report was lost", ten + "1100+100 1200+100 1300+100 @200 1400+100",
			"/1 12 in order, 0 lost by 0",
		},
		{"sent again too late", ten + "1100+100 @4001 1000+100", "/1 9 in order, 0 lost by 0"},
		{"two in a row", ten + "1200+100 1300+100 1400+100 1000+100 1500+100 1100+100", "/1 12 in order, 2 lost by 1"},
		{
			"two in a row, the second one first", ten + "1200+100 1300+100 1400+100 1100+100 1000+100",
			"/1 11 in order, 2 lost by 1",
		},
		{"two, apart", ten + "1100+100 1300+100 1400+100 1500+100 1000+100 1200+100", "/1 12 in order, 2 lost by 1"},
		{
			"five holes, of which four fit", ten + "@1 1100+100 1300+100 1500+100 1700+100 1900+100" +
				" 2000+100 2100+100 2200+100 2300+100 2400+100 2500+100 2600+100 2700+100 2800+100 2900+100 3000+100 1000+100 1200+100 1400+100 1600+100 1800+100",
			"/1 24 in order, 4 lost by 1",
		},
		{
			"sent twice, and all of it from there",
			ten + "1100+100 1200+100 1300+100 1000+100 1000+100 1100+100 1200+100 1300+100 1400+100",
			"/1 12 in order, 1 lost by 1",
		},
		{"sent again without need", ten + "@200 900+100 800+100 1000+100", "/1 9 in order, 0 lost by 0"},
		{"sent again with more behind it", ten + "900+200 1100+100", "/1 9 in order, 0 lost by 0"},
		{"a byte to see who is there", ten + "999+1 @1000 999+1 1000+100", "/1 9 in order, 0 lost by 0"},
		{"no data", ten + "1000+0 1000+0 1000+0", "/1 8 in order, 0 lost by 0"},
		{
			"a node said so", ten + "!1000+100 1100+100 1200+100 1300+100 1000+100 1400+100",
			"/1 12 in order, 0 lost by 0",
		},
		{
			"a node said so of another one",
			ten + "!1000+100 1100+100 1200+100 1300+100 1500+100 1000+100 1600+100 1700+100 1400+100",
			"/1 14 in order, 1 lost by 1",
		},
		{"a new connection", ten + "500000000+1 500000001+100 500000101+100", "/1 10 in order, 0 lost by 0"},
		{
			"one in three is reported",
			"0+100 300+100 600+100 900+100 1200+100 1500+100 1800+100 @200 1300+100 1600+100",
			"/1 5 in order, 2 lost by 1", // of six holes; see TestStreamsWithHoles
		},
		{
			"one in two is lost",
			"0+100 100+100 300+100 400+100 600+100 700+100 900+100 1000+100 @200 200+100 500+100 800+100",
			"/1 6 in order, 3 lost by 1",
		},
		{
			"another path", ten + "/2 1100+100 1200+100 1300+100 1000+100 1400+100",
			"/1 8 in order, 0 lost by 0; /2 3 in order, 0 lost by 0",
		},
		{
			"lost in front of another path", ten + "1100+100 1200+100 1300+100 /2 1000+100 1400+100 1500+100",
			"/1 11 in order, 1 lost by 1; /2 2 in order, 0 lost by 0",
		},
		{
			"two flows", "#1 " + ten + "1100+100 #2 " + ten +
				"1100+100 @200 #1 1000+100 #2 1000+100 #1 1200+100 1400+100 @200 1300+100",
			"/1 20 in order, 3 lost by 3",
		},
		{"replayed", ten + ten + "1000+100", "/1 9 in order, 0 lost by 0"},
	} {
		s := newStreamScript()
		s.run(t, c.text)
		if got := s.counts(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// streamReports are those of flows flows, n packets with data each; one in 50 is lost, and comes again later.
func streamReports(flows, n int, data bool) []telemetry.Report {
	var list []telemetry.Report
	hops := make([]telemetry.Hop, 3)
	for i := range hops {
		hops[i] = telemetry.Hop{Has: telemetry.HasNode | telemetry.HasEgressPort, NodeID: uint32(i + 1), EgressPort: 1}
	}
	for i := range uint32(n) {
		sent := []uint32{i}
		switch i % 50 {
		case 10:
			sent = nil
		case 20:
			sent = append(sent, i-10)
		}
		for _, at := range sent {
			for flow := range flows {
				r := telemetry.Report{
					Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked,
					Flow:  telemetry.FlowKey{Protocol: 6, SrcPort: uint16(flow), DstPort: 80}, Hops: hops,
				}
				if data {
					r.StreamFrom, r.StreamTo = 1000*at, 1000*at+1000
				}
				list = append(list, r)
			}
		}
	}
	return list
}

func TestStreamsNoAllocs(t *testing.T) {
	s := newStreamScript()
	batch := telemetry.Batch{Reports: streamReports(20, 100, true)}
	s.shard.Process(&batch, second)
	now := second
	if allocs := testing.AllocsPerRun(10, func() {
		now += 1e6
		s.shard.Process(&batch, now)
	}); allocs != 0 {
		t.Errorf("got %v allocations for %d reports, want 0", allocs, len(batch.Reports))
	}
	if s.shard.paths.paths[0].sinceScan.streams.Lost == 0 {
		t.Error("nothing was lost: that proves little")
	}
}

// BenchmarkStreams is what a shard does with a report of three hops, of packets of TCP with data and without.
func BenchmarkStreams(b *testing.B) {
	for _, data := range []bool{false, true} {
		b.Run(fmt.Sprintf("data=%v", data), func(b *testing.B) {
			shard := NewShard(DefaultConfig())
			batch := telemetry.Batch{Reports: streamReports(1000, 100, data)}
			b.ReportAllocs()
			now := second
			for b.Loop() {
				now += 1e6
				shard.Process(&batch, now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(batch.Reports)), "ns/report")
		})
	}
}
