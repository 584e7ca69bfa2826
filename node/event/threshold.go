package event

import "fmt"

// A Threshold says when a queue is congested, and how much to report about it. Congestion begins when one of the
// triggers is reached; it ends when everything that has a trigger is down to its reset. In between it goes on, so that
// a queue that moves around a trigger is one congestion, not many.
type Threshold struct {
	TriggerBytes, ResetBytes uint32 // occupancy; a trigger of 0 does not count
	TriggerNs, ResetNs       uint64 // latency; a trigger of 0 does not count

	// Quota is how many packets are reported in one congestion, and how many of those that were dropped; 0: all.
	// SD-Fabric has 1024.
	Quota uint32

	TailDrop bool // report packets that were dropped because the queue was full
}

// monitored says whether the queue is looked at at all.
func (t *Threshold) monitored() bool { return t.TriggerBytes > 0 || t.TriggerNs > 0 || t.TailDrop }

// reached says whether a queue like this begins to be congested.
func (t *Threshold) reached(bytes uint32, latencyNs uint64) bool {
	return t.TriggerBytes > 0 && bytes >= t.TriggerBytes || t.TriggerNs > 0 && latencyNs >= t.TriggerNs
}

// left says whether a queue like this is congested no more.
func (t *Threshold) left(bytes uint32, latencyNs uint64) bool {
	return (t.TriggerBytes == 0 || bytes <= t.ResetBytes) && (t.TriggerNs == 0 || latencyNs <= t.ResetNs)
}

func (t *Threshold) check() error {
	switch {
	case t.ResetBytes > 0 && t.ResetBytes >= t.TriggerBytes:
		return fmt.Errorf("bytes: got reset %d, want less than trigger %d", t.ResetBytes, t.TriggerBytes)
	case t.ResetNs > 0 && t.ResetNs >= t.TriggerNs:
		return fmt.Errorf("latency: got reset %d ns, want less than trigger %d ns", t.ResetNs, t.TriggerNs)
	case t.Quota > 0 && t.TriggerBytes == 0 && t.TriggerNs == 0:
		return fmt.Errorf("quota: got %d without a trigger; nothing would tell when a congestion ends", t.Quota)
	}
	return nil
}
