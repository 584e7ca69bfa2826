package cli

import (
	"github.com/waybill-int/waybill/api/client"
)

// Delays between two nodes, of links and paths.

// known returns the delays that are known.
func known(d *client.Delay) *client.Distribution {
	if d == nil {
		return nil
	}
	return d.NS
}

// delayWithin returns by how much delays can be wrong.
func (v *view) delayWithin(d *client.Delay) string {
	if d == nil || d.UncertaintyNs == nil {
		return unknown
	}
	around := int64(*d.UncertaintyNs)
	return v.within(&around)
}

// clocksOf returns by how much the end-to-end times of a flow are wrong.
func clocksOf(f *client.Flow) client.ClockOffset {
	if f.EndToEndBy == nil {
		return client.ClockOffset{}
	}
	return *f.EndToEndBy
}

// endToEnd returns the mean end-to-end time of a flow without what the clocks of its ends differ, if that is known.
func (v *view) endToEnd(f *client.Flow) string {
	offset := clocksOf(f).OffsetNs
	if f.EndToEnd == nil || offset == nil {
		return unknown
	}
	return v.duration(max(f.EndToEnd.Mean-float64(*offset), 0))
}
