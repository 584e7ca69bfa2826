package analyze

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
)

// A starved is a collector of which a part gets no processor for some time: a shard, a receiver, the scanner or the
// process. What came meanwhile waits, and is taken then.
type starved struct {
	*virtualCollector
	part         string
	fromNs, toNs int64
	held         []heldDatagram
	holdsUp      int // reports
}

type heldDatagram struct {
	atNs int64
	test.Datagram
}

// starvedShard is the one that may get no processor.
const starvedShard = 0

func (c *starved) starves(nowNs int64) bool { return nowNs >= c.fromNs && nowNs < c.toNs }

// delivered is what receivers tell the scanner.
func (c *starved) delivered(nowNs int64) int64 {
	if c.part == "receiver" && c.starves(nowNs) {
		return c.fromNs
	}
	return nowNs
}

func (c *starved) advance(nowNs int64) {
	for ; c.next <= nowNs; c.next += scan.TickNs {
		now := c.starves(c.next)
		if !now && c.next >= c.toNs {
			c.catchUp()
		}
		for i, shard := range c.Owners {
			if !now || c.part != "shard" || i != starvedShard {
				shard.Tick(c.next)
			}
		}
		if !now || c.part != "scanner" && c.part != "process" {
			c.scanner.Scan(c.next)
		}
	}
}

// catchUp takes what was held up. A shard finds the time of arrival with it, a receiver does not.
func (c *starved) catchUp() {
	for _, h := range c.held {
		if c.part == "shard" {
			c.process(h.atNs, h.Datagram, func(owner int) bool { return owner == starvedShard })
		} else {
			c.process(c.toNs, h.Datagram, func(int) bool { return true })
		}
	}
	c.held = nil
}

// process gives the reports of a datagram to the shards that take them.
func (c *starved) process(atNs int64, d test.Datagram, takes func(owner int) bool) (others int) {
	c.batch.Reset()
	c.decoder.Decode(d.Payload, d.Src, d.DstPort, &c.batch, &c.header[0])
	for i := range c.batch.Reports {
		owner := c.batch.Reports[i].Flow.ShardOf(len(c.Owners))
		if !takes(owner) {
			others++
			continue
		}
		c.one.Reset()
		c.one.Add(&c.batch.Reports[i])
		c.Owners[owner].(*Shard).Process(&c.one, atNs)
	}
	return others
}

// Report implements fabric.Sink.
func (c *starved) Report(at uint64, frame []byte) error {
	atNs := int64(at)
	c.advance(atNs)
	d, _ := test.UDP(slices.Clone(frame))
	if !c.starves(atNs) || c.part == "scanner" || c.part == "nobody" {
		c.process(atNs, d, func(int) bool { return true })
		return nil
	}
	held := 1
	switch c.part {
	case "shard":
		held = c.process(atNs, d, func(owner int) bool { return owner != starvedShard })
	case "receiver":
		if d.Src.Addr().As4()[3]%2 == 1 { // one of two sockets
			c.process(atNs, d, func(int) bool { return true })
			return nil
		}
	}
	if held > 0 {
		c.held = append(c.held, heldDatagram{atNs, d})
		c.holdsUp += held
	}
	return nil
}

// Who gets no processor for seconds in the middle of a flood does not make two bursts of one. The network knows which
// there was.
func TestBurstOfStarvedCollector(t *testing.T) {
	if test.RaceDetector {
		t.Skip("everything runs in one goroutine")
	}
	for _, c := range []struct {
		part   string
		shards int
	}{{"nobody", 3}, {"shard", 3}, {"receiver", 3}, {"scanner", 3}, {"scanner", 1}, {"process", 3}} {
		t.Run(fmt.Sprint(c.part, " ", c.shards), func(t *testing.T) {
			t.Parallel()
			s := load(t, "ddos")
			e := emulation{duration: 8 * time.Second, shards: c.shards, nodes: everyPacket}
			v := e.collector(t, s)
			from := v.start + 4*second
			starving := &starved{virtualCollector: v, part: c.part, fromNs: from, toNs: from + 1800*millisecond}
			v.scanner.Delivered = starving.delivered
			e.send(t, s, starving, &v.truth)
			starving.advance(v.start + 20*second)
			if c.part != "nobody" && c.part != "scanner" && starving.holdsUp < 500 {
				t.Fatalf("%d reports were held up: this proves nothing", starving.holdsUp)
			}
			checkFlood(t, v, c.part == "scanner" && c.shards == 1)
		})
	}
}

// checkFlood compares the bursts of more than a second with the true ones. lossy: samples were lost.
func checkFlood(t *testing.T, v *virtualCollector, lossy bool) {
	t.Helper()
	got, _ := v.bursts.Bursts(nil, burst.ByLast, burst.MaxKept)
	floods := 0
	for _, r := range v.truth.List {
		w, ok := r.(*truth.Burst)
		if !ok || w.EndNs-w.StartNs < second {
			continue
		}
		floods++
		var text string
		found := 0
		for i := range got {
			g := &got[i]
			start, end := g.Start.UnixNano()-v.start, g.End.UnixNano()-v.start
			if g.Node != w.Node || g.Port != w.Port || g.Queue != w.Queue || start > w.EndNs || end < w.StartNs {
				continue
			}
			found++
			text += fmt.Sprintf("%d to %d, slack %d and %d, %d drops\n", start, end, g.StartSlackNs, g.EndSlackNs,
				g.Drops)
			const clocks = 10_000
			if start-int64(g.StartSlackNs)-clocks > w.StartNs || start+clocks < w.StartNs ||
				end+int64(g.EndSlackNs)+clocks < w.EndNs || end-clocks > w.EndNs || !lossy && g.Drops != w.Drops {
				t.Errorf("got %s want %d to %d with %d drops", text, w.StartNs, w.EndNs, w.Drops)
			}
		}
		if found != 1 {
			t.Errorf("%d bursts for one, %d to %d:\n%s%+v", found, w.StartNs, w.EndNs, text,
				v.bursts.Totals())
		}
	}
	if floods == 0 {
		t.Error("no flood: this proves nothing")
	}
	if lost := v.bursts.Totals().SamplesLost; lossy != (lost > 0) {
		t.Errorf("%d samples lost", lost)
	}
}
