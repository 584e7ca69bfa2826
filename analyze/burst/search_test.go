package burst

import "slices"

// Finish settles all: nothing comes any more. Bursts that may not be over are, as Open ones, among those that Take
// returns then.
func (b *Search) Finish() {
	for _, q := range b.list {
		b.end(q, q.clock.newest)
	}
}

// Open returns the bursts that are not over, as far as they are settled.
func (b *Search) Open() []Burst {
	var open []Burst
	for _, q := range b.list {
		if q.walk.on {
			open = append(open, b.build(q, q.walk.lastNs, q.walk.lastNs, true))
		}
	}
	slices.SortFunc(open, compareBursts)
	return open
}
