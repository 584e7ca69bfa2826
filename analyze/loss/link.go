package loss

import (
	"math"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Link is one direction of a link that loses packets.
type Link struct {
	Scans           int
	FirstNs, LastNs int64
	Noted           uint64 // lost packets that are in the count of the event
	Streams         bool   // known by what senders of TCP sent again
	Numbered        bool   // by numbers of packets that did not come
	// Hit is of the lost packets that are not in the count of the event.
	Hit *telemetry.Extent
	// EarliestNs and LatestNs are when it may have lost the first and the last packet, if what was missing then were
	// packets and not the reports about them; 0: then nothing was missing but what counted.
	EarliestNs, LatestNs int64

	// The scans in which it began and was seen last are those of a part of the time only, and what lies between them is
	// the better measure. Scans since then, in which nothing was lost, wait in tail for another loss.
	first, latest, between, tail Amount

	doubts []int64 // when something was missing that did not count, before it began
}

// Doubt takes it that packets were missing from firstNs to lastNs that do not count, since as many reports were lost.
func (g *Link) Doubt(firstNs, lastNs int64) {
	if g.LatestNs = max(g.LatestNs, lastNs); g.Scans > 0 {
		return
	}
	g.doubts = append(g.doubts, firstNs)
	g.forgetDoubts(firstNs)
}

// forgetDoubts forgets what was missing so long before atNs that it is no part of what began then.
func (g *Link) forgetDoubts(atNs int64) {
	g.doubts = slices.DeleteFunc(g.doubts, func(ns int64) bool { return atNs-ns > QuietNs })
}

// Begin begins a loss whose first packet was missed at firstNs.
func (g *Link) Begin(firstNs int64) {
	g.forgetDoubts(firstNs)
	if g.FirstNs = firstNs; len(g.doubts) > 0 {
		g.EarliestNs = slices.Min(g.doubts)
	}
	g.doubts = nil
}

// Earliest returns when it may have lost the first packet: FirstNs, or before that.
func (g *Link) Earliest() int64 {
	if g.EarliestNs > 0 {
		return min(g.EarliestNs, g.FirstNs)
	}
	return g.FirstNs
}

// IsOver reports whether it lost none for so long that it is over; nor perhaps, if it has not begun.
func (g *Link) IsOver(nowNs int64) bool {
	if g.Scans == 0 {
		return nowNs-g.LatestNs > QuietNs
	}
	return nowNs-g.LastNs > QuietNs
}

// Add takes the count of a scan.
func (g *Link) Add(c Amount) {
	switch {
	case c.Lost == 0:
		g.tail.add(c)
		return
	case g.Scans == 0:
		g.first, g.tail = c, Amount{}
	default:
		g.between.add(g.latest)
		g.between.add(g.tail)
		g.latest, g.tail = c, Amount{}
	}
	g.Scans++
}

// Total is what it was sent and lost since it began.
func (g *Link) Total() Amount {
	all := g.first
	all.add(g.between)
	all.add(g.latest)
	return all
}

// Certain reports whether it loses packets for certain, and not in a single scan: zero is not in the interval.
func (g *Link) Certain() bool {
	return g.Scans >= LeastScans && atLeast(g.Total().Lost, grayDeviations) >= 1
}

// measured is what tells best how much of what it was sent it lost.
func (g *Link) measured() Amount {
	if g.between.Lost >= FewPackets {
		return g.between
	}
	return g.Total()
}

// A Amount is how many packets a link was sent and lost.
type Amount struct {
	sent, Lost uint64
	open       uint64 // besides lost: they are lost elsewhere, perhaps, or only their reports are
}

func (c *Amount) add(o Amount) {
	c.sent += o.sent
	c.Lost += o.Lost
	c.open += o.open
}

// Any reports whether it was sent packets.
func (c Amount) Any() bool { return c.sent > 0 }

func (c Amount) share() float64 { return float64(c.Lost) / float64(max(c.sent, 1)) }

// atLeast and atMost return between what the number of events lies that n were seen of, if each comes by chance (Byar's
// approximation of the exact limits of Poisson).
func atLeast(n uint64, deviations float64) float64 {
	k := float64(max(n, 1))
	return min(float64(n), k*math.Pow(max(1-1/(9*k)-deviations/(3*math.Sqrt(k)), 0), 3))
}

func atMost(n uint64, deviations float64) float64 {
	k := float64(n + 1)
	return k * math.Pow(1-1/(9*k)+deviations/(3*math.Sqrt(k)), 3)
}

// answer spells out an estimate.
func (c Amount) answer(method string) telemetry.LinkLoss {
	sent := float64(c.sent)
	share, lower, upper := c.share(), atLeast(c.Lost, lossDeviations)/sent, atMost(c.Lost+c.open, lossDeviations)/sent
	if method == telemetry.LossByTCP {
		upper /= 1 - min(unseenOfLost*upper, 0.5)
	}
	upper = min(upper, 1)
	return telemetry.LinkLoss{
		Share: &share, Lower: &lower, Upper: &upper, Confidence: lossConfidence, Sent: c.sent, Lost: c.Lost,
		Method: method,
	}
}

// unseenOfLost is for how much of the share of lost packets there may be more of them that streams do not show: nobody
// misses one behind which the sender waits, or that is sent again and lost again, and both come with losses. In
// networks drawn at random it was up to 3.1.
const unseenOfLost = 3.2

// muchByTCP is from what share of lost packets on that makes what streams show much too low.
const muchByTCP = 1.0 / 12

const (
	// A link that loses packets without a reason is an event if it is certain, to so many standard deviations, that it
	// lost one, in at least grayScans scans.
	grayDeviations, LeastScans = 3, 2
	// FewPackets is how many lost packets tell more than those of scans, or of a flow that lost all of its packets.
	FewPackets = 10
	// QuietNs is how long it loses none before that is over.
	QuietNs = int64(5 * time.Second)
)

// MaxLinks bounds them, each kind.
const MaxLinks = 1 << 14

// Links are links that lost packets lately, each direction for itself: at most maxCrossings.
type Links map[topology.LinkKey]*Link

// Share returns the share of its packets that a link loses, 0 if it does not lose enough, and what it is at least: less
// only where TCP shows it and misses many.
func (links Links) Share(k topology.LinkKey) (share, least float64) {
	g := links[k]
	if g == nil || !g.Certain() {
		return 0, 0
	}
	c := g.measured()
	if share = c.share(); g.Streams && !g.Numbered && share >= muchByTCP {
		return share, atLeast(c.Lost, lossDeviations) / float64(c.sent)
	}
	return share, share
}
