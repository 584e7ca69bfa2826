package node

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

var testCollector = netip.MustParseAddrPort("192.0.2.200:32766")

// testSpec is a switch with ports 1 and 2, which are edges or not.
func testSpec(id uint32, edges ...bool) Spec {
	s := Spec{
		NodeID: id, Name: "test", Source: netip.AddrFrom4([4]byte{192, 0, 2, byte(id)}),
		Source6:    netip.MustParseAddr("2001:db8::5"),
		Collectors: []netip.AddrPort{testCollector}, Queues: 8, Seed: uint64(id),
	}
	for i, edge := range edges {
		s.Ports = append(s.Ports, Port{Edge: edge, MTU: 9000, MAC: [6]byte{2, 9, 0, 0, byte(id), byte(i + 1)}})
	}
	return s
}

func load(t testing.TB, text string) Config {
	t.Helper()
	c, err := Load([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

func newNode(t testing.TB, text string, s Spec) *Node {
	t.Helper()
	n, err := New(load(t, text), s)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n
}

// A chain is nodes one behind the other: packets come in at port 1 of the first and leave at port 2 of the last. A node
// that is nil has no INT.
type chain struct {
	t       testing.TB
	nodes   []*Node
	egress  func(i int) Egress // of node i; nil: plain
	now     uint64
	decoder *telemetry.Decoder

	reports []telemetry.Report
	raw     [][]byte           // the Ethernet frames that they came in
	visits  map[uint32]Egress  // by node id
	arrived map[uint32]Ingress // by node id
	links   [][]byte           // the packet behind each node
	extra   [][]byte
	output  Output

	mayCut bool // the end of a packet may be missing in a report: nothing tells how long a frame with MPLS is
}

// newChain makes nodes with the ids 1, 2, ... of one configuration.
func newChain(t testing.TB, length int, text string) *chain {
	t.Helper()
	c := &chain{t: t, now: 1_700_000_000_000_000_000}
	for i := range length {
		c.nodes = append(c.nodes, newNode(t, text, testSpec(uint32(i+1), i == 0, i == length-1)))
	}
	c.decodeAs(c.nodes[0])
	return c
}

// decodeAs makes the collector know the code points of a node.
func (c *chain) decodeAs(n *Node) {
	config := codepoint.New()
	if n.inside.Mode != embed.XD {
		config.Points = n.inside.Points.Clone()
	}
	config.Compile()
	c.decoder = telemetry.NewDecoder(config)
}

// send lets a packet go along the chain and returns what leaves, nil if nothing does.
func (c *chain) send(frame []byte) []byte {
	c.t.Helper()
	c.reports, c.raw, c.links, c.extra = nil, nil, nil, nil
	c.visits, c.arrived = map[uint32]Egress{}, map[uint32]Ingress{}
	for i := range c.nodes {
		if frame = c.hop(i, append([]byte(nil), frame...)); frame == nil {
			return nil
		}
		c.links = append(c.links, frame)
	}
	return frame
}

// hop is one switch: a router with a queue.
func (c *chain) hop(i int, frame []byte) []byte {
	c.t.Helper()
	n := c.nodes[i]
	in := Ingress{Port: 1, TimeNs: c.now}
	e := Egress{
		Port: 2, Queue: uint8(i % 8), QueueBytes: uint64(1000 * i), BufferBytes: uint64(2000 * i), TxBps: 3e8,
		Bps: 1e9, MTU: 9000,
	}
	if c.egress != nil {
		e = c.egress(i)
	}
	e.EnqueuedNs = c.now + 100
	e.DepartedNs = c.now + uint64(1000+10*i)
	c.now += 10_000
	if n == nil {
		return router(frame)
	}
	c.visits[n.spec.NodeID], c.arrived[n.spec.NodeID] = e, in
	var s State
	if v := n.Arrive(frame, in, &s); v.Drop {
		n.Drop(frame, &s, Drop{Reason: v.Reason, TimeNs: in.TimeNs}, &c.output)
		c.collect()
		return nil
	}
	n.Depart(router(frame), &s, e, &c.output)
	c.collect()
	for _, x := range c.output.Extra {
		c.extra = append(c.extra, append([]byte(nil), x...))
	}
	for _, x := range c.output.Copies {
		c.extra = append(c.extra, append([]byte(nil), x.Frame...))
	}
	if c.output.Frame == nil {
		return nil
	}
	return append([]byte(nil), c.output.Frame...)
}

// collect decodes the reports of the last call.
func (c *chain) collect() {
	c.t.Helper()
	for _, frame := range c.output.Reports {
		frame = append([]byte(nil), frame...)
		d, ok := test.UDP(frame)
		if !ok {
			c.t.Fatalf("no UDP in %x", frame)
		}
		var batch telemetry.Batch
		var h telemetry.Header
		c.decoder.Decode(d.Payload, d.Src, d.DstPort, &batch, &h)
		if h.Outcome != telemetry.Decoded && !c.mayCut {
			c.t.Fatalf("report: %v\n%x", h.Reason, d.Payload)
		}
		c.reports, c.raw = append(c.reports, batch.Reports...), append(c.raw, frame)
	}
}

// ttlAt returns where the TTL or Hop Limit of the outermost IP header is, and whether it is IPv4; 0 if there is none.
func ttlAt(frame []byte) (at int, ipv4 bool) {
	var d embed.Domain
	d.Mode = embed.XD
	var p embed.Packet
	if d.Parse(frame, &p) != nil || p.L3 == 0 {
		return 0, false
	}
	if p.IPVersion == 6 {
		return p.L3 + 7, false
	}
	return p.L3 + 8, true
}

// router does what routers do: TTL minus one, other MAC addresses.
func router(frame []byte) []byte {
	copy(frame[0:6], "\x02router")
	copy(frame[6:12], "\x06router")
	at, ipv4 := ttlAt(frame)
	if at == 0 || frame[at] == 0 {
		return frame
	}
	before := [2]byte{frame[at], frame[at+1]}
	frame[at]--
	if ipv4 {
		sum := packet.UpdateChecksum(binary.BigEndian.Uint16(frame[at+2:]), before[:], frame[at:at+2])
		binary.BigEndian.PutUint16(frame[at+2:], sum)
	}
	return frame
}

// routed returns a frame without what routers change.
func routed(frame []byte) []byte {
	frame = append([]byte(nil), frame...)
	clear(frame[:12])
	if at, ipv4 := ttlAt(frame); at > 0 {
		frame[at] = 0
		if ipv4 {
			frame[at+2], frame[at+3] = 0, 0
		}
	}
	return frame
}
