package burst

// Finish settles all: nothing comes any more. Bursts that may not be over are, as Open ones, among those that Take
// returns then.
func (b *Search) Finish() {
	for _, q := range b.list {
		b.end(q, q.clock.newest)
	}
}
