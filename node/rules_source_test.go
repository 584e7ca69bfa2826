// Rules of the source, as far as the node decides about them: the bytes are tested in package embed.
package node

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
)

// tcp and udp are test packets, always the same.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(7, 7)) }

func tcp() []byte { return packets.Shape{Kind: packets.TCP, Payload: 60}.Frame(newRand()) }
func udp() []byte { return packets.Shape{Kind: packets.UDP, Payload: 60}.Frame(newRand()) }

// intOf returns what a node of the domain reads in a packet.
func intOf(t testing.TB, n *Node, frame []byte) *embed.INT {
	t.Helper()
	var p embed.Packet
	if err := n.inside.Parse(frame, &p); err != nil {
		t.Fatal(err)
	}
	return &p.INT
}

// INT is inserted only into packets that match the flow watchlist, whatever its entries say (INT 2.1 §2).
func TestR001OnlyWatchedPacketsGetINT(t *testing.T) {
	c := newChain(t, 2,
		"watch:\n  - {dst: 10.0.2.0/24, protocol: tcp}\n  - {dst: 10.0.2.0/24, protocol: udp, mode: xd}\n")
	for _, test := range []struct {
		name   string
		frame  []byte
		hasINT bool
	}{
		{"matches", tcp(), true},
		{"matches an entry without INT", udp(), false},
		{"matches none", packets.Shape{Kind: packets.TCP, IPv6: true}.Frame(newRand()), false},
		{"no L4", packets.Shape{Kind: packets.ICMP}.Frame(newRand()), false},
	} {
		out := c.send(test.frame)
		if got := intOf(t, c.nodes[0], c.links[0]).Present; got != test.hasINT {
			t.Errorf("%s: INT %v, want %v", test.name, got, test.hasINT)
		}
		if !bytes.Equal(routed(out), routed(test.frame)) {
			t.Errorf("%s: got %x", test.name, out)
		}
	}
}

// A packet that gets no INT does not look like one that has (INT 2.1 §5.7.2); between two hosts of a switch nothing is
// lost.
func TestR004UserDSCPDoesNotMarkINT(t *testing.T) {
	frame := packets.Shape{Kind: packets.UDP, DSCP: usualDSCP, Payload: 20}.Frame(newRand())
	c := newChain(t, 2, "watch: []\n")
	c.send(frame)
	if c.links[0][15]>>2 != 0 || c.nodes[0].stats.Count[Cleaned] != 1 {
		t.Errorf("got %x", c.links[0])
	}
	c = newChain(t, 1, "watch: []\n")
	if out := c.send(frame); !bytes.Equal(routed(out), routed(frame)) {
		t.Errorf("between edges: got %x", out)
	}
	c = newChain(t, 2, "mode: xd\n")
	if out := c.send(frame); !bytes.Equal(routed(out), routed(frame)) {
		t.Errorf("INT-XD: got %x", out)
	}
}

// Queues are chosen by the DSCP that a packet had before INT (INT 2.1 §5.7.2).
func TestR005ClassIgnoresTheMark(t *testing.T) {
	frame := packets.Shape{Kind: packets.TCP, DSCP: 46, Payload: 20}.Frame(newRand())
	c := newChain(t, 3, "")
	c.send(frame)
	for i, link := range append([][]byte{frame}, c.links[:2]...) {
		var s State
		c.nodes[i].Arrive(link, Ingress{Port: 1}, &s)
		if s.DSCP != 46 {
			t.Errorf("node %d: class %d", i+1, s.DSCP)
		}
	}
	var s State
	marked := packets.Shape{Kind: packets.TCP, DSCP: usualDSCP}.Frame(newRand())
	c.nodes[0].Arrive(marked, Ingress{Port: 1}, &s)
	if s.DSCP != 0 {
		t.Errorf("a user's mark: class %d", s.DSCP)
	}
}

// Traffic without congestion control can be kept from INT by protocol and port (INT 2.1 §5.4).
func TestR013FilterByProtocolAndPort(t *testing.T) {
	c := newChain(t, 2, "watch:\n  - {name: all}\n  - {protocol: udp, dst_port: 6001, ignore: true, priority: 1}\n")
	for _, test := range []struct {
		frame  []byte
		hasINT bool
	}{{tcp(), true}, {udp(), false}, {packets.Shape{Kind: packets.UDP, Port: 7000}.Frame(newRand()), true}} {
		c.send(test.frame)
		if got := intOf(t, c.nodes[0], c.links[0]).Present; got != test.hasINT {
			t.Errorf("%x: INT %v, want %v", test.frame, got, test.hasINT)
		}
	}
}

// An entry asks for its own metadata, in its own mode; sampling takes 1 in N.
func TestEntriesSayWhatAndHowOften(t *testing.T) {
	c := newChain(t, 2,
		"watch:\n  - {protocol: tcp, instructions: [node_id, buffer]}\n  - {protocol: udp, mode: mx, sample: 4}\n")
	c.send(tcp())
	if got := intOf(t, c.nodes[0], c.links[0]); got.Bitmap != 0x8080 || got.Type != inband.TypeMD {
		t.Errorf("got %+v", got)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		c.send(packets.Shape{Kind: packets.UDP, Payload: 40}.Frame(r))
		if got := intOf(t, c.nodes[0], c.links[0]); got.Present && got.Type != inband.TypeMX {
			t.Fatalf("got %+v", got)
		}
	}
	if n := c.nodes[0].stats.Count[Inserted]; n < 900 || n > 1100 {
		t.Errorf("%d of 4000 packets were taken, want 1 in 4", n)
	}
}

// as a whole: a source without room does not start INT, or without its own record.
func TestR020SourceMTU(t *testing.T) {
	frame := tcp()
	for _, test := range []struct {
		room int
		want Outcome
	}{{15, NotInserted}, {16, InsertedEmpty}, {16 + 31, InsertedEmpty}, {16 + 32, Inserted}} {
		c := newChain(t, 2, "")
		c.egress = func(int) Egress { return Egress{Port: 2, MTU: len(frame) - 14 + test.room} }
		c.send(append([]byte(nil), frame...))
		n := c.nodes[0].stats.Count
		if n[test.want] != 1 || (test.want == Inserted) != (n[InsertedEmpty] == 0 && n[Inserted] == 1) {
			t.Errorf("room for %d bytes: %v", test.room, n)
		}
	}
}

// INT from outside of the domain is dropped and counted, or accepted as that of a host which is a source.
func TestEdgeINT(t *testing.T) {
	inside := newChain(t, 2, "carrier: new-udp\n")
	inside.send(tcp())
	withINT := inside.links[0]
	c := newChain(t, 2, "carrier: new-udp\n")
	if out := c.send(withINT); out != nil || c.nodes[0].stats.Count[EdgeINT] != 1 {
		t.Errorf("got %x", out)
	}
	if len(c.reports) != 1 || !c.reports[0].Is(telemetry.Dropped) || c.reports[0].Local.DropReason != reasonForeignINT {
		t.Errorf("got %+v", c.reports)
	}
	c = newChain(t, 2, "carrier: new-udp\nedge_int: accept\nwatch: [{report_all: true}]\n")
	out := c.send(withINT)
	if !bytes.Equal(routed(out), routed(tcp())) || len(c.reports) != 1 || len(c.reports[0].Hops) != 2 {
		t.Errorf("got %x, %+v", out, c.reports)
	}
}

// A watchlist can be replaced at run time; a wrong one changes nothing, and a packet in the switch keeps what it was
// given.
func TestReplace(t *testing.T) {
	c := newChain(t, 2, "watch: []\n")
	n := c.nodes[0]
	var s State
	var out Output
	before := tcp()
	n.Arrive(before, Ingress{Port: 1}, &s)
	if err := n.Replace(Watchlists{Flows: []watch.Entry{{}}}); err != nil {
		t.Fatal(err)
	}
	n.Depart(before, &s, Egress{Port: 2}, &out)
	if intOf(t, n, out.Frame).Present {
		t.Error("a packet that was in the switch got INT")
	}
	if c.send(tcp()); !intOf(t, n, c.links[0]).Present {
		t.Error("the new watchlist is not asked")
	}
	if err := n.Replace(Watchlists{Flows: []watch.Entry{{Instructions: watch.QueueCongestion}}}); err == nil {
		t.Error("a watchlist that INT 2.1 cannot follow was taken")
	}
	if c.send(tcp()); !intOf(t, n, c.links[0]).Present {
		t.Error("the wrong watchlist is asked")
	}
}

// An option of Geneve has room for 124 bytes. Where that is too little for all nodes, packets collect different sets of
// metadata instead of parts of the path (INT 2016 §5.3.1).
func TestR107SetsOfInstructions(t *testing.T) {
	for _, test := range []struct {
		text string
		sets []uint16 // as the specification of the version numbers the instructions
	}{
		// queue, ingress timestamp: 5 of 29 words
		{"version: 2016\n", []uint16{0xF400, 0xEC00}},
		{"version: 1.0\ncarrier: geneve\n", []uint16{0xF800, 0xE400}},         // ... and egress timestamp: 5 of 29
		{"version: 2.1\ncarrier: geneve\n", []uint16{0xF000, 0xE800, 0xE400}}, // 8 byte timestamps: 4 and 5 of 28
	} {
		c := newChain(t, 6, test.text+"least_hops: 5\nwatch: [{report_all: true}]\n")
		seen := map[uint16]int{}
		for range 60 {
			c.send(packets.Shape{Kind: packets.Geneve, Payload: 50}.Frame(newRand()))
			in := intOf(t, c.nodes[0], c.links[4])
			seen[in.Bitmap]++
			if in.Hops != 5 || in.E || len(c.reports) != 1 || len(c.reports[0].Hops) != 5 {
				t.Fatalf("%s: %d hops, %+v", test.text, in.Hops, c.reports)
			}
			for i, h := range c.reports[0].Hops {
				if h.NodeID != uint32(i+1) || h.LatencyNs != uint64(1000+10*i) {
					t.Errorf("%s: hop %d: %+v", test.text, i, h)
				}
			}
		}
		for _, set := range test.sets {
			if seen[set] < 60/len(test.sets)/3 {
				t.Errorf("%s: set %#04x in %d of 60 packets", test.text, set, seen[set])
			}
		}
		if len(seen) != len(test.sets) {
			t.Errorf("%s: got %#04x, want %#04x", test.text, seen, test.sets)
		}
	}
}
