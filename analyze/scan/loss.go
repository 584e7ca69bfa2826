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
}

func newLossDetector(s *scan, links *linkDetector, gray *grayDetector, streams *streamDetector) *lossDetector {
	return &lossDetector{s, links, gray, streams, loss.NewEstimator(s.source.Losses)}
}

func (d *lossDetector) begin()               {}
func (d *lossDetector) observe(*Observation) {}

func (d *lossDetector) finish() {
	links := make(map[topology.LinkKey]loss.Cards, len(d.links.links))
	for k := range d.links.links {
		count, _, why := d.gray.evidence(k, d.gray.earlierOn(k))
		links[k] = loss.Cards{Amount: count, Why: why}
	}
	d.estimator.Estimate(d.nowNs, links, d.streams.streams, d.name)
}
