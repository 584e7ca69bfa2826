package analyze

import "github.com/waybill-int/waybill/telemetry"

// estimate returns how many there are of what n were reported, if the node at which hops begin is known to report 1
// packet in so many; else nil.
func (c *Collector) estimate(hops []telemetry.PathHop, n uint64) *uint64 {
	if len(hops) == 0 || hops[0].Node == nil || hops[0].Dropped {
		return nil
	}
	rate := c.Configured().Sampling[*hops[0].Node]
	if rate == telemetry.SampleUnknown || rate > telemetry.MaxSampleRate {
		return nil
	}
	n *= uint64(rate)
	return &n
}

// estimateFlow completes the answer about a flow. Its source is the first node of the path that it takes now.
func (c *Collector) estimateFlow(f *telemetry.Flow) {
	if len(f.Paths) > 0 {
		f.PacketsEstimated = c.estimate(f.Paths[0].Hops, f.Packets)
		f.BytesEstimated = c.estimate(f.Paths[0].Hops, f.Bytes)
	}
}
