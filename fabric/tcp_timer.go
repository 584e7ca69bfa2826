package fabric

// Limits of the retransmission timeout (RFC 6298 §2), nanoseconds. The lower one is part of the scenario: a second, as
// the RFC has it, is an age in a data centre.
const (
	initialRTONs = 1e9
	maxRTONs     = 60e9
)

// An rtt estimates the round-trip time and the timeout that follows from it (RFC 6298), nanoseconds.
type rtt struct {
	smoothNs, variationNs int64
	rtoNs                 int64
}

// sample takes a measurement into account.
func (r *rtt) sample(ns, minRTONs int64) {
	if r.smoothNs == 0 {
		r.smoothNs, r.variationNs = ns, ns/2
	} else {
		r.variationNs += (abs(r.smoothNs-ns) - r.variationNs) / 4
		r.smoothNs += (ns - r.smoothNs) / 8
	}
	r.reset(minRTONs)
}

// reset makes the timeout that of the samples again.
func (r *rtt) reset(minRTONs int64) {
	if r.smoothNs > 0 {
		r.rtoNs = min(max(r.smoothNs+4*r.variationNs, minRTONs), maxRTONs)
	}
}

// backOff doubles the timeout after it was too short.
func (r *rtt) backOff() { r.rtoNs = min(2*r.rtoNs, maxRTONs) }

func abs(v int64) int64 { return max(v, -v) }

// A timer fires once at a moment that moves with each acknowledgement. Its events stay on the agenda and are ignored
// when they are early: fewer than one for each time it is set.
type timer struct {
	dueNs     int64 // 0: not armed
	pendingNs int64 // the earliest event on the agenda; 0: none
}

func (t *timer) armed() bool { return t.dueNs != 0 }

func (t *timer) disarm() { t.dueNs = 0 }

// arm lets the retransmission timer of a conversation fire after its timeout.
func (f *Fabric) arm(c *conversation) {
	t := &c.tx.timer
	t.dueNs = f.nowNs + c.tx.rtt.rtoNs
	f.await(c)
}

// await makes sure that there is an event when the timer is due, or before.
func (f *Fabric) await(c *conversation) {
	t := &c.tx.timer
	if t.pendingNs == 0 || t.dueNs < t.pendingNs {
		t.pendingNs = t.dueNs
		f.schedule(c, t.dueNs, evRetry)
	}
}

// retry handles an event of the timer.
func (f *Fabric) retry(c *conversation) {
	t := &c.tx.timer
	if f.nowNs >= t.pendingNs {
		t.pendingNs = 0
	}
	switch {
	case c.over || !t.armed():
	case f.nowNs >= t.dueNs:
		t.disarm()
		f.timeout(c)
	default:
		f.await(c)
	}
}
