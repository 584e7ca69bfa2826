package ledger

import "sync"

// Settlements counts the reports of the flows that were handed over for the store, when it is known what became of
// them.
type Settlements struct {
	mu              sync.Mutex
	stored, dropped ReportCounts
}

// OnSettle returns what is to be called when it is known what became of those reports.
func (k *Settlements) OnSettle(counts ReportCounts) func(written bool) {
	if counts == nil {
		return nil
	}
	return func(written bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		sum := &k.dropped
		if written {
			sum = &k.stored
		}
		for socket, accounts := range counts {
			for account, n := range accounts {
				*sum.of(socket, account) += n
			}
		}
	}
}

// Take appends what was found out since the last time.
func (k *Settlements) Take(list []AccountDisposition) []AccountDisposition {
	if k == nil {
		return list
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	take := func(counts ReportCounts, of func(n uint64) Disposition) {
		for socket, accounts := range counts {
			for account, n := range accounts {
				if n > 0 {
					list = append(list, AccountDisposition{uint32(socket), whenever, uint32(account), of(n)})
				}
			}
			clear(accounts)
		}
	}
	take(k.stored, func(n uint64) Disposition { return Disposition{Stored: n} })
	take(k.dropped, func(n uint64) Disposition { return Disposition{Dropped: n} })
	return list
}
