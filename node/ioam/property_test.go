package ioam

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
)

// A path is one packet on its way through the nodes of a domain.
type path struct {
	t       *testing.T
	r       *rand.Rand
	d       *Domain
	asked   []*Request // in the order of the packet
	written [][][]byte // the records of each trace, newest first
	points  *codepoint.Config
}

// TestPathRestoresPackets sends random packets through random chains of nodes: on every link each trace shows exactly
// what the nodes wrote, and what leaves the domain equals what entered it.
func TestPathRestoresPackets(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 1000
	}
	points := codepoint.New()
	points.Compile()
	traced, overflowed := 0, 0
	for seed := range uint64(rounds) {
		c := &path{t: t, r: rand.New(rand.NewPCG(seed, 1)), d: testDomain(), points: points}
		overflow := c.run()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if len(c.asked) > 0 {
			traced++
		}
		if overflow {
			overflowed++
		}
	}
	// The generators must not miss what they are for.
	if traced < rounds/2 || overflowed < rounds/20 {
		t.Errorf("of %d packets %d had IOAM, %d of them an overflow", rounds, traced, overflowed)
	}
}

func (c *path) run() (overflow bool) {
	plain := randomShape(c.r).frame()
	frame := plain
	for range 1 + c.r.IntN(2) { // sources
		frame = c.source(frame)
		c.link(frame)
		for range c.r.IntN(5) {
			var set bool
			frame, set = c.transit(frame)
			overflow = overflow || set
			c.link(frame)
		}
	}
	out, r := c.d.Decapsulate(nil, parse(c.t, frame))
	if (r.Action == Removed) != (len(c.asked) > 0) || len(frame)+r.Grown != len(out) {
		c.t.Fatalf("Decapsulate: %+v", r)
	}
	wantSame(c.t, "at the end", out, plain)
	return overflow
}

// mtu is now and then too small for more.
func (c *path) mtu(p *Packet) int {
	if c.r.IntN(4) != 0 {
		return 0
	}
	return p.TotalLength + c.r.IntN(60)
}

func (c *path) source(frame []byte) []byte {
	p, q := parse(c.t, frame), randomRequest(c.r)
	own := randomNode(c.r)
	if c.r.IntN(2) == 0 {
		own = nil
	}
	prefix := randomBytes(c.r, c.r.IntN(20))
	out, r := c.d.Encapsulate(prefix, p, q, own, c.mtu(p))
	if !bytes.Equal(out[:len(prefix)], prefix) {
		c.t.Fatal("Encapsulate changed what was in dst")
	}
	out = out[len(prefix):]
	if len(out) != len(frame)+r.Grown {
		c.t.Fatalf("Encapsulate: %d bytes became %d, Result says %+v", len(frame), len(out), r)
	}
	if r.Action != Inserted {
		wantSame(c.t, "nothing was inserted", out, frame)
		return out
	}
	var records [][]byte
	if r.Records > 0 {
		records = [][]byte{expected(own, q.traceType())}
	}
	c.asked, c.written = append(c.asked, q), append(c.written, records)
	return out
}

func (c *path) transit(frame []byte) (out []byte, setO bool) {
	p, own := parse(c.t, frame), randomNode(c.r)
	before := c.options(frame)
	out, r := c.d.Transit(nil, p, own, c.mtu(p))
	if len(out) != len(frame)+r.Grown {
		c.t.Fatalf("Transit: %d bytes became %d, Result says %+v", len(frame), len(out), r)
	}
	records := 0
	for i, o := range c.options(out) {
		if o.Trace.RemainingLen != before[i].Trace.RemainingLen {
			c.written[i] = append([][]byte{expected(own, o.Trace.Type)}, c.written[i]...)
			records++
		}
	}
	if records != r.Records {
		c.t.Fatalf("Transit: %d records, Result says %+v", records, r)
	}
	return out, r.SetO
}

// options returns the options of the domain.
func (c *path) options(frame []byte) (list []Option) {
	for _, o := range found(c.t, frame) {
		if c.d.owns(&o) {
			list = append(list, o)
		}
	}
	return list
}

// link looks at the packet between two nodes.
func (c *path) link(frame []byte) {
	c.t.Helper()
	p := parse(c.t, frame)
	for err := range dissect.Errors(dissect.Packet(frame[:p.End], dissect.Ethernet, c.points)) {
		c.t.Fatalf("on the link: %v\n%x", err, frame)
	}
	options := c.options(frame)
	if len(options) != len(c.asked) {
		c.t.Fatalf("%d options, want %d\n%x", len(options), len(c.asked), frame)
	}
	for i := range options {
		o, q := &options[i], c.asked[i]
		if o.Malformed != 0 || (o.Start-p.HopByHop)%4 != 0 || o.Type != q.Type || o.NamespaceID != q.NamespaceID {
			c.t.Fatalf("option: %+v\n%x", o, frame)
		}
		if !o.IsTrace() {
			continue
		}
		used := 0
		for _, record := range c.written[i] {
			used += len(record) / 4
		}
		if o.Trace.Loopback != q.Loopback || o.Trace.Active != q.Active ||
			int(o.Trace.RemainingLen) != int(q.RemainingLen)-used {
			c.t.Fatalf("trace: %+v, want %+v less %d words", o.Trace, q, used)
		}
		wantRecords(c.t, o, c.written[i])
	}
}
