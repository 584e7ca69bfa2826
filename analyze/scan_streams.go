package analyze

import (
	"sync"

	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A streamDetector finds links that lose packets of TCP streams, or numbered ones.
type streamDetector struct {
	*scan
	gray    *grayDetector
	streams *loss.Streams
	route   []topology.HopKey // memory that is reused
	full    []uint32          // the same
}

func newStreamDetector(s *scan, gray *grayDetector) *streamDetector {
	return &streamDetector{scan: s, gray: gray, streams: loss.NewStreams()}
}

func (d *streamDetector) begin() { d.streams.Begin() }

func (d *streamDetector) observe(o *observation) {
	d.leftOut += o.holes.Displaced
	o.holes.Displaced = 0
	for i := range o.paths {
		p := o.paths[i].path
		if p.sinceScan.numbers.Any() {
			d.take(p, &p.sinceScan.numbers, p.sinceScan.hit.numbers, true)
		}
		if p.sinceScan.streams.Any() {
			d.take(p, &p.sinceScan.streams, p.sinceScan.hit.streams, false)
		}
	}
}

// take gathers what was lost of the streams on p.
func (d *streamDetector) take(p *path, c *loss.Count, hit *telemetry.Extent, numbered bool) {
	d.route, d.full = d.route[:0], d.full[:0]
	for i := range p.hops {
		if !p.uncertain {
			d.route = append(d.route, p.hops[i].HopKey)
		}
		d.full = append(d.full, p.hops[i].full)
		if c.Lost > 0 {
			p.hops[i].full = 0
		}
	}
	d.streams.Take(p.hash, numbered, d.route, c, hit, d.full)
}

func (d *streamDetector) finish() {
	told := sync.OnceValue(d.collector.samples)
	reports := loss.Reports{Lost: d.gray.exporters.reportsLost, Rate: func(node uint32) telemetry.SampleRate {
		list := told()
		return list.of(node).Rate
	}}
	d.streams.Finish(d.nowNs, reports, func(k topology.LinkKey, g *loss.Link, path uint64) {
		if d.gray.losing.Share(k) == 0 { // postcards tell more
			d.noteGray(k, g, d.streams.Links, path)
		}
	})
	d.leftOut += d.streams.LeftOut
	d.streams.LeftOut = 0
}
