package node

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// Drops of one flow are reported once and then once per period, if that is configured.
func TestDropEvents(t *testing.T) {
	c := newChain(t, 1, "drop_events: {period: 1s}\n")
	n := c.nodes[0]
	reports := 0
	for i := range 1000 {
		var s State
		n.Arrive(tcp(), Ingress{Port: 1, TimeNs: uint64(i) * 5e6}, &s)
		n.Drop(tcp(), &s, Drop{Reason: 29, TimeNs: uint64(i) * 5e6}, &c.output)
		reports += len(c.output.Reports)
	}
	if reports != 5 || n.stats.Count[DropsSuppressed] != 995 {
		t.Errorf("%d reports of 1000 drops in 5 s", reports)
	}
}

// A sink reports events: a new flow, another path, another latency, a period, the end; an entry may ask for everything.
func TestEvents(t *testing.T) {
	c := newChain(t, 3, "events: {latency_quantum: 4096ns, period: 1s}\nqueues: []\n")
	middle := c.nodes[1]
	send := func(what string, frame []byte, want int) {
		t.Helper()
		c.send(frame)
		if len(c.reports) != want {
			t.Errorf("%s: %d reports, want %d", what, len(c.reports), want)
		}
	}
	send("new flow", tcp(), 1)
	send("the same again", tcp(), 0)
	c.nodes[1] = newNode(t, "", testSpec(7, false, false))
	send("another path", tcp(), 1)
	c.nodes[1] = middle
	send("and back", tcp(), 1)
	c.now += 2e9
	send("period", tcp(), 1)
	end := tcp()
	end[14+20+13] |= 1 // FIN
	send("end", end, 1)
	send("another flow", udp(), 1)
	c = newChain(t, 3, "watch: [{report_all: true}]\n")
	for range 5 {
		send("all", tcp(), 1)
	}
}

// A packet that met a congested queue is reported by the node whose queue it is, with Q and without INT; a quota bounds
// that.
func TestQueueReports(t *testing.T) {
	const text = "queues: [{trigger: 10kB, reset: 5kB, quota: 3}, {port: 1, trigger: 1kB}]\nevents: {latency_quantum: 0s}\n"
	c := newChain(t, 3, text)
	bytesAt1 := uint64(0)
	c.egress = func(i int) Egress {
		e := Egress{Port: 2, MTU: 9000}
		if i == 1 {
			e.QueueBytes = bytesAt1
		}
		return e
	}
	c.send(tcp()) // new flow
	counts := []int{}
	for _, depth := range []uint64{9000, 10000, 9000, 20000, 9000, 5000, 6000, 10000} {
		bytesAt1 = depth
		c.send(tcp())
		counts = append(counts, len(c.reports))
		for i := range c.reports {
			r := &c.reports[i]
			if r.NodeID != 2 || !r.Is(telemetry.Congested) || r.Is(telemetry.Embedded) ||
				uint64(r.Local.QueueOccupancy) != depth || !r.Is(telemetry.HasFlow) {
				t.Errorf("%+v", r)
			}
		}
	}
	want := []int{0, 1, 1, 1, 0, 0, 0, 1}
	for i := range want {
		if counts[i] != want[i] {
			t.Errorf("got %v reports, want %v", counts, want)
			break
		}
	}
	if n := c.nodes[1].stats.Count; n[CongestionBegan] != 2 || n[CongestionEnded] != 1 {
		t.Errorf("%v", n)
	}
}

// A flow that goes quiet ends: it is counted, and new when it comes back.
func TestFlowsEnd(t *testing.T) {
	c := newChain(t, 1, "events: {flows: 16, idle: 1s}\n")
	n := c.nodes[0]
	c.send(tcp())
	if n.Stats().Flows != 1 {
		t.Errorf("%+v", n.Stats())
	}
	c.now += 2e9
	for range 100 {
		n.Tick(c.now, &c.output)
	}
	if s := n.Stats(); s.Flows != 0 || s.Count[FlowEnded] != 1 {
		t.Errorf("%+v", s)
	}
	if c.send(tcp()); len(c.reports) != 1 {
		t.Errorf("%+v", c.reports)
	}
}
