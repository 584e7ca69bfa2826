package analyze

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
	// maxAccused bounds the links that are found in a scan, those that lose the most first.
	maxAccused = 32
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
	suspects []suspect
	sink     uint32
	// scan in which nothing counted, since reports of the sink were lost
	unheardNs int64
	sampledNs int64 // the same, since the sink does not tell of every packet
	scans     [streamScans]streamCount
	full      [streamScans][]uint32 // lost ones that came to a long queue in front of the link, by suspect; nil: none
}

// total returns what came and was lost in all scans.
func (p *streamPath) total() (c streamCount) {
	for i := range p.scans {
		c.add(&p.scans[i])
	}
	return c
}

// A streamDetector finds links that lose packets of TCP streams.
type streamDetector struct {
	*scan
	gray  *grayDetector
	at    int                            // the place of this scan in those of a path
	paths map[streamKey]*streamPath      // of the latest scans
	leaks map[topology.LinkKey]*grayLink // links that lost packets of streams lately
}

func newStreamDetector(s *scan, gray *grayDetector) *streamDetector {
	return &streamDetector{
		scan: s, gray: gray, paths: map[streamKey]*streamPath{},
		leaks: map[topology.LinkKey]*grayLink{},
	}
}

// begin makes room for a scan, and forgets paths on which nothing came since.
func (d *streamDetector) begin() {
	d.at = (d.at + 1) % streamScans
	for key, p := range d.paths {
		p.scans[d.at], p.full[d.at] = streamCount{}, nil
		if c := p.total(); !c.any() {
			delete(d.paths, key)
		}
	}
}

func (d *streamDetector) observe(o *observation) {
	d.leftOut += o.holes.displaced
	o.holes.displaced = 0
	for i := range o.paths {
		p := o.paths[i].path
		if p.sinceScan.numbers.any() {
			d.take(p, &p.sinceScan.numbers, true)
		}
		if p.sinceScan.streams.any() {
			d.take(p, &p.sinceScan.streams, false)
		}
	}
}

// take gathers what was lost of the streams on p.
func (d *streamDetector) take(p *path, c *streamCount, numbered bool) {
	key := streamKey{p.hash, numbered}
	q := d.paths[key]
	if q == nil {
		suspects, ok := suspectsOf(p.hops, numbered)
		if !ok || p.uncertain {
			return
		}
		if len(d.paths) >= maxStreamPaths {
			d.leftOut++
			return
		}
		q = &streamPath{streamKey: key, suspects: suspects, sink: p.hops[len(p.hops)-1].Node}
		d.paths[key] = q
	}
	q.scans[d.at].add(c)
	if c.lost == 0 {
		return
	}
	if q.full[d.at] == nil {
		q.full[d.at] = make([]uint32, len(q.suspects))
	}
	first := max(len(q.suspects)-len(p.hops), 0) // the link behind the first queue
	for i := range p.hops {
		if first+i < len(q.suspects) {
			q.full[d.at][first+i] += p.hops[i].full
		}
		p.hops[i].full = 0
	}
}

func (d *streamDetector) finish() {
	paths := d.judged()
	accused := map[topology.LinkKey]bool{}
	for range maxAccused {
		guilty, rest, ok := accuse(paths)
		if !ok {
			break
		}
		for _, k := range guilty {
			accused[k] = true
			d.leak(k, paths)
		}
		paths = rest
	}
	for k, g := range d.leaks {
		if !accused[k] && g.certain() { // too little for a verdict, of what no other link explains
			d.leak(k, paths)
		}
		if d.nowNs-g.lastNs > graySilenceNs {
			delete(d.leaks, k)
		}
	}
}

// judged returns the paths of the latest scans, always in the same order. What was lost in this scan does not
// count where as many reports of the sink were lost: data that is sent again for another reason would fill the holes
// that these make.
func (d *streamDetector) judged() []*streamPath {
	lost := map[uint32]uint64{} // by sink
	numbers := map[uint32]*streamCount{}
	for _, p := range d.paths {
		lost[p.sink] += uint64(p.scans[d.at].lost)
		if p.numbered {
			if numbers[p.sink] == nil {
				numbers[p.sink] = &streamCount{}
			}
			c := p.total()
			numbers[p.sink].add(&c)
		}
	}
	var told samples
	if len(numbers) > 0 {
		told = d.collector.samples()
	}
	paths := make([]*streamPath, 0, len(d.paths))
	for _, p := range d.paths {
		reports, known := d.gray.exporters.reportsLost(p.sink)
		switch {
		case !known, reports > 0 && (p.numbered || reports >= lost[p.sink]):
			p.scans[d.at], p.full[d.at] = streamCount{}, nil
			p.unheardNs = d.nowNs
		case p.numbered && numbers[p.sink].jumped > 0 && !tellsEvery(told.of(p.sink).rate, numbers[p.sink]):
			p.sampledNs = d.nowNs
			continue
		}
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b *streamPath) int { return a.compare(b) })
	return paths
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
func tellsEvery(rate telemetry.SampleRate, numbers *streamCount) bool {
	return rate == telemetry.SampleEvery ||
		rate < telemetry.SamplePart && float64(numbers.arrived) >= everyShare*float64(numbers.arrived+numbers.lost)
}

// A leak is what a link lost of streams in a scan.
type leak struct {
	lossCount
	firstNs, lastNs int64
	path            uint64 // on which most was lost; its hash
	pathLost        uint32
	numbered        bool // by the numbers of packets
}

// leakOf adds up what paths say that a link lost in a scan. What is lost in front of a full queue has a reason, whether
// a node says so or not: that is nothing.
func (d *streamDetector) leakOf(k topology.LinkKey, paths []*streamPath, scan int) (l leak) {
	var of, all streamCount // in the scan, and in all of them
	full := uint32(0)
	for _, p := range paths {
		i := slices.Index(p.suspects, suspect{LinkKey: k})
		if i < 0 {
			continue
		}
		c, total := &p.scans[scan], p.total()
		of.add(c)
		all.add(&total)
		for _, n := range p.full {
			if n != nil {
				full += n[i]
			}
		}
		l.numbered = l.numbered || p.numbered && c.lost > 0
		if c.lost > l.pathLost {
			l.path, l.pathLost = p.hash, c.lost
		}
	}
	l.sent = uint64(of.arrived) + uint64(of.lost)
	unheard, _ := d.gray.exporters.reportsLost(k.From) // of drops, perhaps
	if uint64(of.lost) > unheard && full*lostPerFull < all.lost {
		l.lost, l.firstNs, l.lastNs = uint64(of.lost), of.firstNs, of.lastNs
	}
	return l
}

// leak adds what a link lost of the streams on paths in this scan, and at first in those before it.
func (d *streamDetector) leak(k topology.LinkKey, paths []*streamPath) {
	g, ago := d.leaks[k], 0
	if g == nil {
		if len(d.leaks) >= maxCrossings {
			d.leftOut++
			return
		}
		g, ago = &grayLink{streams: true}, streamScans-1
		d.leaks[k] = g
	}
	for ; ago >= 0; ago-- {
		l := d.leakOf(k, paths, (d.at+streamScans-ago)%streamScans)
		if l.lost == 0 && g.scans == 0 {
			continue // before it began
		}
		if g.scans == 0 {
			g.firstNs = l.firstNs
		}
		g.add(l.lossCount)
		g.numbered = g.numbered || l.numbered
		g.lastNs = max(g.lastNs, l.lastNs)
		if l.lost > 0 && ago == 0 && grayShare(d.gray.suspects, k) == 0 { // postcards tell more
			d.noteGray(k, g, d.leaks, l.path)
		}
	}
}
