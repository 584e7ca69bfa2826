package ledger

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// maxSamples bounds the samples of all exporters of a receiver, 2 KiB each.
const maxSamples = 256

// sampled is the first datagram that broke a rule in some way.
type sampled map[wire.Error]telemetry.Hex

// sample keeps a copy of a datagram that is malformed or damaged, if it is the first of x for that reason.
func (e *Exporters) sample(x *exporter, h *telemetry.Header) {
	if x.samples[h.Reason] != nil || len(h.Datagram) == 0 {
		return
	}
	if e.samples >= maxSamples {
		e.unsampled++
		return
	}
	if x.samples == nil {
		x.samples = sampled{}
	}
	x.samples[h.Reason] = telemetry.HexOf(h.Datagram)
	e.samples++
}

// answer returns the samples by error code.
func (s sampled) answer() map[string]telemetry.Hex {
	if len(s) == 0 {
		return nil
	}
	m := map[string]telemetry.Hex{}
	for reason, datagram := range s {
		m[reason.Error()] = datagram
	}
	return m
}
