package event

import "math/bits"

// ways is the number of slots in a bucket.
const ways = 4

// A slot remembers what the last packet of a flow showed.
type slot struct {
	flow            uint64
	path            uint64
	latency         uint64 // in quanta
	seenNs          uint64 // time of the last packet
	reportedNs      uint64 // time of the last report
	ingress, egress uint32
	used            bool
	ended           bool // its end was reported
}

// A bucket is the place of some flows. A flow may be in either of two buckets.
type bucket [ways]slot

// A Detector finds the packets of watched flows that are worth a report. See the package comment for what it can miss.
type Detector struct {
	config  Config
	shift   int // of a latency, to quanta
	buckets []bucket
	next    int // bucket that Sweep looks at next

	resetNs, nextResetNs uint64 // the reset interval that the latest packet is in

	flows     int
	forgotten uint64
}

// New returns a Detector that knows no flow.
func New(c Config) (*Detector, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	d := &Detector{config: c, buckets: make([]bucket, 1<<bits.Len(uint(c.Flows-1)/ways))}
	if c.LatencyQuantumNs > 0 {
		d.shift = bits.TrailingZeros64(c.LatencyQuantumNs)
	}
	return d, nil
}

// Flows returns how many flows are remembered.
func (d *Detector) Flows() int { return d.flows }

// Forgotten returns how many flows were pushed out of the table. If it grows, the table is too small for the traffic.
func (d *Detector) Forgotten() uint64 { return d.forgotten }

// Observe takes a packet and returns why to report it, 0 for no report.
func (d *Detector) Observe(o *Observation) Reason {
	var reason Reason
	if d.config.ResetNs > 0 && o.NowNs >= d.nextResetNs {
		d.resetNs = o.NowNs - o.NowNs%d.config.ResetNs
		d.nextResetNs = d.resetNs + d.config.ResetNs
	}
	s := d.find(o.Flow)
	switch {
	case s == nil:
		s = d.place(o)
		reason = NewFlow
	case d.idle(s, o.NowNs):
		d.end(s, false)
		s.ended = false
		reason = NewFlow
	case o.Start:
		s.ended = false
		reason = NewFlow
	case s.reportedNs < d.resetNs:
		reason = NewFlow
	default:
		reason = d.changes(s, o)
	}
	if o.End && !s.ended {
		s.ended = true
		reason |= FlowEnd
	}
	if o.ReportAll {
		reason |= All
	}
	s.ingress, s.egress, s.path, s.latency = o.IngressPort, o.EgressPort, o.Path, d.quanta(o)
	s.seenNs = max(s.seenNs, o.NowNs)
	if reason != 0 {
		s.reportedNs = max(s.reportedNs, o.NowNs)
	}
	return reason
}

// changes returns in what o differs from the last packet of its flow.
func (d *Detector) changes(s *slot, o *Observation) (r Reason) {
	if s.ingress != o.IngressPort || s.egress != o.EgressPort || s.path != o.Path {
		r |= PathChange
	}
	if s.latency != d.quanta(o) {
		r |= LatencyChange
	}
	if d.config.PeriodNs > 0 && elapsed(s.reportedNs, o.NowNs) >= d.config.PeriodNs {
		r |= Period
	}
	return r
}

// quanta returns the latency of o in quanta, 0 if latencies are not looked at.
func (d *Detector) quanta(o *Observation) uint64 {
	if d.config.LatencyQuantumNs == 0 {
		return 0
	}
	return o.LatencyNs >> d.shift
}

// Sweep looks at the next n buckets of 4 flows, and around again, for flows that have been idle: Ended is called for
// them, and they are forgotten. It is for a timer; a flow that is seen again was idle without it, too.
func (d *Detector) Sweep(nowNs uint64, n int) {
	for range min(n, len(d.buckets)) {
		for i := range d.buckets[d.next] {
			s := &d.buckets[d.next][i]
			if s.used && d.idle(s, nowNs) {
				d.end(s, false)
				*s = slot{}
				d.flows--
			}
		}
		d.next = (d.next + 1) & (len(d.buckets) - 1)
	}
}

// Buckets returns how many buckets a whole sweep takes.
func (d *Detector) Buckets() int { return len(d.buckets) }

// idle says whether the flow in s has ended by being quiet.
func (d *Detector) idle(s *slot, nowNs uint64) bool {
	return d.config.IdleNs > 0 && elapsed(s.seenNs, nowNs) >= d.config.IdleNs
}

// end tells about the end of the flow in s, unless a packet has.
func (d *Detector) end(s *slot, forgotten bool) {
	if d.config.Ended != nil && !s.ended {
		d.config.Ended(End{Flow: s.flow, LastNs: s.seenNs, Forgotten: forgotten})
	}
}

// elapsed returns how long now is after before, 0 if it is not.
func elapsed(before, now uint64) uint64 { return max(before, now) - before }
