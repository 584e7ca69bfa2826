package analyze

import (
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/telemetry"
)

// TakeBursts lets v give the bursts of a log too. Call it before the first look.
func (v *Intervals) TakeBursts(l *burst.Log) { v.bursts = l }

// takeBursts adds the bursts that were found since the last look, and their flows.
func (v *Intervals) takeBursts(batch *telemetry.Intervals) {
	if v.bursts == nil {
		return
	}
	list, added, missing := v.bursts.After(v.burstsGiven)
	v.burstsGiven = added
	v.ungivenBursts.Add(missing)
	for i := range list {
		b := &list[i]
		for _, c := range b.Culprits {
			batch.BurstFlows = append(batch.BurstFlows, telemetry.BurstFlow{
				Burst: b, Culprit: true, Flow: c.Flow, Packets: c.Packets, Bytes: c.Bytes, Drops: c.Drops,
				BuildUpBytes: c.BuildUpBytes, Share: c.Share,
			})
		}
		for _, c := range b.Victims {
			batch.BurstFlows = append(batch.BurstFlows, telemetry.BurstFlow{
				Burst: b, Flow: c.Flow, Packets: c.Packets, Bytes: c.Bytes, Drops: c.Drops, ExtraNs: c.ExtraNs,
				MaxExtraNs: c.MaxExtraNs,
			})
		}
	}
	batch.Bursts = list
}
