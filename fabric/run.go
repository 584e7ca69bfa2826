package fabric

import (
	"context"
	"time"
)

// patience is the number of events between two looks at the context of Run.
const patience = 4096

// Run lets virtual time go on until a moment, or until ctx ends. It may be called again for a later one: the events are
// the same as in one call. It returns the error of ctx, or the first of writing.
func (f *Fabric) Run(ctx context.Context, until time.Duration) error {
	allowedNs := int64(1<<63 - 1) // how far the pace lets time go
	if f.pace != nil {
		allowedNs = int64(f.pace.Elapsed())
	}
	for events := 0; f.err == nil; events++ {
		if events%patience == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if events%doPatience == 0 {
			f.beAsked()
		}
		nextNs := int64(until)
		if len(f.agenda.heap) > 0 {
			nextNs = min(nextNs, f.agenda.heap[0].atNs)
		}
		if nextNs > allowedNs {
			var err error
			if allowedNs, err = f.wait(ctx, nextNs); err != nil {
				return err
			}
		}
		if len(f.agenda.heap) == 0 || f.agenda.heap[0].atNs > int64(until) {
			f.nowNs = max(f.nowNs, int64(until))
			return f.flush()
		}
		e := f.agenda.next()
		f.nowNs = e.atNs
		f.handle(e)
	}
	return f.err
}

// doPatience is the number of events between two looks at what was asked for by Do.
const doPatience = 64

// beAsked does what was asked for by Do.
func (f *Fabric) beAsked() {
	select {
	case do := <-f.do:
		do()
	default:
	}
}

// wait waits until the pace allows a moment of virtual time, and returns how far it allows to go.
func (f *Fabric) wait(ctx context.Context, ns int64) (int64, error) {
	elapsed := int64(f.pace.Elapsed())
	if elapsed < ns {
		if err := f.flush(); err != nil {
			return 0, err
		}
	}
	for elapsed < ns {
		f.beAsked()
		// Timers have a resolution of about a millisecond; many events are due together.
		if err := f.pace.Wait(ctx, max(time.Duration(ns-elapsed), time.Millisecond)); err != nil {
			return 0, err
		}
		elapsed = int64(f.pace.Elapsed())
	}
	return elapsed, nil
}

// handle lets an event happen.
func (f *Fabric) handle(e event) {
	switch e.kind {
	case evArrive:
		f.arriveLink(f.pool.all[e.index])
	case evPort:
		out := f.ports[e.index]
		out.woken = false
		f.transmit(out)
	case evRetry, evSend, evStop:
		f.continueConversation(e)
	case evSource:
		f.fire(e.index)
	case evFault:
		f.happen(e.index)
	case evConverge:
		f.learn(f.faults[e.index])
	case evTick:
		f.tick(e.index)
	}
}

// continueConversation handles an event about a conversation.
func (f *Fabric) continueConversation(e event) {
	c := f.conversations[e.index]
	c.pending--
	switch {
	case e.kind == evRetry:
		f.retry(c)
	case e.kind == evStop:
		f.stop(c)
	case !c.over:
		f.sayDatagram(c)
	}
	f.release(c)
}

// closeDevices lets telemetry devices send what they have held back.
func (f *Fabric) closeDevices() {
	for _, n := range f.switches {
		if n.device != nil {
			r := &f.scratch.departure.Reports
			r.reset()
			n.device.Close(f.clockNs(n, f.nowNs), r)
			f.sendReports(n, r, nil)
		}
	}
}

// tick lets a telemetry device do what is due.
func (f *Fabric) tick(index uint32) {
	n := f.nodes[index]
	if n.noINT == 0 {
		r := &f.scratch.departure.Reports
		r.reset()
		n.device.Tick(f.clockNs(n, f.nowNs), r)
		f.sendReports(n, r, nil)
	}
	f.agenda.add(f.nowNs+TickNs, evTick, index)
}
