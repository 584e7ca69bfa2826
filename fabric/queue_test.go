package fabric

import (
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// portWith returns a port with queues, and a function that fills one of them with n packets of a length.
func portWith(queues ...queue) (*port, func(class, n int, length uint64)) {
	p := &port{queues: queues}
	return p, func(class, n int, length uint64) {
		for range n {
			p.queues[class].push(&parcel{class: uint8(class), length: length})
			p.waiting++
		}
	}
}

// Strict queues come first, in their order; among equals the oldest does.
func TestStrict(t *testing.T) {
	p, fill := portWith(queue{quantum: quantum}, queue{strict: true}, queue{strict: true})
	for i := range uint64(3) {
		for class := range 3 {
			fill(class, 1, 100+i)
		}
	}
	var got []uint64
	for x := p.dequeue(); x != nil; x = p.dequeue() {
		got = append(got, uint64(x.class)*1000+x.length)
	}
	if want := []uint64{1100, 1101, 1102, 2100, 2101, 2102, 100, 101, 102}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if p.queues[0].bytes != 0 || p.queues[0].last != nil {
		t.Error("an empty queue is not empty")
	}
}

// The others share by bytes and weight, whatever the size of their packets.
func TestRoundRobin(t *testing.T) {
	p, fill := portWith(queue{quantum: quantum}, queue{quantum: 3 * quantum}, queue{quantum: 2 * quantum})
	sizes := []uint64{1500, 9000, 64}
	sent := make([]uint64, 3)
	for sent[0]+sent[1]+sent[2] < 6e6 {
		for class, size := range sizes {
			if p.queues[class].bytes < 20000 {
				fill(class, 10, size)
			}
		}
		x := p.dequeue()
		sent[x.class] += x.length
	}
	for class, want := range []float64{1e6, 3e6, 2e6} {
		if got := float64(sent[class]); got < want*0.98 || got > want*1.02 {
			t.Errorf("queue %d sent %.0f bytes, want %.0f", class, got, want)
		}
	}
	for x := p.dequeue(); x != nil; x = p.dequeue() { // a queue alone gets all, and what it may send does not pile up
	}
	fill(1, 1, 100)
	if x := p.dequeue(); x == nil || p.dequeue() != nil {
		t.Error("a packet is lost or doubled")
	}
}

// A queue alone may have alpha/(1+alpha) of the buffer: dynamic thresholds leave the rest free.
func TestDynamicThreshold(t *testing.T) {
	for _, test := range []struct{ alpha, share string }{{"1", "0.5"}, {"0.25", "0.2"}, {"4", "0.8"}} {
		list, _ := ran(t, dumbbell(2, `
nodes: [{name: left, buffer: 200kB, alpha: `+test.alpha+`}]
traffic:
  - {constant: {from: s1, to: r1}, rate: 90M, packet: 1000}
`), Options{}, time.Second)
		drops := of[*truth.Drop](list)
		if len(drops) == 0 {
			t.Fatalf("alpha %s: no drops", test.alpha)
		}
		want := map[string]uint64{"1": 100e3, "0.25": 40e3, "4": 160e3}[test.alpha]
		for _, d := range drops {
			if d.Place != "queue" || d.Reason != "traffic_manager" || d.Depth < want || d.Depth > want+1100 {
				t.Fatalf("alpha %s: want a drop at %d bytes, got %+v", test.alpha, want, *d)
			}
		}
	}
}

// Packets wait in the queue of their DSCP: voice does not wait behind bulk.
func TestClasses(t *testing.T) {
	list, _ := ran(t, dumbbell(2, `
switch: {buffer: 120kB, queues: [{dscp: [46], strict: true}, {}, {dscp: [8, 10], weight: 2}]}
truth: {sample_packets: 1}
traffic:
  - {constant: {from: s1, to: r1}, rate: 60M, packet: 1400}
  - {constant: {from: s2, to: r2}, rate: 1M, packet: 200, dscp: 46}
  - {constant: {from: s1, to: r2}, rate: 30M, packet: 1400, dscp: 10}
`[1:]), Options{}, time.Second)
	classes, slowest := map[uint32]uint8{}, map[uint32]int64{}
	for _, h := range of[*truth.Hop](list) {
		if h.Node == 1 {
			classes[h.Flow], slowest[h.Flow] = h.Queue, max(slowest[h.Flow], h.LatencyNs)
		}
	}
	if classes[1] != 1 || classes[2] != 0 || classes[3] != 2 {
		t.Errorf("queues by flow: %v", classes)
	}
	if slowest[2] > 1438*8*50+800 || slowest[1] < 10e6 { // one packet that is being sent, and the pipeline
		t.Errorf("longest latency by flow: %v", slowest)
	}
	bytes := map[uint32]uint64{}
	for _, fl := range of[*truth.Flow](list) {
		bytes[fl.Flow] = fl.Bytes
	}
	if ratio := float64(bytes[3]) / float64(bytes[1]); ratio < 1.8 || ratio > 2.2 {
		t.Errorf("weights 2 and 1 gave %.2f", ratio)
	}
}

// A burst is from the packet that makes the queue long to the one that makes it short, with all that was in it.
func TestBurst(t *testing.T) {
	list, _ := ran(t, dumbbell(2, `
truth: {burst_above: 10kB, burst_below: 4kB, sample_packets: 1}
traffic:
  - {constant: {from: s1, to: r1, bytes: 30000}, packet: 1028, rate: 100M, start: 1ms}
  - {constant: {from: s2, to: r2, bytes: 3000}, packet: 1028, rate: 100M, start: 1ms}
`), Options{}, time.Second)
	bursts := of[*truth.Burst](list)
	if len(bursts) != 1 {
		t.Fatalf("%d bursts", len(bursts))
	}
	b := bursts[0]
	// From the hops: how many bytes were in the queue after each packet came, and after each left.
	type change struct {
		atNs  int64
		bytes int64
		flow  uint32
	}
	var changes []change
	for _, h := range of[*truth.Hop](list) {
		if h.Node == 1 {
			changes = append(changes, change{h.InNs, int64(h.Length), h.Flow},
				change{h.OutNs - 800, -int64(h.Length), h.Flow})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if a.atNs != b.atNs {
			return int(a.atNs - b.atNs)
		}
		return int(b.bytes - a.bytes)
	})
	want := truth.Burst{Node: 1, Port: 1}
	depth, in := int64(0), false
	flows := map[uint32]uint64{}
	var queued []change
	for _, c := range changes {
		depth += c.bytes
		if c.bytes > 0 {
			queued = append(queued, c)
		} else {
			queued = queued[1:]
		}
		switch {
		case !in && depth > 10000 && want.StartNs == 0:
			in, want.StartNs = true, c.atNs
			for _, q := range queued {
				want.Packets++
				want.Bytes += uint64(q.bytes)
				flows[q.flow] += uint64(q.bytes)
			}
		case in && c.bytes > 0:
			want.Packets++
			want.Bytes += uint64(c.bytes)
			flows[c.flow] += uint64(c.bytes)
		case in && depth <= 4000:
			in, want.EndNs = false, c.atNs
		}
		if in && uint64(depth) > want.Peak {
			want.Peak, want.PeakNs = uint64(depth), c.atNs
		}
	}
	got := *b
	got.Flows = nil
	if got.Node != want.Node || got.Port != want.Port || got.StartNs != want.StartNs || got.EndNs != want.EndNs ||
		got.Peak != want.Peak || got.PeakNs != want.PeakNs || got.Packets != want.Packets || got.Bytes != want.Bytes {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if len(b.Flows) != 2 || b.Flows[0] != (truth.BurstFlow{Flow: 1, Bytes: flows[1]}) ||
		b.Flows[1] != (truth.BurstFlow{Flow: 2, Bytes: flows[2]}) {
		t.Errorf("flows %+v, want %v", b.Flows, flows)
	}
}

// A burst that goes on at the end of the run is written, and says so.
func TestBurstOpen(t *testing.T) {
	list, _ := ran(t, dumbbell(1, "traffic: [{constant: {from: s1, to: r1}, rate: 90M}]\n"), Options{},
		100*time.Millisecond)
	b := of[*truth.Burst](list)
	if len(b) != 1 || !b[0].Open || b[0].EndNs != 100e6 || b[0].Drops == 0 ||
		b[0].Drops != uint64(len(of[*truth.Drop](list))) {
		t.Errorf("got %+v", b)
	}
}
