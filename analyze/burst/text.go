package burst

import (
	"fmt"
	"time"

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

// Text says in a sentence what the queue at a place did.
func (b *Burst) Text(place string) string {
	lasted := time.Duration(b.EndNs - b.StartNs)
	text := fmt.Sprintf("queue of %s peaked at %s for %s", place, b.PeakText(), telemetry.SIText(lasted.Seconds(), "s"))
	switch {
	case lasted == 0:
		text = fmt.Sprintf("queue of %s was at %s in a single report", place, b.PeakText())
		if slack := b.StartSlackNs + b.EndSlackNs; slack > 0 {
			text += fmt.Sprintf("; it was long for less than %s", telemetry.SIText(float64(slack)/1e9, "s"))
		}
	case b.Incast && b.MainSources == b.Sources:
		text += fmt.Sprintf(", an incast of %d senders", b.Sources)
	case b.Incast: // with who has little to do with it, such as acknowledgements
		text += fmt.Sprintf(", an incast: %d of %d senders brought 80 %% of it", b.MainSources, b.Sources)
	case lasted > time.Second:
		text += " (longer than a second: congestion, not a microburst)"
	}
	return text
}

// Evidence returns the numbers of an event about the burst.
func (b *Burst) Evidence() []telemetry.Evidence {
	unit := b.Unit.String()
	if b.Unit == codepoint.UnitBytes {
		unit = "B"
	}
	list := []telemetry.Evidence{
		{Name: "peak", Value: float64(b.Peak), Unit: unit},
		{Name: "peak_after", Value: float64(b.PeakNs - b.StartNs), Unit: "ns"},
		{Name: "bytes", Value: float64(b.Bytes), Unit: "B"},
		{Name: "drops", Value: float64(b.Drops)},
		{Name: "culprits", Value: float64(len(b.Culprits))},
		{Name: "victims", Value: float64(len(b.Victims))},
		{Name: "complete", Value: b.Complete},
	}
	if len(b.Culprits) > 0 {
		list = append(list, telemetry.Evidence{Name: "share_of_first_culprit", Value: b.Culprits[0].Share})
	}
	return list
}
