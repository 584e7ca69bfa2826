package scan

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

func (d *streamDetector) observe(o *Observation) {
	for i := range o.Paths {
		p := &o.Paths[i]
		if p.Numbers.Any() {
			d.take(p, &p.Numbers, p.Hit.Numbers, true)
		}
		if p.Streams.Any() {
			d.take(p, &p.Streams, p.Hit.Streams, false)
		}
	}
}

// take gathers what was lost of the streams on p.
func (d *streamDetector) take(p *Path, c *loss.Count, hit *telemetry.Extent, numbered bool) {
	d.route, d.full = d.route[:0], d.full[:0]
	for i := range p.Hops {
		if !p.Uncertain {
			d.route = append(d.route, p.Hops[i].HopKey)
		}
		d.full = append(d.full, p.Hops[i].Full)
		if c.Lost > 0 {
			p.Hops[i].Full = 0
		}
	}
	d.streams.Take(p.Hash, numbered, d.route, c, hit, d.full)
}

func (d *streamDetector) finish() {
	rates := sync.OnceValue(d.source.SampleRates)
	reports := loss.Reports{Lost: d.gray.exporters.reportsLost, Rate: func(node uint32) telemetry.SampleRate {
		return rates()(node)
	}}
	d.streams.Finish(d.nowNs, reports, func(k topology.LinkKey, g *loss.Link, path uint64) {
		if share, _ := d.gray.losing.Share(k); share == 0 { // postcards tell more
			d.noteGray(k, g, d.streams.Links, path)
		}
	})
	d.leftOut += d.streams.LeftOut
	d.streams.LeftOut = 0
}
