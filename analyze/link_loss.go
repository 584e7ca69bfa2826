package analyze

import (
	"fmt"
	"math"
	"sync"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Reasons why the loss of a link is not known.
const (
	lossOfNothing  = "nothing tells of lost packets there: stacks do where TCP sends them again, postcards do always"
	lossUnnumbered = "reports of %s carry no sequence numbers that count: packets may be lost, or reports"
	lossUnheard    = "reports of %s were lost: packets may be, too"
	lossUnlike     = "its two ends do not tell of the same packets"
	lossSampled    = "reports do not tell of every packet"
	lossInSeries   = "the same packets cross %s: which of the two loses them cannot be told"
	lossTooMany    = "there are too many links to estimate the loss of all"
)

const (
	// An estimate is of the latest lossSlots times lossSlotNs.
	lossSlots  = 12
	lossSlotNs = 5 * ScanNs
	// lossConfidence is how sure an interval is, and lossDeviations how many standard deviations that are.
	lossConfidence, lossDeviations = 0.95, 1.96
)

// A lossCount is how many packets a link was sent and lost.
type lossCount struct {
	sent, lost uint64
	open       uint64 // besides lost: they are lost elsewhere, perhaps, or only their reports are
}

func (c *lossCount) add(o lossCount) {
	c.sent += o.sent
	c.lost += o.lost
	c.open += o.open
}

func (c lossCount) share() float64 { return float64(c.lost) / float64(max(c.sent, 1)) }

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
func (c lossCount) answer(method string) telemetry.LinkLoss {
	sent := float64(c.sent)
	share, lower, upper := c.share(), atLeast(c.lost, lossDeviations)/sent, atMost(c.lost+c.open, lossDeviations)/sent
	upper = min(upper, 1)
	return telemetry.LinkLoss{
		Share: &share, Lower: &lower, Upper: &upper, Confidence: lossConfidence, Sent: c.sent, Lost: c.lost,
		Method: method,
	}
}

// LinkLosses are the latest estimates of what links lose. It locks itself.
type LinkLosses struct {
	mu    sync.Mutex
	links map[topology.LinkKey]telemetry.LinkLoss
}

// of returns the estimate of a link, nil if nobody makes any.
func (l *LinkLosses) of(k topology.LinkKey) *telemetry.LinkLoss {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.links[k]; ok {
		return &e
	}
	if len(l.links) >= topology.MaxLinks {
		return &telemetry.LinkLoss{Unknown: lossTooMany}
	}
	return &telemetry.LinkLoss{Unknown: lossOfNothing}
}

// A lossWindow is what became of the packets on a link lately.
type lossWindow struct {
	cards, numbers, tcp [lossSlots]lossCount
	jumped              [lossSlots]uint64 // packets of streams that came behind a hole
	slot                int64             // the latest, counted since 1970
	why                 string            // the latest scan does not count; "": it does, or there was nothing to count
	whySlot             int64
}

// turn makes room for a slot.
func (w *lossWindow) turn(slot int64) int {
	for i := max(w.slot+1, slot-lossSlots+1); i <= slot; i++ {
		w.cards[i%lossSlots], w.numbers[i%lossSlots] = lossCount{}, lossCount{}
		w.tcp[i%lossSlots], w.jumped[i%lossSlots] = lossCount{}, 0
	}
	w.slot = slot
	return int(slot % lossSlots)
}

// answer returns the estimate by what tells of more packets.
func (w *lossWindow) answer() telemetry.LinkLoss {
	var cards, numbers, tcp lossCount
	jumped := uint64(0)
	for i := range w.cards {
		cards.add(w.cards[i])
		numbers.add(w.numbers[i])
		tcp.add(w.tcp[i])
		jumped += w.jumped[i]
	}
	switch {
	case cards.sent > 0 && cards.sent >= max(numbers.sent, tcp.sent):
		return cards.answer(telemetry.LossByPostcards)
	case numbers.sent > 0 && numbers.sent >= tcp.sent:
		return numbers.answer(telemetry.LossBySequence)
	case tcp.sent > 0 && jumped*arrivalsPerJump > tcp.sent:
		return telemetry.LinkLoss{Unknown: lossSampled}
	case tcp.sent > 0:
		return tcp.answer(telemetry.LossByTCP)
	case w.why != "" && w.slot-w.whySlot < lossSlots:
		return telemetry.LinkLoss{Unknown: w.why}
	}
	return telemetry.LinkLoss{Unknown: lossOfNothing}
}

// A lossDetector estimates what links lose, by what other detectors found.
type lossDetector struct {
	*scan
	links   *linkDetector
	gray    *grayDetector
	streams *streamDetector
	windows map[topology.LinkKey]*lossWindow
}

func newLossDetector(s *scan, links *linkDetector, gray *grayDetector, streams *streamDetector) *lossDetector {
	return &lossDetector{s, links, gray, streams, map[topology.LinkKey]*lossWindow{}}
}

func (d *lossDetector) begin()               {}
func (d *lossDetector) observe(*observation) {}

func (d *lossDetector) finish() {
	slot := d.nowNs / lossSlotNs
	streams := d.streams.byLink()
	estimates := make(map[topology.LinkKey]telemetry.LinkLoss, len(d.links.links))
	for k := range d.links.links {
		w := d.windows[k]
		if w == nil {
			w = &lossWindow{slot: slot}
			d.windows[k] = w
		}
		at := w.turn(slot)
		cards, _, why := d.gray.evidence(k, d.gray.earlierOn(k))
		w.cards[at].add(cards)
		var series *suspect
		if s := streams[suspect{LinkKey: k}]; s != nil {
			w.tcp[at].add(s.lossCount)
			w.numbers[at].add(s.numbers)
			w.jumped[at] += s.jumped
			if series = s.series; s.unheard && cards.sent+s.sent+s.numbers.sent == 0 {
				why = fmt.Sprintf(lossUnheard, d.name(s.sink))
			} else if s.sampled && cards.sent+s.sent+s.numbers.sent == 0 {
				why = lossSampled
			}
		}
		if why != "" {
			w.why, w.whySlot = why, slot
		}
		e := w.answer()
		if series != nil && (e.Method == telemetry.LossByTCP || e.Method == telemetry.LossBySequence) && *e.Upper > 0 &&
			streams[suspect{LinkKey: k}].open+streams[suspect{LinkKey: k}].numbers.open > 0 {
			none := 0.0
			e.Share, e.Lower, e.Unknown = nil, &none, fmt.Sprintf(lossInSeries, d.suspectText(series))
		}
		estimates[k] = e
	}
	for k := range d.windows {
		if d.links.links[k] == nil {
			delete(d.windows, k)
		}
	}
	d.collector.Losses.mu.Lock()
	d.collector.Losses.links = estimates
	d.collector.Losses.mu.Unlock()
}

// suspectText names what may lose packets.
func (s *scan) suspectText(k *suspect) string {
	switch {
	case !k.edge:
		return s.name(k.From) + "-" + s.name(k.To)
	case k.From != 0:
		return fmt.Sprint("port ", k.FromPort, " of ", s.name(k.From))
	}
	return fmt.Sprint("port ", k.ToPort, " of ", s.name(k.To))
}

// A streamLoss is what a link lost of TCP streams in a scan.
type streamLoss struct {
	lossCount           // of TCP
	numbers   lossCount // of packets with a number
	jumped    uint64
	sampled   bool     // the sink does not tell of every packet
	unheard   bool     // it did not count in this scan
	sink      uint32   // whose reports were lost
	paths     uint64   // a hash of those that cross it
	series    *suspect // that the same paths cross; nil: none
}

// byLink adds up what was lost of streams in this scan, by what their packets crossed. What is lost on a path of which
// a link is known to lose packets was lost there.
func (d *streamDetector) byLink() map[suspect]*streamLoss {
	links := map[suspect]*streamLoss{}
	for _, p := range d.paths {
		c, guilty := &p.scans[d.at], false
		for _, k := range p.suspects {
			guilty = guilty || !k.edge && d.leaks[k.LinkKey] != nil
		}
		kind := uint64(0x9e3779b97f4a7c15)
		if p.numbered {
			kind++
		}
		for _, k := range p.suspects {
			l := links[k]
			if l == nil {
				l = &streamLoss{}
				links[k] = l
			}
			l.paths ^= topology.Mix(p.hash, kind)
			l.sampled = l.sampled || p.sampledNs == d.nowNs
			if p.unheardNs == d.nowNs {
				l.unheard, l.sink = true, p.sink
			}
			lost := lossCount{sent: uint64(c.arrived + c.lost)}
			switch {
			case !k.edge && d.leaks[k.LinkKey] != nil:
				lost.lost = uint64(c.lost)
			case !guilty:
				lost.open = uint64(c.lost)
			}
			switch {
			case p.sampledNs == d.nowNs:
			case p.numbered:
				l.numbers.add(lost)
			default:
				l.add(lost)
				l.jumped += uint64(c.jumped)
			}
		}
	}
	same := map[uint64]suspect{}
	for k, l := range links {
		if first, ok := same[l.paths]; ok {
			l.series, links[first].series = &first, &k
		} else {
			same[l.paths] = k
		}
	}
	return links
}
