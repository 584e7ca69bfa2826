package loss

import (
	"fmt"
	"sync"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Reasons why the loss of a link is not known.
const (
	lossOfNothing = "nothing tells of lost packets there: stacks do where TCP sends them again, postcards do always"
	Unnumbered    = "reports of %s carry no sequence numbers that count: packets may be lost, or reports"
	Crowded       = "more packets wait for postcards than there is room for"
	lossUnheard   = "reports of %s were lost: packets may be, too"
	lossUnlike    = "its two ends do not tell of the same packets"
	lossSampled   = "reports do not tell of every packet"
	lossInSeries  = "the same packets cross %s: which of the two loses them cannot be told"
	lossTooMany   = "there are too many links to estimate the loss of all"
)

const (
	// An estimate is of the latest lossSlots times lossSlotNs.
	lossSlots  = 12
	lossSlotNs = int64(5 * time.Second)
	// lossConfidence is how sure an interval is, and lossDeviations how many standard deviations that are.
	lossConfidence, lossDeviations = 0.95, 1.96
)

// arrivalsPerJump is how many arrivals of streams there must be for each hole, or else the reports do not tell of all
// packets, unless half of the holes are filled.
const arrivalsPerJump = 4

// Estimates are the latest estimates of what links lose. It locks itself.
type Estimates struct {
	mu    sync.Mutex
	links map[topology.LinkKey]telemetry.LinkLoss
}

// Of returns the estimate of a link, nil if nobody makes any.
func (l *Estimates) Of(k topology.LinkKey) *telemetry.LinkLoss {
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
	cards, numbers, tcp [lossSlots]Amount
	jumped              [lossSlots]uint64 // packets of streams that came behind a hole
	slot                int64             // the latest, counted since 1970
	Why                 string            // the latest scan does not count; "": it does, or there was nothing to count
	whySlot             int64
}

// turn makes room for a slot.
func (w *lossWindow) turn(slot int64) int {
	for i := max(w.slot+1, slot-lossSlots+1); i <= slot; i++ {
		w.cards[i%lossSlots], w.numbers[i%lossSlots] = Amount{}, Amount{}
		w.tcp[i%lossSlots], w.jumped[i%lossSlots] = Amount{}, 0
	}
	w.slot = slot
	return int(slot % lossSlots)
}

// answer returns the estimate by what tells of more packets.
func (w *lossWindow) answer() telemetry.LinkLoss {
	var cards, numbers, tcp Amount
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
	case tcp.sent > 0 && isSampled(jumped, tcp.sent, tcp.Lost+tcp.open):
		return telemetry.LinkLoss{Unknown: lossSampled}
	case tcp.sent > 0:
		return tcp.answer(telemetry.LossByTCP)
	case w.Why != "" && w.slot-w.whySlot < lossSlots:
		return telemetry.LinkLoss{Unknown: w.Why}
	}
	return telemetry.LinkLoss{Unknown: lossOfNothing}
}

// An Estimator estimates what links lose lately.
type Estimator struct {
	losses  *Estimates
	windows map[topology.LinkKey]*lossWindow
}

// NewEstimator returns one that keeps its latest estimates in losses.
func NewEstimator(losses *Estimates) *Estimator {
	return &Estimator{losses, map[topology.LinkKey]*lossWindow{}}
}

// A Cards is what postcards say of a link in a scan: how many packets it was sent and how many it lost, and why that
// is not known.
type Cards struct {
	Amount
	Why string
}

// Estimate adds what postcards and streams say of links in the scan at nowNs, and makes estimates of it. name names
// nodes.
func (e *Estimator) Estimate(nowNs int64, links map[topology.LinkKey]Cards, streams *Streams,
	name func(uint32) string,
) {
	slot, byLink := nowNs/lossSlotNs, streams.byLink()
	estimates := make(map[topology.LinkKey]telemetry.LinkLoss, len(links))
	for k, cards := range links {
		w := e.windows[k]
		if w == nil {
			w = &lossWindow{slot: slot}
			e.windows[k] = w
		}
		estimates[k] = w.add(slot, cards, byLink[candidate{LinkKey: k}], name)
	}
	for k := range e.windows {
		if _, ok := links[k]; !ok {
			delete(e.windows, k)
		}
	}
	e.losses.mu.Lock()
	e.losses.links = estimates
	e.losses.mu.Unlock()
}

// add adds what a scan found, and returns the estimate.
func (w *lossWindow) add(slot int64, cards Cards, s *streamLoss, name func(uint32) string) telemetry.LinkLoss {
	at := w.turn(slot)
	w.cards[at].add(cards.Amount)
	why := cards.Why
	var series *candidate
	if s != nil {
		w.tcp[at].add(s.Amount)
		w.numbers[at].add(s.numbers)
		w.jumped[at] += s.jumped
		if series = s.series; s.unheard && cards.sent+s.sent+s.numbers.sent == 0 {
			why = fmt.Sprintf(lossUnheard, name(s.sink))
		} else if s.sampled && cards.sent+s.sent+s.numbers.sent == 0 {
			why = lossSampled
		}
	}
	if why != "" {
		w.Why, w.whySlot = why, slot
	}
	e := w.answer()
	if series != nil && (e.Method == telemetry.LossByTCP || e.Method == telemetry.LossBySequence) && *e.Upper > 0 &&
		s.open+s.numbers.open > 0 {
		none := 0.0
		e.Share, e.Lower, e.Unknown = nil, &none, fmt.Sprintf(lossInSeries, series.text(name))
	}
	return e
}

// text names what may lose packets.
func (k *candidate) text(name func(uint32) string) string {
	switch {
	case !k.edge:
		return name(k.From) + "-" + name(k.To)
	case k.From != 0:
		return fmt.Sprint("port ", k.FromPort, " of ", name(k.From))
	}
	return fmt.Sprint("port ", k.ToPort, " of ", name(k.To))
}

// A streamLoss is what a link lost of TCP streams in a scan.
type streamLoss struct {
	Amount         // of TCP
	numbers Amount // of packets with a number
	jumped  uint64
	sampled bool       // the sink does not tell of every packet
	unheard bool       // it did not count in this scan
	sink    uint32     // whose reports were lost
	paths   uint64     // a hash of those that cross it
	series  *candidate // that the same paths cross; nil: none
}

// byLink adds up what was lost of streams in this scan, by what their packets crossed. What is lost on a path of which
// a link is known to lose packets was lost there.
func (t *Streams) byLink() map[candidate]*streamLoss {
	links := map[candidate]*streamLoss{}
	for _, p := range t.paths {
		c, known := &p.scans[t.at], false
		for _, k := range p.candidates {
			known = known || !k.edge && t.Links[k.LinkKey] != nil
		}
		kind := uint64(0x9e3779b97f4a7c15)
		if p.numbered {
			kind++
		}
		for _, k := range p.candidates {
			l := links[k]
			if l == nil {
				l = &streamLoss{}
				links[k] = l
			}
			l.paths ^= topology.Mix(p.hash, kind)
			l.sampled = l.sampled || p.sampledNs == t.nowNs
			if p.unheardNs == t.nowNs {
				l.unheard, l.sink = true, p.sink
			}
			lost := Amount{sent: uint64(c.Arrived + c.Lost)}
			switch {
			case !k.edge && t.Links[k.LinkKey] != nil:
				lost.Lost = uint64(c.Lost)
			case !known:
				lost.open = uint64(c.Lost)
			}
			switch {
			case p.sampledNs == t.nowNs:
			case p.numbered:
				l.numbers.add(lost)
			default:
				l.add(lost)
				l.jumped += uint64(c.Jumped)
			}
		}
	}
	same := map[uint64]candidate{}
	for k, l := range links {
		if first, ok := same[l.paths]; ok {
			l.series, links[first].series = &first, &k
		} else {
			same[l.paths] = k
		}
	}
	return links
}
