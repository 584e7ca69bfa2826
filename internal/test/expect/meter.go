package expect

import "github.com/waybill-int/waybill/telemetry"

// values are numbers of which the API tells how many, the smallest, the largest and the mean.
type values struct {
	count, sum, min, max uint64
}

func (v *values) add(n uint64) {
	if v.count == 0 || n < v.min {
		v.min = n
	}
	v.max = max(v.max, n)
	v.sum += n
	v.count++
}

func (v *values) merge(o *values) {
	if o.count == 0 {
		return
	}
	if v.count == 0 || o.min < v.min {
		v.min = o.min
	}
	v.max = max(v.max, o.max)
	v.sum += o.sum
	v.count += o.count
}

func (v *values) answer() *telemetry.Distribution {
	if v.count == 0 {
		return nil
	}
	return &telemetry.Distribution{Count: v.count, Min: v.min, Max: v.max, Mean: float64(v.sum) / float64(v.count)}
}

// A meter is what packets met at one hop of a path.
type meter struct {
	latency values
	depth   values
	last    uint64
	queue   uint8 // of the last packet
}

func (m *meter) add(s *sight) {
	if s.has&telemetry.HasLatency != 0 {
		m.latency.add(s.latency)
	}
	if s.has&telemetry.HasQueue != 0 {
		m.depth.add(s.depth)
		m.last, m.queue = s.depth, s.queue
	}
}

func (m *meter) answer(a *telemetry.PathHop) {
	a.LatencyNs = m.latency.answer()
	if m.depth.count > 0 {
		last := uint32(m.last)
		a.Queue = &telemetry.Queue{
			ID: m.queue, Mean: float64(m.depth.sum) / float64(m.depth.count),
			Max: uint32(m.depth.max), Last: &last,
		}
	}
}
