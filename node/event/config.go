package event

import (
	"fmt"
	"math/bits"
)

// A Config says what a Detector reports and how much it remembers.
type Config struct {
	// Flows is how many flows the table has room for, 16 to 2^24; it is rounded up to a power of two. A flow takes 56
	// bytes. Up to half as many flows at a time hardly ever push each other out.
	Flows int

	// LatencyQuantumNs is the size of the steps in which latencies are compared, a power of two. A change by at least
	// one step is reported. 0: changes of latency are not.
	LatencyQuantumNs uint64

	// PeriodNs is the time after which a flow is reported again although nothing changed, counted from its last report.
	// 0: never.
	PeriodNs uint64

	// IdleNs is the time without a packet after which a flow has ended. 0: flows do not end by themselves.
	IdleNs uint64

	// ResetNs is the length of intervals, counted from time 0, in each of which every flow is reported as new, for
	// collectors that begin to listen late or lose reports. 0: never.
	ResetNs uint64

	// Seed makes it unpredictable which flows share a place in the table.
	Seed uint64

	// Ended is called for each flow that ended without a packet that said so; nil: nobody wants to know. It is called
	// by Observe and Sweep and must not call the Detector.
	Ended func(End)
}

// An End is the end of a flow without a last packet.
type End struct {
	Flow      uint64
	LastNs    uint64 // time of its last packet
	Forgotten bool   // it was pushed out of the table and may well go on: then it is reported as new
}

const (
	minFlows = 16
	maxFlows = 1 << 24
)

func (c *Config) check() error {
	if c.Flows < minFlows || c.Flows > maxFlows {
		return fmt.Errorf("flows: got %d, want %d to %d", c.Flows, minFlows, maxFlows)
	}
	if bits.OnesCount64(c.LatencyQuantumNs) > 1 {
		return fmt.Errorf("latency quantum: got %d ns, want a power of two, or 0", c.LatencyQuantumNs)
	}
	return nil
}
