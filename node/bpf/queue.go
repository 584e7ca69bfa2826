//go:build linux

package bpf

import (
	"math"

	"github.com/waybill-int/waybill/node/event"
)

// watchedQueues returns how many queues the programs look at, one more than there are ports, or 0 if none of them is
// watched, and whether the time in one of them counts.
func watchedQueues(list []event.Threshold) (n int, times bool) {
	for _, t := range list {
		if t != (event.Threshold{}) {
			n = len(list) + 1
		}
		times = times || t.TriggerNs > 0
	}
	return n, times
}

// putQueues writes when queues are congested, by port.
func (p *Programs) putQueues(list []event.Threshold) error {
	if n, _ := watchedQueues(list); n == 0 {
		return nil
	}
	const most = math.MaxInt32 // COUNTED of src/congestion.h
	for i, t := range list {
		value := programsQueue{
			Trigger: t.TriggerBytes, Reset: t.ResetBytes, TriggerNs: t.TriggerNs, ResetNs: t.ResetNs,
			Quota: min(t.Quota, most),
		}
		if t.TailDrop {
			value.TailDrop = 1
		}
		if err := p.objects.Queues.Put(uint32(i+1), value); err != nil {
			return err
		}
	}
	return nil
}

// bitsOf returns a set of numbers below 256 as full_reasons of src/maps.h has it.
func bitsOf(numbers []uint16) (set [4]uint64) {
	for _, n := range numbers {
		if n < 256 {
			set[n/64] |= 1 << (n % 64)
		}
	}
	return set
}
