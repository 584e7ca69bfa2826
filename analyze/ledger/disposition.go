package ledger

import "github.com/waybill-int/waybill/telemetry"

// A Disposition counts what became of the reports of an account since the process began.
type Disposition struct {
	// Of the interval in which the reports arrived:
	Flowless uint64 // they name no flow
	Rejected uint64 // the guard kept their flow out
	Admitted uint64 // in a flow of the tables

	// Of those that were admitted, in the interval in which it happened:
	Untracked uint64 // their flow has more exporters than it tells apart: what becomes of them is not followed
	Evicted   uint64 // their flow gave way, and what it counted is nowhere else
	Flushed   uint64 // flushed to the store
	Stored    uint64 // of the flushed: on disk
	Dropped   uint64 // of the flushed: the store had no room for them
}

func (f Disposition) plus(b Disposition) Disposition {
	return Disposition{
		f.Flowless + b.Flowless, f.Rejected + b.Rejected, f.Admitted + b.Admitted, f.Untracked + b.Untracked,
		f.Evicted + b.Evicted, f.Flushed + b.Flushed, f.Stored + b.Stored, f.Dropped + b.Dropped,
	}
}

func (f Disposition) minus(b Disposition) Disposition {
	return Disposition{
		f.Flowless - b.Flowless, f.Rejected - b.Rejected, f.Admitted - b.Admitted, f.Untracked - b.Untracked,
		f.Evicted - b.Evicted, f.Flushed - b.Flushed, f.Stored - b.Stored, f.Dropped - b.Dropped,
	}
}

// Dispositions is what a shard found out about reports since a Ledger asked last. It is guarded by the lock of the
// shard.
type Dispositions struct {
	sockets [][]turnDispositions // by number of the socket
	batch   []Disposition        // that of the batch being processed: by account
	socket  uint32               // of it
}

// turnDispositions are the dispositions of the reports of a socket that arrived in one interval of its ledger.
type turnDispositions struct {
	turn     uint32
	accounts []Disposition // by number of the account
}

const (
	noTurn   = 0         // nobody knows when they arrived
	whenever = 1<<32 - 1 // what happens now to reports that arrived at any time
)

// maxTurns bounds the intervals of a socket that nobody asked for. What comes then is counted for none of them.
const maxTurns = 8

// Begin makes ready for a batch.
func (s *Dispositions) Begin(o telemetry.Origin) {
	s.socket = o.Socket
	s.batch = s.at(o.Socket, o.Turn, o.Accounts)
}

// Exporter returns a number of the exporter of a report of the batch. It is another one for each exporter, of other
// sockets too, but in one of 2^32 cases.
func (s *Dispositions) Exporter(r *telemetry.Report) uint32 { return s.socket*0x9e3779b1 + r.Account }

// at returns the dispositions of an interval, for so many accounts at least.
func (s *Dispositions) at(socket, turn, accounts uint32) []Disposition {
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
			turns = append(turns, turnDispositions{})
		}
		turns[i].turn = turn
		s.sockets[socket] = turns
	}
	t := &turns[i]
	if more := int(accounts) + 1 - len(t.accounts); more > 0 {
		t.accounts = append(t.accounts, make([]Disposition, more)...)
	}
	return t.accounts
}

// Of returns the disposition of the account of r. Whoever takes reports without their Origin has one for all.
func (s *Dispositions) Of(r *telemetry.Report) *Disposition {
	if int(r.Account) < len(s.batch) {
		return &s.batch[r.Account]
	}
	return &s.batch[0]
}

// Admit counts a report that is in a flow with these reporters.
func (s *Dispositions) Admit(l *Reporters, r *telemetry.Report) {
	of := s.Of(r)
	of.Admitted++
	if r.Account != 0 && !l.note(s.socket<<16|r.Account) {
		of.Untracked++
	}
}

// current returns the disposition that what happens now is counted in, for a reporter.
func (s *Dispositions) current(id uint32) *Disposition {
	return &s.at(id>>16, whenever, id&0xffff)[id&0xffff]
}

// Evict counts the reports of a flow that gives way.
func (s *Dispositions) Evict(l *Reporters) {
	for _, r := range l {
		if r.id != 0 {
			s.current(r.id).Evicted += uint64(r.reports)
		}
	}
}

// An AccountDisposition is what was found out about the reports of an account that arrived in an interval.
type AccountDisposition struct {
	socket, turn, account uint32
	Disposition
}

// Take appends what was found out since the last time.
func (s *Dispositions) Take(list []AccountDisposition) []AccountDisposition {
	for socket, turns := range s.sockets {
		for _, t := range turns {
			for account := range t.accounts {
				if f := &t.accounts[account]; *f != (Disposition{}) {
					list = append(list, AccountDisposition{uint32(socket), t.turn, uint32(account), *f})
					*f = Disposition{}
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

// Reporters are the exporters of a flow that are told apart: as many as postcards have nodes in a network of three
// tiers.
type Reporters [5]reporter

// note counts a report; false: there is no place for its exporter.
func (l *Reporters) note(id uint32) bool {
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

// ReportCounts are numbers of reports by reporter.
type ReportCounts [][]uint64 // by socket and account

// of returns the count of an account, to be changed.
func (c *ReportCounts) of(socket, account int) *uint64 {
	for socket >= len(*c) {
		*c = append(*c, nil)
	}
	accounts := &(*c)[socket]
	if more := account + 1 - len(*accounts); more > 0 {
		*accounts = append(*accounts, make([]uint64, more)...)
	}
	return &(*accounts)[account]
}

// Add counts what l has.
func (c *ReportCounts) Add(l *Reporters) {
	for _, r := range l {
		if r.id == 0 {
			return
		}
		*c.of(int(r.id>>16), int(r.id&0xffff)) += uint64(r.reports)
	}
}

// Flush counts the reports of a flow that are flushed to the store, and begins anew.
func (s *Dispositions) Flush(l *Reporters) {
	for _, r := range l {
		if r.id != 0 {
			s.current(r.id).Flushed += uint64(r.reports)
		}
	}
	*l = Reporters{}
}

// FlushEvicted counts the reports of flows that gave way before they could be handed over.
func (s *Dispositions) FlushEvicted(counts ReportCounts) {
	for socket, accounts := range counts {
		for account, n := range accounts {
			if n > 0 {
				s.current(uint32(socket)<<16 | uint32(account)).Flushed += n
			}
		}
	}
}
