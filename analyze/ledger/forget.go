package ledger

import "github.com/waybill-int/waybill/telemetry"

// Forget removes the accounts of exporters that match selects, with their intervals, and returns what they said. Who of
// them reports again is new. What a socket received stays counted, as that of forgotten exporters. match must not call
// e.
func (e *Exporters) Forget(match func(*telemetry.Exporter) bool) (forgotten []telemetry.Exporter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	gone := map[*exporter]bool{}
	for i, x := range e.accounts {
		if x.forgotten {
			continue
		}
		a := x.answer()
		if !match(&a) {
			continue
		}
		forgotten = append(forgotten, a)
		gone[x] = true
		e.forgotten++
		e.forgottenReceived += x.received
		e.samples -= len(x.samples)
		if x.received == 1 && x.key.Header {
			if e.young[x.key.Source]--; e.young[x.key.Source] <= 0 {
				delete(e.young, x.key.Source)
			}
		}
		// The place of an account does not change: reports that are on their way have its number.
		e.accounts[i] = &exporter{number: x.number, forgotten: true}
	}
	if len(gone) == 0 {
		return nil
	}
	for key, x := range e.entries {
		if gone[x] {
			delete(e.entries, key)
		}
	}
	clear(e.recent[:])
	kept := e.ledger.list[:0]
	for _, r := range e.ledger.list {
		if !gone[r.x] {
			kept = append(kept, r)
		}
	}
	clear(e.ledger.list[len(kept):])
	e.ledger.list = kept
	return forgotten
}

// maxForgotten bounds the places of forgotten accounts, by how many there may be that are not; a restart frees them.
const maxForgotten = 3

// full reports whether there is no place for another account, of as many as limit.
func (e *Exporters) full(limit int) bool {
	return len(e.accounts)-e.forgotten >= limit || len(e.accounts) >= (1+maxForgotten)*e.max
}
