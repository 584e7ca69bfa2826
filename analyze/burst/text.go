package burst

import (
	"fmt"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// PeakText returns how long the queue of a burst was: in time, where telemetry tells no depth.
func (b *Burst) PeakText() string {
	switch {
	case b.Peak == 0:
		return telemetry.SIText(float64(b.PeakDelayNs)/1e9, "s")
	case b.Unit == codepoint.UnitBytes:
		return telemetry.SIText(float64(b.Peak), "B")
	}
	return fmt.Sprint(b.Peak, " ", b.Unit.Words())
}
