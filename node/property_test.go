// Properties of whole paths: TestPathRestoresPacketsAndReportsTell.
package node

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// A walk is one packet on its way through a chain.
type walk struct {
	*chain
	text  string
	shape packets.Shape
	r     *rand.Rand
	seen  map[string]int
	size  int // of the packet as it came
}

// TestPathRestoresPacketsAndReportsTell sends random packets through random chains: what leaves the last sink equals
// what entered the first source byte for byte, but for TTL and MAC addresses, and what a collector decodes of the
// reports is what the nodes knew.
func TestPathRestoresPacketsAndReportsTell(t *testing.T) {
	seen := map[string]int{}
	type draw struct{ stream, seed uint64 }
	draws := make([]draw, 6000)
	for i := range draws {
		draws[i] = draw{11, uint64(i)}
	}
	draws = test.Part(t, draws, 4)
	rounds := len(draws)
	draws = append(draws, draw{19, 2449}, draw{21, 5364}, draw{29, 1901}, draw{19, 4926}) // only their id to tell
	for _, d := range draws {
		r := rand.New(rand.NewPCG(d.seed, d.stream))
		text, carrier := randomConfig(r)
		w := &walk{chain: newChain(t, 1+r.IntN(6), text), text: text, r: r, seen: seen, shape: packets.Random(r)}
		for i := 1; i < len(w.nodes)-1; i++ {
			if r.IntN(5) == 0 {
				w.nodes[i] = nil
			}
		}
		if r.IntN(10) == 0 {
			w.shape.DSCP = usualDSCP
		}
		w.now += r.Uint64N(1e12)
		w.egress = func(int) Egress {
			return Egress{
				Port: 2, Queue: uint8(r.IntN(8)), QueueBytes: r.Uint64N(1 << 26), BufferBytes: r.Uint64N(1 << 26),
				TxBps: r.Uint64N(1e10), Bps: 1e10, MTU: pick(r, 0, 9000, 1500, w.size+r.IntN(200)),
				Others: []Other{{Port: 3, SameHop: true}, {Port: 4, First: true}},
			}
		}
		switch carrier {
		case "vxlan-gpe":
			w.shape.Kind = pick(r, w.shape.Kind, packets.GPE, packets.VXLAN)
		case "geneve":
			w.shape.Kind = pick(r, w.shape.Kind, packets.Geneve, packets.Geneve)
		}
		for range 3 {
			w.once(carrier)
		}
		if t.Failed() {
			t.Fatalf("%+v, %d nodes\n%s", d, len(w.nodes), text)
		}
	}
	for version, list := range versionCarriers {
		for _, carrier := range list {
			if name := version + " " + carrier; seen[name] < rounds/200 {
				t.Errorf("%s: only %d packets with INT", name, seen[name])
			}
		}
	}
	for _, name := range []string{"mx", "xd", "md", "popped", "turned", "hops", "cleaned", "copied"} {
		if seen[name] < rounds/200 {
			t.Errorf("%s: only %d", name, seen[name])
		}
	}
	t.Logf("%v", seen)
}

func (w *walk) once(carrier string) {
	w.t.Helper()
	frame := w.shape.Frame(w.r)
	if at, ipv4 := ttlAt(frame); at > 0 {
		frame[at] = 0x40
		if ipv4 {
			sum := frame[at+2 : at+4]
			sum[0], sum[1] = 0, 0
			var h packet.IPv4
			if _, err := h.Decode(frame[at-8:]); err != nil {
				w.t.Fatal(err)
			}
			sum2 := h.HeaderChecksum()
			sum[0], sum[1] = byte(sum2>>8), byte(sum2)
		}
	}
	w.size = len(frame)
	w.mayCut = w.shape.Labels > 0
	before := w.counts()
	out := w.send(frame)
	after := w.counts()
	did := func(o Outcome) (nodes []uint32) {
		for id, now := range after {
			if now.Count[o] > before[id].Count[o] {
				nodes = append(nodes, id)
			}
		}
		return nodes
	}
	if len(did(Discarded)) > 0 || out == nil {
		w.t.Errorf("%v: lost\n%x", w.shape, frame)
		return
	}
	want := routed(w.cleaned(frame))
	if got := routed(out); !bytes.Equal(got, want) {
		w.t.Errorf("%v:\ngot  %x\nwant %x", w.shape, got, want)
	}
	w.seen["cleaned"] += len(did(Cleaned))
	w.copies()
	mode := w.nodes[0].mode
	recorded := map[uint32]bool{} // nodes that a report must tell of
	for _, id := range append(did(Pushed), did(PoppedStack)...) {
		recorded[id] = true
	}
	inserted := len(did(Inserted)) > 0
	switch {
	case len(did(Turned)) > 0:
		w.seen["turned"]++
		if len(did(Watched)) > 0 {
			recorded[1] = true
		}
	case mode == watch.ModeXD:
		for _, id := range did(Watched) {
			recorded[id] = true
		}
		w.seen["xd"]++
	case inserted && mode == watch.ModeMX:
		for id := range w.visits {
			recorded[id] = true
		}
		w.seen["mx"]++
	case inserted:
		if len(did(InsertedEmpty)) == 0 {
			recorded[1] = true
		}
		recorded[uint32(len(w.nodes))] = true
		w.seen["md"]++
	}
	if inserted {
		w.seen[versionOf(w.text)+" "+carrier]++
	}
	w.seen["popped"] += len(did(PoppedStack))
	if !w.mayCut {
		w.told(recorded)
	}
}

func versionOf(text string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(text, "version: "), "\n")
	return version
}

func (w *walk) counts() map[uint32]Stats {
	m := map[uint32]Stats{}
	for _, n := range w.nodes {
		if n != nil {
			m[n.spec.NodeID] = n.Stats()
		}
	}
	return m
}

// cleaned returns the frame with the DSCP that it has behind the source: a user's DSCP never marks INT.
func (w *walk) cleaned(frame []byte) []byte {
	n := w.nodes[0]
	v := &visit{}
	if len(w.nodes) == 1 || n.outside.Parse(frame, &v.packet) != nil || !n.marked(&v.packet) {
		return frame
	}
	out, _ := n.inside.CleanMark(nil, &v.packet)
	return out
}

// copies checks that copies which nodes made leave nothing behind the sink.
func (w *walk) copies() {
	last := w.nodes[len(w.nodes)-1]
	for _, x := range w.extra {
		w.seen["copied"]++
		var s State
		var out Output
		last.Arrive(x, Ingress{Port: 1, TimeNs: w.now}, &s)
		last.Depart(x, &s, Egress{Port: 2, DepartedNs: w.now + 5}, &out)
		if out.Frame != nil {
			w.t.Errorf("a copy left the domain: %x", out.Frame)
		}
	}
}

// told compares what the reports tell of the packet with what the nodes knew.
func (w *walk) told(recorded map[uint32]bool) {
	w.t.Helper()
	told := map[uint32]bool{}
	popped := map[uint32]bool{} // nodes that took the stack out, and said nothing of themselves but who they are
	hop := func(h *telemetry.Hop, embedded bool) {
		if h.Has&telemetry.HasNode == 0 {
			return
		}
		if told[h.NodeID] {
			w.t.Errorf("node %d is reported twice", h.NodeID)
		}
		told[h.NodeID] = true
		w.same(h, embedded)
		w.seen["hops"]++
	}
	for i := range w.reports {
		r := &w.reports[i]
		for j := range r.Hops {
			hop(&r.Hops[j], true)
		}
		if !r.HasNodeID {
			told[uint32(r05source(w.raw[i]))] = true
			continue
		}
		if r.Is(telemetry.Embedded) && r.Local.Has&^telemetry.HasNode == 0 {
			if r.Is(telemetry.Intermediate) {
				popped[r.NodeID] = true
			} else if w.nodes[len(w.nodes)-1].form != separate {
				told[r.NodeID] = true // it knows nothing of what was asked
			}
			continue // its record is in the stack, or in a report of its own
		}
		if r.Is(telemetry.Embedded) && !r.Is(telemetry.Intermediate) &&
			r.Local.Has&^(telemetry.HasNode|telemetry.HasIngressTime|telemetry.HasWideTimes) == 0 &&
			w.nodes[len(w.nodes)-1].form == separate {
			continue
		}
		delete(told, r.NodeID)
		hop(&r.Local, false)
	}
	for id := range recorded {
		if !told[id] && !popped[id] {
			w.t.Errorf("node %d has recorded, and is not reported: %v\n%+v\n%+v", id, w.shape, w.reports,
				w.counts()[id])
		}
		delete(told, id)
	}
	for id := range told {
		w.t.Errorf("node %d is reported, and has not recorded: %v", id, w.shape)
	}
}

// r05source returns the last byte of the source address of a report: the node id of the tests.
func r05source(frame []byte) byte { return frame[29] }

// same compares a hop with what its node knew.
func (w *walk) same(h *telemetry.Hop, embedded bool) {
	w.t.Helper()
	e, in := w.visits[h.NodeID], w.arrived[h.NodeID]
	most24, times := uint64(1<<24-2), ^uint64(0)
	if embedded {
		switch w.nodes[0].inside.Version {
		case inband.Version2016:
			most24, times = 1<<31-2, 1<<31-1
		case inband.Version05, inband.Version10:
			times = 1<<32 - 1
		}
	} else {
		most24 = 1<<24 - 1
		if w.nodes[0].inside.Version != inband.Version2016 {
			most24--
		}
	}
	egressTimes := times
	if !embedded && h.Has&telemetry.HasWideTimes == 0 {
		times, egressTimes = 1<<32-1, 1<<32-1
	}
	for _, row := range []struct {
		has       telemetry.Fields
		name      string
		got, want uint64
	}{
		{telemetry.HasIngressPort, "ingress port", uint64(h.IngressPort), uint64(in.Port)},
		{telemetry.HasEgressPort, "egress port", uint64(h.EgressPort), uint64(e.Port)},
		{telemetry.HasLatency, "latency", h.LatencyNs, e.DepartedNs - in.TimeNs},
		{telemetry.HasQueue, "queue occupancy", uint64(h.QueueOccupancy), min(e.QueueBytes, most24)},
		{telemetry.HasIngressTime, "ingress time", h.IngressNs, in.TimeNs & times},
		{telemetry.HasEgressTime, "egress time", h.EgressNs, e.DepartedNs & egressTimes},
		{telemetry.HasTxUtil, "tx utilization", uint64(h.TxUtil), e.TxBps * 10_000 / e.Bps},
		{telemetry.HasBuffer, "buffer occupancy", uint64(h.BufferOccupancy), min(e.BufferBytes, 1<<24-2)},
	} {
		if h.Has&row.has != 0 && row.got != row.want {
			w.t.Errorf("node %d, %s: got %d, want %d", h.NodeID, row.name, row.got, row.want)
		}
	}
	if h.Has&telemetry.HasQueue != 0 && w.nodes[0].inside.Version != inband.Version2016 && h.QueueID != e.Queue {
		w.t.Errorf("node %d: queue %d, want %d", h.NodeID, h.QueueID, e.Queue)
	}
	if h.Has&telemetry.HasL2Ports != 0 {
		w.t.Errorf("node %d: got level 2 ports, which nobody knows", h.NodeID)
	}
}
