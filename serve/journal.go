package serve

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/journal"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// noteEvery is the time between two notes of what was counted so far. Large tables are noted less often: it takes
	// at most a fifth of the time of the goroutine that looks at the tables.
	noteEvery  = 500 * time.Millisecond
	notesShare = 5
)

// journalDir is where in the directory of data the journal is.
func journalDir(data string) string { return filepath.Join(data, "journal") }

// recoverJournal gives the store what the last process had counted of the interval that was open when it was killed, as
// far as the note with the number until, if notes have numbers.
func recoverJournal(ctx context.Context, data string, until uint64, to store.Backend, log *slog.Logger) error {
	r, err := journal.Recover(ctx, journalDir(data), until, to,
		func(v *telemetry.SoFar) { analyze.AddHosts(&v.Intervals, v.StartNs) })
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if r.Damaged != nil {
		log.Warn("journal truncated; what could be read of it was recovered", "records", r.Records, "error", r.Damaged)
	}
	if r.Left != nil {
		log.Error(
			"could not replay the journal; kept for the next start", "error", r.Left)
	}
	if r.Records > 0 {
		log.Info("journal replayed", "records", r.Records, "since", r.Since)
	}
	return nil
}

// A noter notes what was counted so far, until the store has it. One goroutine calls its methods.
type noter struct {
	journal  *journal.Journal
	troubles *store.Troubles
	last     time.Time // of the latest note, which may not be on disk yet
	next     time.Time
	over     []*overInterval // the oldest first
	held     bool            // the checkpoint names none of what was noted last

	failures atomic.Uint64
	notedNs  atomic.Int64 // of the latest note that is on disk
}

// An overInterval was given to the store, which may not have written all of it yet.
type overInterval struct {
	startNs int64
	left    atomic.Int64 // pieces that are on their way
}

// follow counts a piece as on its way until it is settled.
func (o *overInterval) follow(v *telemetry.Intervals) {
	if v.Len() == 0 {
		return // it goes nowhere
	}
	o.left.Add(1)
	settled := v.Settled
	v.Settled = func(written bool) {
		if settled != nil {
			settled(written)
		}
		o.left.Add(-1)
	}
}

// settle removes the journals of intervals that the store has, or that it will never have.
func (n *noter) settle() {
	for !n.held && len(n.over) > 0 && n.over[0].left.Load() == 0 {
		if err := n.journal.Remove(n.over[0].startNs); err != nil {
			n.say(err) // that it works says nothing of notes
		}
		n.over = n.over[1:]
	}
}

// note notes what v has counted so far, if it is time to.
func (n *noter) note(v *analyze.Intervals, now time.Time, nowNs int64) {
	if now.Before(n.next) || n.journal.Busy() {
		return
	}
	err := n.journal.Note(v.SoFar(nowNs))
	n.say(err)
	if err == nil {
		n.notedNs.Store(n.last.UnixNano())
	}
	n.last = now
	n.noted(now)
}

// noted says when the next note is due.
func (n *noter) noted(now time.Time) { n.next = now.Add(max(noteEvery, notesShare*time.Since(now))) }

// write notes r, and waits until it is on disk.
func (n *noter) write(r *telemetry.SoFar, now time.Time) error {
	err := n.journal.Write(r)
	n.say(err)
	if err == nil {
		n.notedNs.Store(now.UnixNano())
	}
	return err
}

// say says once that notes fail, and once that they work again.
func (n *noter) say(err error) {
	n.troubles.Note("journal", err,
		"the journal cannot be written; a crash would take up to ten seconds from the store",
		"the journal can be written again")
	if err != nil {
		n.failures.Add(1)
	}
}

// stop removes the journals of what the store has.
func (n *noter) stop() {
	n.journal.Close()
	n.settle()
}
