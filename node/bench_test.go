package node

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
)

// A stage is a node and the packet that comes to it, as a benchmark or a test without allocations repeats it.
type stage struct {
	node  *Node
	frame []byte
	in    Ingress
	out   Egress
	state State
	got   Output
}

func newStage(t testing.TB, text string, length, at int, frame []byte) *stage {
	c := newChain(t, length, text)
	c.send(frame)
	if at > 0 {
		frame = c.links[at-1]
	}
	s := &stage{node: c.nodes[at], frame: append([]byte(nil), frame...)}
	s.in, s.out = Ingress{Port: 1, TimeNs: c.now},
		Egress{Port: 2, QueueBytes: 100, EnqueuedNs: c.now + 50, DepartedNs: c.now + 800, Bps: 1e9, MTU: 9000}
	return s
}

func (s *stage) process() {
	s.in.TimeNs += 1000
	s.out.EnqueuedNs += 1000
	s.out.DepartedNs += 1000
	s.node.Process(s.frame, s.in, func(*State) Egress { return s.out }, &s.state, &s.got)
}

// Processing a packet allocates nothing, whatever the role and whether it is reported.
func TestNoAllocs(t *testing.T) {
	const all = "watch: [{report_all: true}]\n"
	for _, test := range []struct {
		name, text string
		length, at int
	}{
		{"source", "", 3, 0},
		{"transit", "", 3, 1},
		{"sink", "", 3, 2},
		{"sink that reports all", all, 3, 2},
		{"sink in stack", all + "sink: in_stack\n", 3, 2},
		{"sink separate", all + "sink: separate\n", 3, 2},
		{"turn", all, 1, 0},
		{"xd", all + "mode: xd\n", 3, 1},
		{"mx source", all + "mode: mx\n", 3, 0},
		{"mx transit", all + "mode: mx\n", 3, 1},
		{"congested", "queues: [{trigger: 10B}]\n", 3, 1},
		{"coalesced", all + "reports: {coalesce: 1ms}\n", 3, 2},
		{"new udp", all + "carrier: new-udp\n", 3, 2},
		{"sampled", "watch: [{sample: 3}]\n", 3, 0},
		{"copies", "version: 1.0\nreplicas: both\nreplicate: true\n", 3, 1},
		{"slow path", "version: 0.5\nslow_path: true\n", 3, 1},
	} {
		s := newStage(t, test.text, test.length, test.at, tcp())
		for range 10 {
			s.process()
		}
		if n := testing.AllocsPerRun(200, s.process); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
		if n := testing.AllocsPerRun(200, func() {
			s.node.Drop(s.frame, &s.state, Drop{Place: PlaceQueue, Port: 2, TimeNs: s.out.DepartedNs}, &s.got)
		}); n != 0 {
			t.Errorf("%s, drop: %v allocations", test.name, n)
		}
	}
}

func benchmark(b *testing.B, text string, at int) {
	s := newStage(b, text, 5, at, packets.Shape{Kind: packets.TCP, Payload: 1000}.Frame(newRand()))
	b.ReportAllocs()
	for b.Loop() {
		s.process()
	}
}

// The benchmarks are one packet of 1054 bytes at one of 5 nodes of INT-MD 2.1 with the usual instructions.
func BenchmarkNodeSource(b *testing.B)     { benchmark(b, "", 0) }
func BenchmarkNodeTransit(b *testing.B)    { benchmark(b, "", 3) }
func BenchmarkNodeSink(b *testing.B)       { benchmark(b, "", 4) }
func BenchmarkNodeSinkReport(b *testing.B) { benchmark(b, "watch: [{report_all: true}]\n", 4) }
func BenchmarkNodePostcard(b *testing.B)   { benchmark(b, "mode: xd\nwatch: [{report_all: true}]\n", 2) }
