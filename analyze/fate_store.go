package analyze

import "sync"

// keptReports counts the reports of the flows that were handed over for the store, when it is known what became of them.
type keptReports struct {
	mu              sync.Mutex
	stored, dropped reportCounts
}

// settles returns what is to be called when it is known what became of those reports.
func (k *keptReports) settles(counts reportCounts) func(written bool) {
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

// take appends what was found out since the last time.
func (k *keptReports) take(list []accountFate) []accountFate {
	if k == nil {
		return list
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	take := func(counts reportCounts, of func(n uint64) fate) {
		for socket, accounts := range counts {
			for account, n := range accounts {
				if n > 0 {
					list = append(list, accountFate{uint32(socket), whenever, uint32(account), of(n)})
				}
			}
			clear(accounts)
		}
	}
	take(k.stored, func(n uint64) fate { return fate{stored: n} })
	take(k.dropped, func(n uint64) fate { return fate{dropped: n} })
	return list
}
