package scan

import (
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
)

// A lossDetector estimates what links lose, by what other detectors found.
type lossDetector struct {
	*scan
	links     *linkDetector
	gray      *grayDetector
	streams   *streamDetector
	estimator *loss.Estimator
	crowded   bool // postcards found no room to wait for each other, in this scan
	before    bool // and in the one before
}

func newLossDetector(s *scan, links *linkDetector, gray *grayDetector, streams *streamDetector) *lossDetector {
	return &lossDetector{
		scan: s, links: links, gray: gray, streams: streams, estimator: loss.NewEstimator(s.source.Losses),
	}
}

func (d *lossDetector) begin()                 { d.before, d.crowded = d.crowded, false }
func (d *lossDetector) observe(o *Observation) { d.crowded = d.crowded || o.Crowded }

func (d *lossDetector) finish() {
	links := make(map[topology.LinkKey]loss.Cards, len(d.links.links))
	for k := range d.links.links {
		count, _, why := d.gray.evidence(k, d.gray.earlierOn(k))
		if count.Any() && (d.crowded || d.before) {
			count, why = loss.Amount{}, loss.Crowded
		}
		links[k] = loss.Cards{Amount: count, Why: why}
	}
	d.estimator.Estimate(d.nowNs, links, d.streams.streams, d.name)
}
