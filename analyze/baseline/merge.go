package baseline

import "errors"

// ErrConfig is returned by Merge for states that do not fit together.
var ErrConfig = errors.New("baselines of other windows or slots of the day cannot be added")

// Merge adds what another collector has gathered, with the same windows and slots. Open windows of the same time become
// one, so that it is judged as if one collector had seen all. o does not change. Keys for which there is no room are
// counted as Overflow.
func (b *Tracker) Merge(o *Tracker) error {
	if b.config.WindowNs != o.config.WindowNs || b.config.DaySlots != o.config.DaySlots {
		return ErrConfig
	}
	b.counters.Values += o.counters.Values
	b.counters.Late += o.counters.Late
	b.counters.Overflow += o.counters.Overflow
	b.counters.Queued += o.counters.Queued
	b.counters.Sparse += o.counters.Sparse
	if !b.open && o.open {
		b.openAt(o.startNs)
	}
	for i := range o.keys {
		from := &o.keys[i]
		if !from.used {
			continue
		}
		k := b.keyFor(&from.key)
		if k == nil {
			b.counters.Overflow++
			continue
		}
		if o.startNs == b.startNs {
			k.window.merge(&from.window)
			k.came += from.came
			k.waited += from.waited
			k.blurNs = max(k.blurNs, from.blurNs)
		}
		if k.blurredNs == 0 || from.blurredNs > 0 && from.sharpNs < k.sharpNs {
			k.sharpNs = from.sharpNs
		}
		k.blurredNs = max(k.blurredNs, from.blurredNs)
		if from.lastNs > k.lastNs {
			k.last, k.lastNs = from.last, from.lastNs
		}
		if from.on && !k.on {
			k.on, k.run, k.calm, k.runNs, k.high, k.event = true, from.run, from.calm, from.runNs, from.high, from.event
		}
		sketches := b.sketchesOf(b.places[from.key])
		for j, s := range o.sketchesOf(int32(i)) {
			s.fade(b.config.MemoryWindows)
			sketches[j].merge(&s, b.config.MemoryWindows)
		}
	}
	return nil
}
