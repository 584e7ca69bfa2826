package node

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
)

// A transit node that knows a value not, says so in its record (INT 2.1 §5.8), and leaves it out of its report (TR 2.0
// §3.3.1).
func TestR033R077ValuesNotAvailable(t *testing.T) {
	const text = "omit: [hop_latency]\nwatch: [{report_all: true, instructions: [node_id, hop_latency, queue, l2_interfaces]}]\n"
	c := newChain(t, 3, text)
	c.send(tcp())
	r := c.reports[0]
	if len(r.Hops) != 2 || r.Hops[1].Has&(telemetry.HasLatency|telemetry.HasL2Ports) != 0 ||
		r.Hops[1].Has&telemetry.HasQueue == 0 {
		t.Errorf("stack: %+v", r.Hops)
	}
	if r.Local.Has&(telemetry.HasLatency|telemetry.HasL2Ports) != 0 || r.Local.Has&telemetry.HasQueue == 0 {
		t.Errorf("report: %+v", r.Local)
	}
	if bits := c.raw[0][14+20+8+8+4:]; bits[0] != 0x10 || bits[1] != 0 {
		t.Errorf("RepMdBits %x, want queue only", bits[:2])
	}
}

// A record that does not fit the link is left out and M set, or the stack is reported and leaves the packet (INT 2.1
// §5.3).
func TestR037R038MTU(t *testing.T) {
	frame := tcp()
	for _, test := range []struct {
		text          string
		hops, reports int
	}{{"mtu: mark\n", 1, 1}, {"mtu: report\n", 2, 2}} {
		c := newChain(t, 3, test.text+"watch: [{report_all: true}]\n")
		c.egress = func(i int) Egress {
			e := Egress{Port: 2}
			if i == 1 {
				e.MTU = len(frame) - 14 + 16 + 40 // one record, not two
			}
			return e
		}
		if out := c.send(frame); !bytes.Equal(routed(out), routed(frame)) {
			t.Errorf("%s: got %x", test.text, out)
		}
		hops := 0
		for _, r := range c.reports {
			hops += len(r.Hops)
		}
		if hops != test.hops || len(c.reports) != test.reports {
			t.Errorf("%s: %+v", test.text, c.reports)
		}
		last := &c.reports[len(c.reports)-1]
		if test.reports == 1 && !last.Is(telemetry.MTUExceeded) {
			t.Errorf("M is not set: %+v", last)
		}
		if test.reports == 2 &&
			(!c.reports[0].Is(telemetry.Intermediate) || last.Is(telemetry.Intermediate) || c.reports[0].NodeID != 2) {
			t.Errorf("%+v", c.reports)
		}
		// The record of the node that took the stack out is in its report or in the packet, not in both.
		inPacket := slices.ContainsFunc(last.Hops, func(h telemetry.Hop) bool { return h.NodeID == 2 })
		if inReport := c.reports[0].Local.Has&telemetry.HasLatency != 0; test.reports == 2 && inReport == inPacket {
			t.Errorf("in the report: %v, in the packet: %v", inReport, inPacket)
		}
	}
}

// Source-only metadata would be lost with the stack that they are in: then M is set (see canPop).
func TestR039SourceOnlyMetadataStay(t *testing.T) {
	frame := tcp()
	c := newChain(t, 3, "mtu: report\ndomain: 0x5453\nds_instruction: 0x8000\nwatch: [{report_all: true}]\n")
	c.egress = func(i int) Egress { return Egress{Port: 2, MTU: []int{9000, len(frame) + 60, 9000}[i]} }
	c.send(frame)
	if len(c.reports) != 1 || !c.reports[0].Is(telemetry.HasDevice) || !c.reports[0].Is(telemetry.MTUExceeded) ||
		c.reports[0].Is(telemetry.Intermediate) || c.reports[0].NodeID != 3 || len(c.reports[0].Hops) != 1 {
		t.Errorf("%+v", c.reports)
	}
}

// A packet that asks for copies is copied to each port that it asks for, and no other is: C is set in the copies alone,
// each has the record of the node with its own port, and the sink discards them (INT 2016 §5.3.3).
func TestR042R058Copies(t *testing.T) {
	others := []Other{
		{Port: 3, SameHop: true}, {Port: 4, SameHop: true}, {Port: 5, First: true}, {Port: 6}, {Port: 7, First: true},
	}
	for _, version := range []string{"version: 2016\n", "version: 0.5\n", "version: 1.0\n"} {
		for rep, ports := range map[string][]uint32{
			"none": {}, "ports": {3, 4}, "next_hops": {5, 7}, "both": {3, 4, 5, 6, 7},
		} {
			text := version + "carrier: geneve\nreplicate: true\nreplicas: " + rep + "\n"
			c := newChain(t, 3, text)
			frame := packets.Shape{Kind: packets.Geneve, Payload: 50}.Frame(newRand())
			c.send(frame)
			c.egress = func(int) Egress { return Egress{Port: 2, MTU: 9000, Others: others} }
			behind := c.hop(1, c.hop(0, bytes.Clone(frame)))
			if original := intOf(t, c.nodes[1], behind); original.C || original.Hops != 2 {
				t.Errorf("%s: the original: %+v", text, original)
			}
			copies := make([]Copy, len(c.output.Copies))
			for i, o := range c.output.Copies {
				copies[i] = Copy{o.Port, bytes.Clone(o.Frame)}
			}
			got := []uint32{}
			for _, o := range copies {
				got = append(got, o.Port)
				if !intOf(t, c.nodes[1], o.Frame).C {
					t.Errorf("%s: C is not set", text)
				}
				c.reports = nil
				if out := c.hop(2, o.Frame); out != nil || len(c.reports) != 1 || !c.reports[0].Is(telemetry.Discard) ||
					c.reports[0].Hops[1].EgressPort != o.Port || c.reports[0].Hops[0].EgressPort != 2 {
					t.Errorf("%s: the copy left, or says something else: %x, %+v", text, out, c.reports)
				}
			}
			if !slices.Equal(got, ports) {
				t.Errorf("%s: copies to %v, want %v", text, got, ports)
			}
			if len(copies) > 0 {
				c.hop(1, copies[0].Frame)
				if len(c.output.Copies) != 0 {
					t.Errorf("%s: a copy was copied", text)
				}
			}
		}
	}
}

// A node with a slow path forwards the packet as it is, and sends a follow-up that triggers nothing downstream. It has
// the metadata of the nodes in front and those of the node itself, and the sink reports them if it has reported the
// packet (INT 2016 §4.2).
func TestR043FollowUp(t *testing.T) {
	for _, version := range []string{"version: 2016\n", "version: 0.5\ncarrier: geneve\n"} {
		c := newChain(t, 4, version)
		c.nodes[1] = newNode(t, version+"slow_path: true\n", testSpec(9, false, false))
		frame := packets.Shape{Kind: packets.Geneve, Payload: 50}.Frame(newRand())
		if out := c.send(frame); !bytes.Equal(routed(out), routed(frame)) {
			t.Errorf("%s: got %x", version, out)
		}
		if !bytes.Equal(routed(c.links[0]), routed(c.links[1])) || len(c.extra) != 1 ||
			intOf(t, c.nodes[0], c.links[2]).Hops != 2 || len(c.reports) != 1 {
			t.Fatalf("%s: %d follow-ups, %d reports", version, len(c.extra), len(c.reports))
		}
		packet, followUp := c.reports[0], c.extra[0]
		if packet.Is(telemetry.FollowUp|telemetry.Discard) || len(packet.Hops) != 2 {
			t.Errorf("%s: %+v", version, packet)
		}
		behind := c.hop(2, bytes.Clone(followUp))
		if !bytes.Equal(routed(behind), routed(followUp)) || len(c.extra) != 1 || len(c.reports) != 1 {
			t.Errorf("%s: the transit node did something: %x", version, behind)
		}
		if out := c.hop(3, behind); out != nil || len(c.extra) != 1 || len(c.reports) != 2 {
			t.Fatalf("%s: got %x, %d reports", version, out, len(c.reports))
		}
		r := c.reports[1]
		if !r.Is(telemetry.FollowUp) || r.Is(telemetry.Discard) || r.PacketID != packet.PacketID ||
			r.Flow != packet.Flow || len(r.Hops) != 2 || r.Hops[0].NodeID != 1 || r.Hops[1].NodeID != 9 ||
			r.Hops[1].LatencyNs != 1010 {
			t.Errorf("%s: the follow-up says %+v", version, r)
		}
		if r.Bytes != packet.Bytes {
			t.Errorf("%s: %d bytes, the packet has %d", version, r.Bytes, packet.Bytes)
		}
		other := bytes.Clone(frame)
		other[len(other)-1]++
		c.send(other) // of the same flow: nothing has changed
		if len(c.extra) != 1 || len(c.reports) != 0 {
			t.Fatalf("%s: %d follow-ups, %d reports", version, len(c.extra), len(c.reports))
		}
		if c.hop(3, bytes.Clone(c.extra[0])); len(c.reports) != 0 {
			t.Errorf("%s: the follow-up of a packet that is not reported is: %+v", version, c.reports)
		}
	}
}

// INT-MX packets keep their length from source to sink, and every node reports (INT 2.1 §3.1).
func TestR045R081MXStaysAsItIs(t *testing.T) {
	c := newChain(t, 4, "mode: mx\nwatch: [{report_all: true}]\n")
	frame := tcp()
	c.send(frame)
	for _, link := range c.links[1:3] {
		if !bytes.Equal(routed(link), routed(c.links[0])) {
			t.Errorf("got %x, want %x", link, c.links[0])
		}
	}
	if len(c.links[0]) != len(frame)+16 || len(c.reports) != 4 {
		t.Fatalf("%d bytes, %d reports", len(c.links[0])-len(frame), len(c.reports))
	}
	for i, r := range c.reports {
		if !r.Is(telemetry.Instructed) || !r.Is(telemetry.Tracked) || r.Is(telemetry.Intermediate) ||
			r.Local.Has&telemetry.HasLatency == 0 {
			t.Errorf("report %d: %+v", i, r)
		}
	}
}

// What a transit node cannot read it forwards unchanged: another version, another type, malformed INT (INT 2.1 §5.8).
func TestR046UnknownINTIsForwarded(t *testing.T) {
	for name, change := range map[string]func(b []byte, t *embed.INT){
		"version":   func(b []byte, t *embed.INT) { b[t.Header] = b[t.Header]&0x0F | 0x50 },
		"type":      func(b []byte, t *embed.INT) { b[t.Shim] = b[t.Shim]&0x0F | 0x20 },
		"malformed": func(b []byte, t *embed.INT) { b[t.Header+2] = 3 },
	} {
		c := newChain(t, 3, "")
		c.send(tcp())
		bad := c.links[0]
		change(bad, intOf(t, c.nodes[0], bad))
		var s State
		var out Output
		n := c.nodes[1]
		n.Arrive(bad, Ingress{Port: 1}, &s)
		n.Depart(bad, &s, Egress{Port: 2}, &out)
		if !bytes.Equal(out.Frame, bad) || n.stats.Count[NotPushed] != 1 {
			t.Errorf("%s: got %x, %v", name, out.Frame, n.stats.Count)
		}
	}
}

// Packets of INT-XD do not change, and every node reports by its own watchlist (INT 2.1 §3.1).
func TestR082XDStaysAsItIs(t *testing.T) {
	c := newChain(t, 3, "watch: [{mode: xd, report_all: true}]\n") // in a domain of INT-MD
	if frame := tcp(); !bytes.Equal(routed(c.send(frame)), routed(frame)) ||
		!bytes.Equal(routed(c.links[1]), routed(frame)) {
		t.Errorf("got %x", c.links)
	}
	c = newChain(t, 3, "mode: xd\nwatch: [{report_all: true}]\n")
	r := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		frame := packets.Random(r).Frame(r)
		c.mayCut = true
		c.send(frame)
		for i, link := range c.links {
			if !bytes.Equal(routed(link), routed(frame)) {
				t.Fatalf("behind node %d: got %x, want %x", i+1, link, frame)
			}
		}
	}
	if n := c.nodes[1].stats.Count; n[Reported] != n[Watched] || n[Reported] < 400 {
		t.Errorf("%v", n)
	}
}

// Queue congestion is the occupancy of the queue in percent of its limit (INT 2016 §3.4), and not available without
// one.
func TestQueueCongestion(t *testing.T) {
	n := newNode(t, "version: 0.5\n", testSpec(1))
	for _, c := range []struct {
		bytes, limit uint64
		want         uint32
		known        bool
	}{
		{30_000, 120_000, 25, true},
		{0, 120_000, 0, true},
		{120_000, 120_000, 100, true},
		{130_000, 120_000, 100, true},
		{30_000, 0, 0, false},
	} {
		v := visit{state: &State{}, egress: Egress{Port: 1, QueueBytes: c.bytes, QueueLimit: c.limit, DepartedNs: 1}}
		n.measure(&v)
		if known := v.own.Has&inband.QueueCongestion != 0; known != c.known || known &&
			v.own.QueueCongestion != c.want {
			t.Errorf("%d of %d bytes: got %d, %t; want %d, %t", c.bytes, c.limit, v.own.QueueCongestion, known, c.want,
				c.known)
		}
	}
}
