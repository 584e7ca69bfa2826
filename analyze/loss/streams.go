package loss

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// streamScans is over how many scans paths are compared.
	streamScans = 8
	// maxStreamPaths bounds the paths of streams that are remembered.
	maxStreamPaths = 1 << 14
	// maxLocalized bounds the links that are found in a scan, those that lose the most first.
	maxLocalized = 32
	// lostPerFull is how many packets a link must have lost for each that came to a full queue.
	lostPerFull = 5
)

// A streamKey is a path, of packets that the source numbers or of others.
type streamKey struct {
	hash     uint64
	numbered bool
}

// A streamPath is what was lost on a path in the latest scans.
type streamPath struct {
	streamKey
	candidates []candidate
	sink       uint32
	// scan in which nothing counted, since reports of the sink were lost
	unheardNs int64
	sampledNs int64 // the same, since the sink does not tell of every packet
	scans     [streamScans]Count
	doubts    [streamScans]doubt
	hit       [streamScans]*telemetry.Extent // of the lost packets
	// lost ones that came to a long queue in front of the link, by candidate; nil: none
	full [streamScans][]uint32
}

// A doubt is when something was missing that did not count, since reports of the sink were lost; 0: nothing was.
type doubt struct{ firstNs, lastNs int64 }

func (d *doubt) add(o doubt) {
	if d.firstNs == 0 || o.firstNs > 0 && o.firstNs < d.firstNs {
		d.firstNs = o.firstNs
	}
	d.lastNs = max(d.lastNs, o.lastNs)
}

// total returns what came and was lost in all scans.
func (p *streamPath) total() (c Count) {
	for i := range p.scans {
		c.Add(&p.scans[i])
	}
	return c
}

// forget empties the place of a scan.
func (p *streamPath) forget(at int) {
	p.scans[at], p.doubts[at], p.full[at], p.hit[at] = Count{}, doubt{}, nil, nil
}

// jumps reports whether so many packets came behind a hole that reports tell of some packets only: unless the sink is
// known to tell of every packet, and what was sent again fills the holes.
func (t *Streams) jumps(p *streamPath) bool {
	c := p.total()
	if c.Jumped*arrivalsPerJump <= c.Arrived {
		return false
	}
	return t.reports.Rate(p.sink) != telemetry.SampleEvery ||
		isSampled(uint64(c.Jumped), uint64(c.Arrived), uint64(c.Lost))
}

// isSampled reports whether holes are of what nobody reported: there are many, and what was sent again fills few.
func isSampled(jumped, arrived, filled uint64) bool {
	return jumped*arrivalsPerJump > arrived && 2*filled < jumped
}

func (p *streamPath) compare(o *streamPath) int {
	switch {
	case p.numbered == o.numbered:
		return cmp.Compare(p.hash, o.hash)
	case p.numbered:
		return -1
	}
	return 1
}

// tellsEvery reports whether a sink tells of every packet, so that numbers which do not come are lost packets: where
// nothing else shows how it chooses them, nearly all numbers came lately.
func tellsEvery(rate telemetry.SampleRate, numbers *Count) bool {
	return rate == telemetry.SampleEvery ||
		rate < telemetry.SamplePart &&
			float64(numbers.Arrived) >= telemetry.EveryShare*float64(numbers.Arrived+numbers.Lost)
}

// A scanLoss is what a link lost of streams in a scan.
type scanLoss struct {
	Amount
	firstNs, lastNs int64
	path            uint64 // on which most was lost; its hash
	pathLost        uint32
	numbered        bool // by the numbers of packets
	hit             *telemetry.Extent
	doubt           doubt
}

// Streams keep what was lost on the paths of the latest scans, and find the links that lost it.
type Streams struct {
	at      int                       // the place of this scan in those of a path
	nowNs   int64                     // of the latest scan
	paths   map[streamKey]*streamPath // of the latest scans
	Links   Links                     // that lost packets of streams lately
	LeftOut uint64                    // paths and links for which there was no room
	reports Reports
	lost    []lostOn // in this scan
}

// lostOn is a link that lost packets, and one of the paths on which they were.
type lostOn struct {
	key  topology.LinkKey
	link *Link
	path uint64
}

// Reports says how far the reports of nodes can be relied on.
type Reports struct {
	// Lost returns how many reports of a node were lost since the scan before; false: nobody knows.
	Lost func(node uint32) (n uint64, known bool)
	// Rate returns of which packets a node reports.
	Rate func(node uint32) telemetry.SampleRate
}

// NewStreams returns a table that knows of no path yet.
func NewStreams() *Streams {
	return &Streams{paths: map[streamKey]*streamPath{}, Links: Links{}}
}

// Begin makes room for a scan, and forgets paths on which nothing came since.
func (t *Streams) Begin() {
	t.at = (t.at + 1) % streamScans
	for key, p := range t.paths {
		p.forget(t.at)
		if c := p.total(); !c.Any() && p.doubts == [streamScans]doubt{} {
			delete(t.paths, key)
		}
	}
}

// Take adds what was lost on a path along route since the last scan, and whose packets these were. full is how many of
// the lost packets came to a long queue, by hop. A route that is not known well enough may be empty.
func (t *Streams) Take(hash uint64, numbered bool, route []topology.HopKey, c *Count, hit *telemetry.Extent,
	full []uint32,
) {
	key := streamKey{hash, numbered}
	q := t.paths[key]
	if q == nil {
		candidates, ok := candidatesOf(route, numbered)
		if !ok {
			return
		}
		if len(t.paths) >= maxStreamPaths {
			t.LeftOut++
			return
		}
		q = &streamPath{streamKey: key, candidates: candidates, sink: route[len(route)-1].Node}
		t.paths[key] = q
	}
	q.scans[t.at].Add(c)
	if c.Lost == 0 {
		return
	}
	q.hit[t.at] = q.hit[t.at].Plus(hit)
	if q.full[t.at] == nil {
		q.full[t.at] = make([]uint32, len(q.candidates))
	}
	first := max(len(q.candidates)-len(full), 0) // the link behind the first queue
	for i, n := range full {
		if first+i < len(q.candidates) {
			q.full[t.at][first+i] += n
		}
	}
}

// Finish ends a scan at nowNs, and calls found for each link that lost packets in this scan, or may have, with the hash
// of a path over it.
func (t *Streams) Finish(nowNs int64, reports Reports, found func(k topology.LinkKey, g *Link, path uint64)) {
	t.nowNs, t.reports = nowNs, reports
	paths := t.judged()
	localized := map[topology.LinkKey]bool{}
	for range maxLocalized {
		links, rest, ok := localize(paths)
		if !ok {
			break
		}
		for _, k := range links {
			localized[k] = true
			t.addLoss(k, paths)
		}
		paths = rest
	}
	for k, g := range t.Links {
		if !localized[k] && g.Certain() { // too little for a verdict, of what no other link explains
			t.addLoss(k, paths)
		}
		if t.nowNs-g.LastNs > QuietNs {
			delete(t.Links, k)
		}
	}
	for _, l := range t.lost { // when both directions of each are known
		found(l.key, l.link, l.path)
	}
	t.lost = t.lost[:0]
}

// judged returns the paths of the latest scans, always in the same order. What was lost in this scan does not
// count where as many reports of the sink were lost: data that is sent again for another reason would fill the holes
// that these make.
func (t *Streams) judged() []*streamPath {
	lost := map[uint32]uint64{} // by sink
	numbers := map[uint32]*Count{}
	for _, p := range t.paths {
		lost[p.sink] += uint64(p.scans[t.at].Lost)
		if p.numbered {
			if numbers[p.sink] == nil {
				numbers[p.sink] = &Count{}
			}
			c := p.total()
			numbers[p.sink].Add(&c)
		}
	}
	paths := make([]*streamPath, 0, len(t.paths))
	for _, p := range t.paths {
		reports, known := t.reports.Lost(p.sink)
		switch {
		case !known, reports > 0 && (p.numbered || reports >= lost[p.sink]):
			c := &p.scans[t.at]
			missing := doubt{c.FirstNs, c.LastNs}
			p.forget(t.at)
			p.doubts[t.at], p.unheardNs = missing, t.nowNs
		case p.numbered && numbers[p.sink].Jumped > 0 && !tellsEvery(t.reports.Rate(p.sink), numbers[p.sink]):
			p.sampledNs = t.nowNs
			continue
		case !p.numbered && t.jumps(p):
			p.sampledNs = t.nowNs
			continue
		}
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b *streamPath) int { return a.compare(b) })
	return paths
}

// lossOf adds up what paths say that a link lost in a scan. What is lost in front of a full queue has a reason, whether
// a node says so or not: that is nothing.
func (t *Streams) lossOf(k topology.LinkKey, paths []*streamPath, scan int) (l scanLoss) {
	var of, all Count // in the scan, and in all of them
	full := uint32(0)
	for _, p := range paths {
		i := slices.Index(p.candidates, candidate{LinkKey: k})
		if i < 0 {
			continue
		}
		c, total := &p.scans[scan], p.total()
		of.Add(c)
		all.Add(&total)
		l.hit = l.hit.Plus(p.hit[scan])
		l.doubt.add(p.doubts[scan])
		for _, n := range p.full {
			if n != nil {
				full += n[i]
			}
		}
		l.numbered = l.numbered || p.numbered && c.Lost > 0
		if c.Lost > l.pathLost {
			l.path, l.pathLost = p.hash, c.Lost
		}
	}
	l.sent = uint64(of.Arrived) + uint64(of.Lost)
	unheard, _ := t.reports.Lost(k.From) // of drops, perhaps
	switch {
	case all.Lost > 0 && full*lostPerFull >= all.Lost:
		l.hit, l.doubt = nil, doubt{}
	case uint64(of.Lost) > unheard:
		l.Lost, l.firstNs, l.lastNs = uint64(of.Lost), of.FirstNs, of.LastNs
	default:
		l.hit = nil
		l.doubt.add(doubt{of.FirstNs, of.LastNs})
	}
	return l
}

// addLoss adds what a link lost of the streams on paths in this scan, and at first in those before it.
func (t *Streams) addLoss(k topology.LinkKey, paths []*streamPath) {
	g, ago := t.Links[k], 0
	if g == nil {
		if len(t.Links) >= MaxLinks {
			t.LeftOut++
			return
		}
		g, ago = &Link{Streams: true}, streamScans-1
		t.Links[k] = g
	}
	for ; ago >= 0; ago-- {
		l := t.lossOf(k, paths, (t.at+streamScans-ago)%streamScans)
		if l.doubt.firstNs > 0 {
			g.Doubt(l.doubt.firstNs, l.doubt.lastNs)
		}
		if l.Lost == 0 && g.Scans == 0 {
			continue // before it began
		}
		if g.Scans == 0 {
			g.Begin(l.firstNs)
		}
		g.Add(l.Amount)
		g.Hit = g.Hit.Plus(l.hit)
		g.Numbered = g.Numbered || l.numbered
		g.LastNs = max(g.LastNs, l.lastNs)
		if ago == 0 && (l.Lost > 0 || l.doubt.firstNs > 0) {
			t.lost = append(t.lost, lostOn{k, g, l.path})
		}
	}
}
