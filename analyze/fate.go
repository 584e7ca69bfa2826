package analyze

import "github.com/waybill-int/waybill/telemetry"

// A fate counts what became of the reports of an account since the process began.
type fate struct {
	// Of the interval in which the reports arrived:
	flowless uint64 // they name no flow
	keptOut  uint64 // the guard kept their flow out
	placed   uint64 // in a flow of the tables

	// Of those that were placed, in the interval in which it happened:
	crowded uint64 // their flow has more exporters than it tells apart: what becomes of them is not followed
	evicted uint64 // their flow gave way, and what it counted is nowhere else
	given   uint64 // handed over for the store
	stored  uint64 // of the given: on disk
	dropped uint64 // of the given: the store had no room for them
}

func (f fate) plus(b fate) fate {
	return fate{
		f.flowless + b.flowless, f.keptOut + b.keptOut, f.placed + b.placed, f.crowded + b.crowded,
		f.evicted + b.evicted, f.given + b.given, f.stored + b.stored, f.dropped + b.dropped,
	}
}

func (f fate) minus(b fate) fate {
	return fate{
		f.flowless - b.flowless, f.keptOut - b.keptOut, f.placed - b.placed, f.crowded - b.crowded,
		f.evicted - b.evicted, f.given - b.given, f.stored - b.stored, f.dropped - b.dropped,
	}
}

// shardFates is what a shard found out about reports since a Ledger asked last. It is guarded by the lock of the shard.
type shardFates struct {
	sockets [][]turnFates // by number of the socket
	batch   []fate        // that of the batch being processed: by account
	socket  uint32        // of it
}

// turnFates are the fates of the reports of a socket that arrived in one interval of its ledger.
type turnFates struct {
	turn     uint32
	accounts []fate // by number of the account
}

const (
	noTurn   = 0         // nobody knows when they arrived
	whenever = 1<<32 - 1 // what happens now to reports that arrived at any time
)

// maxTurns bounds the intervals of a socket that nobody asked for. What comes then is counted for none of them.
const maxTurns = 8

// open makes ready for a batch.
func (s *shardFates) open(o telemetry.Origin) {
	s.socket = o.Socket
	s.batch = s.at(o.Socket, o.Turn, o.Accounts)
}

// at returns the fates of an interval, for so many accounts at least.
func (s *shardFates) at(socket, turn, accounts uint32) []fate {
	for int(socket) >= len(s.sockets) {
		s.sockets = append(s.sockets, nil)
	}
	turns := s.sockets[socket]
	i := 0
	for i < len(turns) && turns[i].turn != turn {
		i++
	}
	if i >= maxTurns-2 && turn != noTurn && turn != whenever {
		return s.at(socket, noTurn, accounts)
	}
	if i == len(turns) {
		if i < cap(turns) {
			turns = turns[:i+1] // with its memory of before
		} else {
			turns = append(turns, turnFates{})
		}
		turns[i].turn = turn
		s.sockets[socket] = turns
	}
	t := &turns[i]
	if more := int(accounts) + 1 - len(t.accounts); more > 0 {
		t.accounts = append(t.accounts, make([]fate, more)...)
	}
	return t.accounts
}

// of returns the fate of the account of r. Whoever takes reports without their Origin has one for all.
func (s *shardFates) of(r *telemetry.Report) *fate {
	if int(r.Account) < len(s.batch) {
		return &s.batch[r.Account]
	}
	return &s.batch[0]
}

// place counts a report that is in a flow with these reporters.
func (s *shardFates) place(l *reporters, r *telemetry.Report) {
	of := s.of(r)
	of.placed++
	if r.Account != 0 && !l.note(s.socket<<16|r.Account) {
		of.crowded++
	}
}

// happened returns the fate that what happens now is counted in, for a reporter.
func (s *shardFates) happened(id uint32) *fate {
	return &s.at(id>>16, whenever, id&0xffff)[id&0xffff]
}

// evict counts the reports of a flow that gives way.
func (s *shardFates) evict(l *reporters) {
	for _, r := range l {
		if r.id != 0 {
			s.happened(r.id).evicted += uint64(r.reports)
		}
	}
}

// An accountFate is what was found out about the reports of an account that arrived in an interval.
type accountFate struct {
	socket, turn, account uint32
	fate
}

// take appends what was found out since the last time.
func (s *shardFates) take(list []accountFate) []accountFate {
	for socket, turns := range s.sockets {
		for _, t := range turns {
			for account := range t.accounts {
				if f := &t.accounts[account]; *f != (fate{}) {
					list = append(list, accountFate{uint32(socket), t.turn, uint32(account), *f})
					*f = fate{}
				}
			}
		}
		s.sockets[socket] = turns[:0]
	}
	return list
}

// A reporter is an exporter that told of a flow, and how many of its reports are in the flow and nowhere else.
type reporter struct {
	id      uint32 // socket<<16 | account
	reports uint32
}

// reporters are the exporters of a flow that are told apart: as many as postcards have nodes in a network of three tiers.
type reporters [5]reporter

// note counts a report; false: there is no place for its exporter.
func (l *reporters) note(id uint32) bool {
	for i := range l {
		r := &l[i]
		if r.id == id && r.reports < 1<<32-1 {
			r.reports++
			return true
		}
		if r.id == 0 {
			r.id, r.reports = id, 1
			return true
		}
	}
	return false
}

// reportCounts are numbers of reports by reporter.
type reportCounts [][]uint64 // by socket and account

// of returns the count of an account, to be changed.
func (c *reportCounts) of(socket, account int) *uint64 {
	for socket >= len(*c) {
		*c = append(*c, nil)
	}
	accounts := &(*c)[socket]
	if more := account + 1 - len(*accounts); more > 0 {
		*accounts = append(*accounts, make([]uint64, more)...)
	}
	return &(*accounts)[account]
}

// add counts what l has.
func (c *reportCounts) add(l *reporters) {
	for _, r := range l {
		if r.id == 0 {
			return
		}
		*c.of(int(r.id>>16), int(r.id&0xffff)) += uint64(r.reports)
	}
}

// giveFlow counts the reports of a flow that are handed over for the store, and begins anew.
func (s *shardFates) giveFlow(l *reporters) {
	for _, r := range l {
		if r.id != 0 {
			s.happened(r.id).given += uint64(r.reports)
		}
	}
	*l = reporters{}
}

// give counts the reports of flows that gave way before they could be handed over.
func (s *shardFates) give(counts reportCounts) {
	for socket, accounts := range counts {
		for account, n := range accounts {
			if n > 0 {
				s.happened(uint32(socket)<<16 | uint32(account)).given += n
			}
		}
	}
}
