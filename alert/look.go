package alert

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// look compares rules with what goes on and what ended since the last look, moves alerts on and makes messages.
func (e *Engine) look(now time.Time) {
	now = now.UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	open, over, ended := e.events.Since(e.ended)
	if ended > e.ended {
		e.missed += ended - e.ended - uint64(len(over))
	}
	e.ended = ended
	for _, i := range e.instances {
		i.seen = false
	}
	goesOn := map[string]bool{} // ids of events
	for i := range open {
		goesOn[open[i].ID] = true
	}
	rules := map[string]*Rule{}
	openCauses, overCauses := e.causes(open, over, now)
	for n := range e.config.Rules {
		r := &e.config.Rules[n]
		rules[r.Name] = r
		open, over := open, over
		if r.Causes {
			e.sawEnds(r, over)
			open, over = openCauses, overCauses
		}
		for i := range over {
			e.sawEnd(r, &over[i], now)
		}
		for i := range open {
			e.sawOpen(r, &open[i], now)
		}
	}
	for key, i := range e.instances {
		e.advance(key, i, rules[key.rule], goesOn, now)
	}
	e.dropSilences(now)
}

func (r *Rule) selects(ev *telemetry.Event) bool { return r.matcher.Match(filter.EventRow{Event: ev}) }

// sawOpen notes an event that goes on.
func (e *Engine) sawOpen(r *Rule, ev *telemetry.Event, now time.Time) {
	if !r.selects(ev) {
		return
	}
	key := alertKey{r.Name, subjectOf(ev)}
	i := e.instances[key]
	if i == nil {
		if i = e.follow(key, r, ev, now); i == nil {
			return
		}
	}
	i.Event, i.seen, i.restored, i.quiet = *ev, true, false, nil
	if i.State == telemetry.AlertPending && now.Sub(i.Since) >= r.wait() {
		e.fire(r, i, now)
	}
}

// sawEnds notes the end of the events of alerts that there are already.
func (e *Engine) sawEnds(r *Rule, over []telemetry.Event) {
	for n := range over {
		if i := e.instances[alertKey{r.Name, subjectOf(&over[n])}]; i != nil && i.Event.ID == over[n].ID {
			i.Event.End = over[n].End
		}
	}
}

// sawEnd notes an event that ended since the last look. It may have begun since then too, and may have lasted long
// enough.
func (e *Engine) sawEnd(r *Rule, ev *telemetry.Event, now time.Time) {
	key := alertKey{r.Name, subjectOf(ev)}
	i := e.instances[key]
	if i != nil && i.Event.ID == ev.ID {
		i.Event = *ev
	}
	if i != nil && i.State == telemetry.AlertFiring || ev.End.Sub(ev.Start) < time.Duration(r.For) || !r.selects(ev) {
		return
	}
	if i == nil {
		if i = e.follow(key, r, ev, now); i == nil {
			return
		}
	}
	e.fire(r, i, now)
}

// follow begins to follow an alert, if there is room.
func (e *Engine) follow(key alertKey, r *Rule, ev *telemetry.Event, now time.Time) *instance {
	if len(e.instances) >= maxAlerts {
		e.unplaced++
		return nil
	}
	i := &instance{Alert: telemetry.Alert{
		ID: key.id(), Rule: r.Name, State: telemetry.AlertPending,
		Severity: r.severity(ev), Since: now, Event: *ev,
	}}
	i.describe(r)
	e.instances[key] = i
	e.changed()
	return i
}

// describe writes what people read of an alert.
func (i *instance) describe(r *Rule) {
	f := fieldsOf(r.Name, i.Severity, &i.Event)
	i.Summary, i.Labels = r.summary.text(&f), r.Labels
	i.Annotations = nil
	if len(r.annotations) > 0 {
		i.Annotations = map[string]string{}
	}
	for name, s := range r.annotations {
		i.Annotations[name] = s.text(&f)
	}
}

func (e *Engine) fire(r *Rule, i *instance, now time.Time) {
	i.State, i.Fired, i.Severity = telemetry.AlertFiring, &now, r.severity(&i.Event)
	i.describe(r)
	e.changed()
}

// advance tells of an alert that fires, and ends one that is over for long enough. r is nil if its rule is gone.
func (e *Engine) advance(key alertKey, i *instance, r *Rule, goesOn map[string]bool, now time.Time) {
	switch {
	case i.State == telemetry.AlertPending && (r == nil || !i.seen):
		delete(e.instances, key)
		e.changed()
		return
	case i.State == telemetry.AlertPending:
		return
	case r == nil:
		e.resolve(key, i, telemetry.AlertRuleRemoved, now)
		return
	}
	if !i.seen && i.quiet == nil {
		i.quiet = &now
		e.changed()
	}
	if i.quiet != nil {
		wait := r.clearAfter()
		if i.restored {
			wait = max(wait, restartGrace)
		}
		if now.Sub(*i.quiet) >= wait {
			// What fires and is over in the same look is told of both.
			e.tell(r, i, now)
			e.resolve(key, i, i.resolution(goesOn), now)
			return
		}
	}
	e.tell(r, i, now)
}

// resolution says why nothing of i goes on.
func (i *instance) resolution(goesOn map[string]bool) telemetry.AlertResolution {
	switch {
	case i.Event.End != nil:
		return telemetry.AlertEnded
	case goesOn[i.Event.ID]:
		return telemetry.AlertUnmatched
	}
	return telemetry.AlertForgotten
}

// tell puts messages about a firing alert into the queues of those that do not have it yet, or must hear of it again.
// While it is silenced nobody is told, but outputs that need refreshing and have it: they would take it for resolved.
func (e *Engine) tell(r *Rule, i *instance, now time.Time) {
	silence := e.silenceOf(&i.Event, now)
	if silence != i.SilencedBy {
		i.SilencedBy = silence
		e.changed()
	}
	var message *Notification
	for _, name := range r.Outputs {
		q := e.queues[name]
		again := r.repeat()
		if q.refresh != 0 {
			again = q.refresh
		}
		told := slices.IndexFunc(i.Told, func(t telemetry.Told) bool { return t.Output == name })
		switch {
		case told < 0 && silence != "":
			continue
		case told < 0:
			i.Told = append(i.Told, telemetry.Told{Output: name, At: now})
		case q.holds(i.ID):
			i.Told[told].At = now // what waits is news enough when it arrives
			continue
		case again == 0 || now.Sub(i.Told[told].At) < again || silence != "" && q.refresh == 0:
			continue
		default:
			i.Told[told].At = now
		}
		if message == nil {
			i.describe(r)
			m := i.notify(typeFiring, now)
			m.Data.Told = nil // it is about the alert, not about who has it
			message = &m
		}
		q.add(&delivery{*message, now})
		e.changed()
	}
}

// resolve ends a firing alert and tells those that have it.
func (e *Engine) resolve(key alertKey, i *instance, why telemetry.AlertResolution, now time.Time) {
	i.State, i.Resolved, i.Resolution, i.SilencedBy = telemetry.AlertResolved, &now, why, ""
	m := i.notify(typeResolved, now)
	m.Data.Told = nil
	for _, t := range i.Told {
		if q := e.queues[t.Output]; q != nil {
			q.add(&delivery{m, now})
		}
	}
	delete(e.instances, key)
	e.resolved = append(e.resolved, i.Alert)
	if len(e.resolved) > maxResolved {
		e.resolved = slices.Delete(e.resolved, 0, len(e.resolved)-maxResolved)
	}
	e.changed()
}
