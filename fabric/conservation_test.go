package fabric

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
)

// everything has all kinds of traffic and all kinds of fault at once.
const everything = `
duration: 400ms
topology:
  fat_tree:
    k: 4
    host_link: {rate: 50M, delay: 5us}
    fabric_link: {rate: 50M, delay: 20us}
switch: {buffer: 100kB, ttl: 16}
clocks: {offset: 1ms, drift: 50}
routing: {reconvergence: 20ms}
traffic:
  - {poisson: {load: 30%, sizes: web_search, max_size: 200kB}, ip: mixed}
  - {poisson: {load: 2%, sizes: 3kB}, transport: udp, dscp: 46, tunnel: geneve, vni: 9}
  - {incast: {senders: [h2, h3, h5, h9], to: h16, bytes: 30kB, every: 50ms, jitter: 1ms}, tunnel: vxlan, vni: 7, ip: "6"}
  - {all_reduce: {hosts: [h1, h6, h11, h16], bytes: 100kB, every: 30ms}}
  - {constant: {from: h4, to: h13}, rate: 5M, packet: 300}
  - {constant: {from: h7, to: h10}, transport: tcp, stop: 200ms}
faults:
  - {at: 50ms, for: 60ms, every: 150ms, link_down: {link: [pod1-agg1, core1]}}
  - {at: 100ms, for: 50ms, link_down: {link: [h3, pod1-edge2]}}
  - {at: 20ms, for: 300ms, gray_link: {link: [pod2-agg1, pod2-edge1], drop: 2%}}
  - {at: 60ms, for: 50ms, blackhole: {node: core2, prefix: 10.0.0.0/8}}
  - {at: 200ms, for: 190ms, blackhole: {node: core3, prefix: "fd00::/16", silent: true}}
  - {at: 120ms, for: 80ms, loop: {nodes: [pod1-agg1, pod1-edge1], prefix: 10.0.13.0/24}}
  - {at: 150ms, for: 100ms, polarisation: {}}
  - {at: 90ms, for: 100ms, slow_switch: {node: pod3-agg1, extra: 300us}}
  - {at: 10ms, for: 200ms, buffer: {node: pod4-edge2, alpha: 0.1}}
  - {at: 100ms, for: 100ms, no_int: {node: core1}}
  - {at: 100ms, for: 100ms, clock: {node: core1, offset: 5ms, drift: 1000}}
  - {at: 30ms, for: 300ms, report_loss: {every: 10}}
  - {at: 180ms, for: 100ms, ddos: {from: [h1, h5, h9], to: h15, rate: 20M}}
  - {at: 220ms, for: 100ms, mitigate: {node: pod4-edge2, to: [10.0.14.0/24], protocol: udp, port: 53}}
truth: {sample_packets: 10, burst_above: 20kB}
`

// present counts the packets that are in queues and on links.
func present(f *Fabric) (count uint64) {
	for _, p := range f.ports {
		waiting := 0
		for i := range p.queues {
			q, size := &p.queues[i], uint64(0)
			for x := q.first; x != nil; x = x.next {
				waiting++
				size += x.length
			}
			if size != q.bytes {
				return ^uint64(0)
			}
		}
		if waiting != p.waiting {
			return ^uint64(0)
		}
		count += uint64(waiting)
	}
	for _, e := range f.agenda.heap {
		if e.kind == evArrive {
			count++
		}
	}
	return count
}

// At every instant, what was sent is delivered, dropped or in flight; what is in flight is in a queue or on a link; and
// the buffer of each switch holds what is in its queues.
func TestConservation(t *testing.T) {
	f := newFabric(t, everything, Options{Truth: &bytes.Buffer{}, Device: newRecorders})
	for range 4000 {
		run(t, f, f.Now()+100*time.Microsecond)
		s := f.Stats()
		if s.Sent != s.Delivered+s.Lost()+s.InFlight {
			t.Fatalf("at %v: sent %d, delivered %d, dropped %d, in flight %d", f.Now(), s.Sent, s.Delivered, s.Lost(),
				s.InFlight)
		}
		if n := present(f); n != s.InFlight {
			t.Fatalf("at %v: %d packets in flight, %d are there", f.Now(), s.InFlight, n)
		}
		for _, n := range f.nodes {
			used := uint64(0)
			for _, p := range n.ports {
				for i := range p.queues {
					used += p.queues[i].bytes
				}
			}
			if used != n.used || used > n.buffer {
				t.Fatalf("at %v: %s has %d bytes in queues, counts %d, and has room for %d", f.Now(), n.name, used,
					n.used, n.buffer)
			}
		}
	}
	s := f.Stats()
	for _, reason := range []Reason{
		ReasonTTL, ReasonRoutingMiss, ReasonTrafficManager, ReasonACLDeny, ReasonPortDown,
		ReasonGrayLink,
	} {
		if s.Dropped[reason] == 0 {
			t.Errorf("nothing was dropped for %s: the test tests less than it should", reason)
		}
	}
	if s.Dropped[ReasonRefused]+s.Dropped[ReasonUnknown]+s.Dropped[ReasonMTU] != 0 {
		t.Errorf("packets were damaged: %v", s.Dropped)
	}
}

// What the truth says in single records adds up to its totals, and to what it says of flows.
func TestTruthAddsUp(t *testing.T) {
	list, _ := ran(t, everything, Options{Device: newRecorders}, 400*time.Millisecond)
	end := of[*truth.End](list)[0]
	drops := map[string]uint64{}
	byFlow := map[uint32]uint64{}
	for _, d := range of[*truth.Drop](list) {
		drops[d.Reason]++
		byFlow[d.Flow]++
	}
	total := end.Delivered + end.InFlight
	for _, r := range end.Dropped {
		total += r.Packets
		if drops[r.Reason] != r.Packets {
			t.Errorf("%s: %d drop records, %d in the end", r.Reason, drops[r.Reason], r.Packets)
		}
	}
	if total != end.Sent || len(drops) != len(end.Dropped) {
		t.Errorf("end %+v, drop records %v", end, drops)
	}
	var sent, delivered uint64
	seen := map[uint32]bool{}
	onPaths := map[uint32]uint64{}
	for _, p := range of[*truth.Path](list) {
		onPaths[p.Flow] += p.Packets
	}
	for _, fl := range of[*truth.Flow](list) {
		if seen[fl.Flow] {
			t.Errorf("flow %d is written twice", fl.Flow)
		}
		seen[fl.Flow] = true
		sent, delivered = sent+fl.PacketsSent, delivered+fl.PacketsDelivered
		if fl.PacketsDropped != byFlow[fl.Flow] {
			t.Errorf("flow %d: %d packets dropped, %d drop records", fl.Flow, fl.PacketsDropped, byFlow[fl.Flow])
		}
		if left := fl.PacketsSent - fl.PacketsDelivered - fl.PacketsDropped; left > 0 && fl.Finished &&
			fl.EndNs < end.TimeNs-100e6 {
			t.Errorf("flow %+v has packets left", fl)
		}
		if onPaths[fl.Flow] != fl.PacketsDelivered {
			t.Errorf("flow %d: %d packets delivered, %d on paths", fl.Flow, fl.PacketsDelivered, onPaths[fl.Flow])
		}
	}
	if sent != end.Sent || delivered != end.Delivered {
		t.Errorf("flows: %d sent, %d delivered; end %+v", sent, delivered, end)
	}
	reports, lost := of[*truth.Report](list), uint64(0)
	for _, r := range reports {
		if r.Lost {
			lost++
		}
	}
	if uint64(len(reports)) != end.Reports || lost != end.ReportsLost || lost == 0 {
		t.Errorf("%d report records, %d lost; end %+v", len(reports), lost, end)
	}
	kinds := map[string]int{}
	for _, r := range of[*truth.Fault](list) {
		kinds[r.Kind+" "+r.Phase]++
	}
	if len(kinds) != 12*2+1 || kinds["link_down converged"] == 0 {
		t.Errorf("faults: %v", slices.Sorted(maps.Keys(kinds)))
	}
}

// The same seed gives the same truth, byte by byte, also if Run is called many times; another seed gives another.
func TestDeterminism(t *testing.T) {
	truthOf := func(seed uint64, step time.Duration) []byte {
		var file bytes.Buffer
		f := newFabric(t, everything, Options{Seed: seed, Truth: &file, Device: newRecorders})
		for f.Now() < 400*time.Millisecond {
			run(t, f, min(f.Now()+step, 400*time.Millisecond))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	first := truthOf(1, 400*time.Millisecond)
	if again := truthOf(1, 400*time.Millisecond); !bytes.Equal(first, again) {
		t.Error("the same seed gave another truth")
	}
	if pieces := truthOf(1, 1234567); !bytes.Equal(first, pieces) {
		t.Error("a run in pieces gave another truth")
	}
	if other := truthOf(2, 400*time.Millisecond); bytes.Equal(first, other) {
		t.Error("another seed gave the same truth")
	}
}
