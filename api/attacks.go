package api

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// attacks lists attacks: of now, or those that began in a time range. They are kept with their events.
func (h *handler) attacks(ctx context.Context, p *params) (answer, *types.Problem) {
	return findFromEvents(ctx, h, p, &fromEvents[telemetry.Attack]{
		row: filter.AttackTable.Row,
		live: func() []telemetry.Attack {
			events, _ := h.cfg.Events.Events(isAttack, math.MaxInt)
			return h.attacksOf(events)
		},
		limit: maxStoredAttacks, narrow: onlyAttacks,
		past: func(_ context.Context, events []telemetry.Event, _ span) ([]telemetry.Attack, *types.Problem) {
			return h.attacksOf(events), nil
		},
	})
}

// maxStoredAttacks bounds the attacks of a time range, each of which may have thousands of devices.
const maxStoredAttacks = 1000

// onlyAttacks narrows a query for events to those of attacks.
func onlyAttacks(q *store.Query) { q.Narrow("kind = ?", []any{uint64(telemetry.EventAttack)}, "kind") }

func isAttack(e *telemetry.Event) bool { return e.Kind == telemetry.EventAttack && e.Attack != nil }

// attackOf returns the attack of an event. One that went on when the server stopped is over if its event is.
func (h *handler) attackOf(e *telemetry.Event) *telemetry.Attack {
	a := *e.Attack
	a.Rules, a.Actions = []telemetry.MitigationRule{}, []telemetry.MitigationAction{}
	if h.cfg.Mitigation != nil {
		a.Rules, a.Actions = h.cfg.Mitigation.Rules(a.ID), h.cfg.Mitigation.Actions(a.ID)
	}
	if e.End != nil && a.State != telemetry.AttackEnded {
		a.State, a.End, a.BPS, a.PPS = telemetry.AttackEnded, e.End, 0, 0
	}
	return &a
}

func (h *handler) attacksOf(events []telemetry.Event) []telemetry.Attack {
	list := make([]telemetry.Attack, 0, len(events))
	for i := range events {
		if isAttack(&events[i]) {
			list = append(list, *h.attackOf(&events[i]))
		}
	}
	return list
}

// asListed returns events as lists of events have them.
func asListed(events []telemetry.Event) []telemetry.Event {
	for i := range events {
		events[i].Attack, events[i].Extent = nil, nil
	}
	return events
}

// attack answers with one attack.
func (h *handler) attack(w http.ResponseWriter, r *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	events, _ := h.cfg.Events.Events(func(e *telemetry.Event) bool { return e.ID == p.id && isAttack(e) }, 1)
	if len(events) == 0 && h.cfg.History != nil {
		one, problem := h.storedEvent(r.Context(), p.id)
		if problem != nil {
			problem.Write(w)
			return
		}
		if one != nil {
			events = append(events, *one)
		}
	}
	if len(events) == 0 || !isAttack(&events[0]) {
		types.NewProblem(http.StatusNotFound,
			"there is no attack %q, or it is no longer kept; %sattacks lists those that are", p.id, api).Write(w)
		return
	}
	writeAnswer(w, types.AttackAnswer{GeneratedAt: h.cfg.Now().UTC(), Attack: *h.attackOf(&events[0])})
}

// streamAttacks answers GET /api/v1/attacks/stream with server-sent events: each attack when it begins, whenever what
// is known of it changes, at most once a second, and when it is over. It is as streamEvents else.
func (h *handler) streamAttacks(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaStream)
	matches := filtered(h, p.filter(), filter.AttackTable.Row)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	h.streamChanges(w, r, "attacks", func(s *stream) eventFollower {
		told := map[string]string{} // what was sent of open attacks
		ended := func(e *telemetry.Event) error {
			if !isAttack(e) {
				return nil
			}
			if a := h.attackOf(e); matches == nil || matches(a) {
				return s.send("attack", a)
			}
			return nil
		}
		open := func(list []telemetry.Event) error {
			still := map[string]string{}
			for i := range list {
				e := &list[i]
				if !isAttack(e) {
					continue
				}
				a := h.attackOf(e)
				text, err := json.Marshal(a)
				if err != nil {
					return err
				}
				still[e.ID] = string(text)
				if told[e.ID] != still[e.ID] && (matches == nil || matches(a)) {
					if err := s.send("attack", a); err != nil {
						return err
					}
				}
			}
			told = still
			return nil
		}
		return eventFollower{ended, open}
	})
}
