package node

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/telemetry"
)

// dropAt lets a packet be dropped behind some nodes and returns the report about it.
func dropAt(t *testing.T, c *chain, behind int, d Drop) []telemetry.Report {
	t.Helper()
	c.send(tcp())
	frame := tcp()
	if behind > 0 {
		frame = c.links[behind-1]
	}
	c.reports, c.raw = nil, nil
	n := c.nodes[behind]
	var s State
	in := Ingress{Port: 1, TimeNs: c.now}
	n.Arrive(frame, in, &s)
	d.TimeNs = c.now + 50
	n.Drop(frame, &s, d, &c.output)
	c.collect()
	if c.output.Frame != nil {
		t.Error("a dropped packet leaves")
	}
	return c.reports
}

// Reports come from the address of the node, and of the family of the collector (TR 2.0 §3.1).
func TestR063SourceAddress(t *testing.T) {
	c := newChain(t, 1, "")
	c.send(tcp())
	if got := c.raw[0][26:30]; !bytes.Equal(got, []byte{192, 0, 2, 1}) {
		t.Errorf("got %d", got)
	}
	n := newNode(t, "reports: {to: [\"[2001:db8::9]:8555\"]}\n",
		Spec{Source6: testSpec(1).Source6, Ports: testSpec(1, true).Ports})
	var s State
	var out Output
	n.Arrive(tcp(), Ingress{Port: 1}, &s)
	n.Depart(tcp(), &s, Egress{Port: 1}, &out)
	if len(out.Reports) != 1 || out.Reports[0][12] != 0x86 {
		t.Errorf("got %x", out.Reports)
	}
}

// D, Q and F say what was dropped, met a congested queue, and matched a flow watchlist, in any combination (TR 2.0
// §3.3).
func TestR069R070Flags(t *testing.T) {
	const flags = telemetry.Dropped | telemetry.Congested | telemetry.Tracked | telemetry.Embedded
	full := Drop{Place: PlaceQueue, Reason: 51, Port: 2, Queue: 1, QueueBytes: 70000}
	for _, test := range []struct {
		name   string
		text   string
		behind int
		drop   Drop
		want   telemetry.Flags
	}{
		{"not watched", "watch: []\n", 0, Drop{Reason: 29}, telemetry.Dropped},
		{"watched", "", 0, Drop{Reason: 29}, telemetry.Dropped | telemetry.Tracked},
		{"with a stack", "", 1, Drop{Reason: 29}, telemetry.Dropped | telemetry.Tracked | telemetry.Embedded},
		{"full queue", "watch: []\ndrops: []\n", 1, full, telemetry.Dropped | telemetry.Congested},
		{"full queue, with a stack", "drops: []\n", 1, full, flags},
		{"queue that nobody monitors", "drops: []\nqueues: []\n", 1, full, 0},
		{"drop that nobody watches", "drops: []\n", 1, Drop{Reason: 29}, 0},
	} {
		reports := dropAt(t, newChain(t, 3, test.text), test.behind, test.drop)
		if (len(reports) == 0) != (test.want == 0) || len(reports) == 1 && reports[0].Flags&flags != test.want {
			t.Errorf("%s: got %+v", test.name, reports)
		}
	}
}

// The stack in a drop report tells of the nodes in front of the one that dropped the packet, and the report of that one
// (TR 2.0 §2.5).
func TestR089DropReport(t *testing.T) {
	r := dropAt(t, newChain(t, 4, ""), 2, Drop{Place: PlaceQueue, Reason: 51, Port: 2, Queue: 3, QueueBytes: 70000})[0]
	if len(r.Hops) != 2 || r.Hops[0].NodeID != 1 || r.Hops[1].NodeID != 2 || r.NodeID != 3 {
		t.Errorf("%+v", r)
	}
	l := &r.Local
	if l.DropReason != 51 || l.QueueID != 3 || l.QueueOccupancy != 70000 || l.IngressPort != 1 || l.EgressPort != 2 ||
		l.Has&telemetry.HasLatency != 0 {
		t.Errorf("%+v", l)
	}
	for _, format := range []string{"0.5", "1.0"} {
		r := dropAt(t, newChain(t, 4, "reports: {format: "+format+"}\n"), 2, Drop{Reason: 29})[0]
		if !r.Is(telemetry.Dropped) || r.Local.DropReason != 29 || len(r.Hops) != 2 {
			t.Errorf("%s: %+v", format, r)
		}
	}
}

// Reports of the Transparent Security profile: at most 200 bytes, its domain, no DS metadata, source port 0, and the id
// of the device that sent the packet in the stack.
func TestR080TransparentSecurity(t *testing.T) {
	const text = `
carrier: dst-port
domain: 0x5453
ds_instruction: 0x8000
ds_flags: 0x4000
instructions: [node_id]
reports: {format: transparent-security, to: ["192.0.2.9:8555"]}
watch: [{report_all: true}]
`
	c := newChain(t, 3, text)
	frame := packets.Shape{Kind: packets.UDP, Payload: 900}.Frame(newRand())
	out := c.send(frame)
	if !bytes.Equal(routed(out), routed(frame)) {
		t.Errorf("got %x", out)
	}
	r := &c.reports[0]
	want := uint64(0x020000000101_0000) // the source address of the frame as it came from the host
	if len(c.reports) != 1 || !r.Is(telemetry.HasDevice) || r.Device != want || len(r.Hops) != 2 {
		t.Errorf("%+v, want device %#x", r, want)
	}
	ip := c.raw[0][14:]
	if len(ip) > 200 || ip[20] != 0 || ip[21] != 0 ||
		!bytes.Equal(ip[28+8+4+2:28+8+4+8], []byte{0x54, 0x53, 0, 0, 0, 0}) {
		t.Errorf("got %d bytes: %x", len(ip), ip)
	}
	if flags := c.links[0]; !bytes.Contains(flags, []byte{0x54, 0x53, 0x80, 0, 0x40, 0}) {
		t.Errorf("DS Flags: %x", flags)
	}
	long := strings.Replace(text, "reports: {", "reports: {mtu: 128, ", 1)
	c = newChain(t, 3, long)
	c.mayCut = true
	if c.send(frame); len(c.raw[0]) > 14+128 {
		t.Errorf("got %d bytes, want 128", len(c.raw[0])-14)
	}
}

// Reports wait for others if that is configured, and no longer than they may; Close sends what is left.
func TestCoalescing(t *testing.T) {
	c := newChain(t, 1, "reports: {coalesce: 1ms}\nwatch: [{report_all: true}]\n")
	n := c.nodes[0]
	for range 5 {
		if c.send(tcp()); len(c.raw) != 0 {
			t.Error("a report did not wait")
		}
	}
	n.Tick(c.now+1e6, &c.output)
	c.collect()
	if len(c.raw) != 1 || len(c.reports) != 5 {
		t.Errorf("%d datagrams, %d reports", len(c.raw), len(c.reports))
	}
	c.send(tcp())
	n.Close(c.now, &c.output)
	if len(c.output.Reports) != 1 {
		t.Error("Close kept a report")
	}
}

// Every counter has a name, and those that are 0 are not told.
func TestStatsEach(t *testing.T) {
	c := newChain(t, 2, "mtu: mark\n")
	c.egress = func(int) Egress { return Egress{Port: 2, MTU: 100} }
	c.send(tcp())
	got := map[string]uint64{}
	s := c.nodes[0].Stats()
	s.Each(func(name string, count uint64) { got[name] = count })
	if len(got) != 5 || got["arrived"] != 1 || got["not_inserted"] != 1 || got["why_mtu"] != 1 {
		t.Errorf("%v", got)
	}
	seen := map[string]bool{}
	for o := range NumOutcomes {
		if seen[o.String()] || o.String() == "" || o.String() == NumOutcomes.String() {
			t.Errorf("outcome %d: %q", o, o)
		}
		seen[o.String()] = true
	}
}

// A switch must balance by State.Hash if INT changes what it would look at; the hash is the same with and without INT.
func TestHashDoesNotSeeINT(t *testing.T) {
	for carrier, changes := range map[string]bool{"dscp": false, "dst-port": true, "new-udp": true, "gre": true} {
		c := newChain(t, 3, "carrier: "+carrier+"\n")
		if c.nodes[0].ChangesFlow() != changes {
			t.Errorf("%s: changes the flow: %v", carrier, !changes)
		}
		c.send(tcp())
		var hashes []uint64
		for i, frame := range [][]byte{tcp(), c.links[0], c.links[1]} {
			var s State
			c.nodes[i].Arrive(frame, Ingress{Port: 1}, &s)
			hashes = append(hashes, s.Hash)
		}
		if hashes[0] == 0 || hashes[0] != hashes[1] || hashes[1] != hashes[2] {
			t.Errorf("%s: got %x", carrier, hashes)
		}
	}
	if newChain(t, 1, "mode: xd\ncarrier: new-udp\n").nodes[0].ChangesFlow() {
		t.Error("INT-XD changes the flow")
	}
}

// A postcard of 0.5 names its node whatever the instructions are: its header has all metadata or none (TR 0.5 §3.2.3).
func TestPostcardsOf05NameTheirNode(t *testing.T) {
	for _, instructions := range []string{
		"[node_id]", "[node_id, hop_latency]",
		"[node_id, l1_interfaces, queue, egress_ts]",
	} {
		c := newChain(t, 2, "mode: xd\nreports: {format: 0.5}\ninstructions: "+instructions+"\n")
		c.send(tcp())
		if len(c.reports) != 2 {
			t.Fatalf("%s: got %d reports, want one of each node", instructions, len(c.reports))
		}
		for i := range c.reports {
			const want = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasQueue |
				telemetry.HasEgressTime
			if r := &c.reports[i]; !r.HasNodeID || r.NodeID != uint32(i+1) || r.Local.Has&want != want {
				t.Errorf("%s: report %d: got node %d, %t, has %b", instructions, i, r.NodeID, r.HasNodeID, r.Local.Has)
			}
		}
	}
}

// One in so many packets is reported, as the watchlist says; one in one is each (Transparent Security, sampling rate).
func TestR101SamplingRate(t *testing.T) {
	for _, rate := range []int{1, 4, 50} {
		c := newChain(t, 2, fmt.Sprintf(`
carrier: dst-port
domain: 0x5453
ds_instruction: 0x8000
instructions: [node_id]
reports: {format: transparent-security, to: ["192.0.2.9:8555"]}
watch: [{report_all: true, sample: %d, sampling: random}]
`, rate))
		const packets = 2000
		reports := 0
		for range packets {
			c.send(tcp())
			reports += len(c.reports)
		}
		// Five standard deviations of a binomial distribution.
		want := float64(packets) / float64(rate)
		if off := math.Abs(float64(reports) - want); off > 5*math.Sqrt(want*(1-1/float64(rate))) {
			t.Errorf("1 in %d: got %d reports of %d packets", rate, reports, packets)
		}
	}
}
