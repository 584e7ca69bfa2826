package scan

import (
	"github.com/waybill-int/waybill/analyze/checksum"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A checksumDetector finds nodes whose packets have wrong headers, and had right ones before.
type checksumDetector struct {
	*scan
	headers checksum.Histories
	now     checksum.Sums // since the last scan
}

func (d *checksumDetector) begin() { d.now = checksum.Sums{} }

func (d *checksumDetector) observe(o *Observation) { d.now.Add(o.Checksums) }

func (d *checksumDetector) finish() {
	for k, n := range d.headers.Judge(d.now) {
		key := eventlog.Key{Kind: telemetry.EventMalformed, Node: k.Node, Reason: wrongChecksumReason}
		if k.L4 != 0 {
			key.Reason = wrongL4ChecksumReason
		}
		d.log.Note(key, n.First, n.Last, n.Wrong, func(e *telemetry.Event) {
			d.at(e, &topology.HopKey{Node: k.Node, Has: telemetry.HasNode})
			n.Describe(e, k, d.name(k.Node))
		})
	}
}

// These reasons are no numbers of errors of wire.
const wrongChecksumReason, wrongL4ChecksumReason = 255, 254
