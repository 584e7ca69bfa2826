package filter

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// DropTable has the values of Drops.
var DropTable = NewTable(Drops, joined(
	map[string]ValueOf[telemetry.Drop]{
		"node":         MaybeNumber(func(d *telemetry.Drop) *uint32 { return d.Node }),
		"name":         MaybeText(func(d *telemetry.Drop) string { return d.Name }),
		"ingress_port": MaybeNumber(func(d *telemetry.Drop) *uint32 { return d.IngressPort }),
		"egress_port":  MaybeNumber(func(d *telemetry.Drop) *uint32 { return d.EgressPort }),
		"reason":       Number(func(d *telemetry.Drop) uint8 { return d.Reason }),
		"reason_name":  MaybeText(func(d *telemetry.Drop) string { return d.ReasonName }),
		"packets":      Number(func(d *telemetry.Drop) uint64 { return d.Packets }),
		"drop_key":     MaybeText(func(d *telemetry.Drop) string { return d.DropKey }),
		"first":        At(func(d *telemetry.Drop) time.Time { return d.First }),
		"last":         At(func(d *telemetry.Drop) time.Time { return d.Last }),
	},
	endpointValues(func(d *telemetry.Drop) *telemetry.Endpoints { return d.LastFlow }),
))

// ExporterTable has the values of Exporters.
var ExporterTable = NewTable(Exporters, map[string]ValueOf[telemetry.Exporter]{
	"source":   maybeAddress(func(e *telemetry.Exporter) netip.Addr { return e.Source }),
	"node":     MaybeNumber(func(e *telemetry.Exporter) *uint32 { return e.Node }),
	"name":     MaybeText(func(e *telemetry.Exporter) string { return e.Name }),
	"hw_id":    MaybeNumber(func(e *telemetry.Exporter) *uint8 { return e.HWID }),
	"version":  MaybeText(func(e *telemetry.Exporter) string { return e.Version }),
	"dialect":  MaybeText(func(e *telemetry.Exporter) string { return e.Dialect }),
	"received": Number(func(e *telemetry.Exporter) uint64 { return e.Received }),
	"reports":  Number(func(e *telemetry.Exporter) uint64 { return e.Reports }),
	"lost":     MaybeNumber(func(e *telemetry.Exporter) *uint64 { return e.Lost }),
	"completeness": func(e *telemetry.Exporter, _ int) (Value, bool) {
		if e.Lost == nil || e.Received+*e.Lost == 0 {
			return Value{}, false
		}
		return FromFloat(float64(e.Received) / float64(e.Received+*e.Lost)), true
	},
	"loss_known": MaybeText(func(e *telemetry.Exporter) string { return e.LossKnown }),
	"reordered":  Number(func(e *telemetry.Exporter) uint64 { return e.Reordered }),
	"duplicate":  Number(func(e *telemetry.Exporter) uint64 { return e.Duplicate }),
	"restarted":  Number(func(e *telemetry.Exporter) uint64 { return e.Restarted }),
	"damaged":    Number(func(e *telemetry.Exporter) uint64 { return sum(e.Damaged) }),
	"malformed":  Number(func(e *telemetry.Exporter) uint64 { return sum(e.Malformed) }),
	"first":      At(func(e *telemetry.Exporter) time.Time { return e.First }),
	"last":       At(func(e *telemetry.Exporter) time.Time { return e.Last }),
})

func sum(counts map[string]uint64) (n uint64) {
	for _, count := range counts {
		n += count
	}
	return n
}
