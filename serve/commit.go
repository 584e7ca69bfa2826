package serve

import (
	"context"
	"encoding/json"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/bus"
	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/telemetry"
)

// A committer has what a keeper needs to make one thing of what was taken from the bus and what was counted of it.
type committer struct {
	checkpoints *checkpointer
	tenure      *tenure
	collector   *analyze.Collector
	queues      []*collect.Queue
}

// commit notes what was counted of all that was taken from the bus, and writes the checkpoint that names the note and
// says how far that is. Only then the store gets the intervals that are over: whenever the process is killed, the next
// one finds a checkpoint, gives the store what it lacks of what the journal tells until then, and takes from the bus
// what came behind it. While that fails, the store gets nothing: it has no more than what the last checkpoint names.
// commit returns until when everything was taken, nanoseconds since 1970.
func (k *keeper) commit(ctx context.Context, now time.Time) int64 {
	c := k.commits.checkpoints
	over := &overInterval{startNs: k.intervals.Open()}
	var at *bus.Positions
	var state *analyze.State
	var note *telemetry.SoFar
	var batches []*telemetry.Intervals
	var err error
	c.consumer.Hold(func(taken *bus.Positions) {
		at = taken
		for _, q := range k.commits.queues {
			q.Drain()
		}
		k.commits.collector.Hold()
		defer k.commits.collector.Release()
		note = k.intervals.Note(at.DeliveredNs, func(v *telemetry.Intervals) {
			over.follow(v)
			batches = append(batches, v)
		})
		c.note++
		note.Number = c.note
		c.waiting, err = k.commits.collector.Waiting()
		state = c.state(now)
	})
	if err == nil {
		c.bus, err = json.Marshal(at)
		state.Bus = c.bus
	}
	if err == nil {
		err = k.notes.write(note, now)
	}
	if err == nil {
		if err = c.write(state, now); err == nil {
			err = k.commits.tenure.save(context.WithoutCancel(ctx))
		}
		c.report(err)
	}
	if err == nil {
		c.consumer.Confirm(at)
	}
	k.notes.held = err != nil
	k.writer.Hold(err != nil)
	for _, v := range batches {
		k.give(ctx, v)
	}
	k.gave(over)
	return at.DeliveredNs
}
