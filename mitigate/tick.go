package mitigate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Run ticks once a second until ctx is done.
func (m *Manager) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		m.Tick(ctx)
		select {
		case <-ctx.Done():
			m.stop()
			return
		case <-ticker.C:
		}
	}
}

// stop withdraws the rules that nobody would know of any more, and ends what actors have open.
func (m *Manager) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	m.acting.Lock()
	defer m.acting.Unlock()
	if rules := m.Rules(""); m.deps.Write == nil && len(rules) > 0 {
		_ = m.withdraw(ctx, rules, "restart", "")
	}
	for _, name := range m.Actors() {
		if err := m.deps.Actors[name].Close(); err != nil {
			m.deps.Log.Warn("mitigation: what drops did not close", "by", name, "error", err)
		}
	}
}

// Tick does what is due: it withdraws rules whose time is over or whose attack has ended, tries again what failed,
// tells of actors that lost their hold, and acts by itself where that is configured.
func (m *Manager) Tick(ctx context.Context) {
	m.watch()
	attacks, now := m.deps.Attacks(), m.deps.Now()
	elected := m.elected()
	var over, ended, again []telemetry.MitigationRule
	missing := map[string][]telemetry.MitigationRule{}
	for _, r := range m.Rules("") {
		switch actor := m.deps.Actors[r.By]; {
		case !elected && (actor == nil || !actor.Abilities().Session || now.Before(r.Until)):
		case r.State == Withdrawing:
			again = append(again, r)
		case !now.Before(r.Until):
			over = append(over, r)
		case m.isOver(&r, attacks):
			ended = append(ended, r)
		case r.State == Failed && actor != nil:
			missing[r.By] = append(missing[r.By], r)
		}
	}
	if len(over)+len(ended)+len(again)+len(missing) > 0 {
		m.acting.Lock()
		_ = m.withdraw(ctx, over, "expire", "") // all are noted
		_ = m.withdraw(ctx, ended, "end", "")
		m.retry(ctx, again)
		for _, by := range slices.Sorted(maps.Keys(missing)) {
			m.applyAgain(ctx, by, missing[by])
		}
		m.acting.Unlock()
	}
	if elected {
		m.act(ctx, attacks, now)
	}
}

// retry withdraws what could not be withdrawn, without another line for each try.
func (m *Manager) retry(ctx context.Context, rules []telemetry.MitigationRule) {
	for by, actor := range m.deps.Actors {
		_ = m.takeBack(ctx, actor, func(r *telemetry.MitigationRule) bool { // its state says why
			return r.By == by &&
				slices.ContainsFunc(rules, func(o telemetry.MitigationRule) bool { return o.ID == r.ID })
		})
	}
}

// isOver reports whether the attack of a rule has ended. Of one whose drops nobody reports that is not known: nothing
// comes through, and all of it may come again without the rule.
func (m *Manager) isOver(r *telemetry.MitigationRule, attacks []telemetry.Attack) bool {
	actor := m.deps.Actors[r.By]
	if actor == nil || !actor.Abilities().Reports {
		return false
	}
	at := slices.IndexFunc(attacks, func(a telemetry.Attack) bool { return a.ID == r.Attack })
	return at < 0 || attacks[at].State == telemetry.AttackEnded
}

// applyAgain sends rules that must hold and do not.
func (m *Manager) applyAgain(ctx context.Context, by string, rules []telemetry.MitigationRule) {
	err := m.deps.Actors[by].Apply(ctx, rules)
	isNew := false
	m.mu.Lock()
	for i := range rules {
		if r := m.rules[rules[i].ID]; r != nil {
			if err == nil {
				r.State, r.Error = Active, ""
			} else {
				isNew = isNew || r.Error != err.Error()
				r.Error = err.Error()
			}
		}
	}
	err2 := m.save()
	m.mu.Unlock()
	if err == nil || isNew {
		for _, id := range attacksOf(rules) {
			m.note(telemetry.MitigationAction{Attack: id, Action: "restart", By: by, Rules: textsOf(rules, id)}, err)
		}
	}
	if err2 != nil {
		m.deps.Log.Error("the rules of mitigation cannot be kept", "error", err2)
	}
}

func attacksOf(rules []telemetry.MitigationRule) (ids []string) {
	for i := range rules {
		if !slices.Contains(ids, rules[i].Attack) {
			ids = append(ids, rules[i].Attack)
		}
	}
	return ids
}

func textsOf(rules []telemetry.MitigationRule, attack string) []string {
	return texts(slices.DeleteFunc(slices.Clone(rules), func(r telemetry.MitigationRule) bool {
		return r.Attack != attack
	}))
}

// watch notes when an actor loses its hold, and when it has it again.
func (m *Manager) watch() {
	for _, by := range m.Actors() {
		text := ""
		err := m.deps.Actors[by].Problem()
		if err != nil {
			text = err.Error()
		}
		m.mu.Lock()
		before := m.problems[by]
		m.problems[by] = text
		rules := m.rulesOf(func(r *telemetry.MitigationRule) bool { return r.By == by })
		m.mu.Unlock()
		action := "lost"
		if err == nil {
			action = "restored"
		}
		if before == text {
			continue
		}
		m.deps.Log.Warn("mitigation: "+action, "by", by, "error", text, "rules", len(rules))
		for _, id := range attacksOf(rules) {
			m.note(telemetry.MitigationAction{Attack: id, Action: action, By: by, Rules: textsOf(rules, id)}, err)
		}
	}
}

// act mitigates attacks without anybody asking, if that is configured.
func (m *Manager) act(ctx context.Context, attacks []telemetry.Attack, now time.Time) {
	c := m.settings().Automatic
	if c == nil {
		return
	}
	for i := range attacks {
		a := &attacks[i]
		if a.State != telemetry.AttackActive || a.Kind == telemetry.AttackSurge || now.Sub(a.Begin) < c.After {
			continue
		}
		r := Request{By: c.By, Who: "automatic"}
		if len(m.Rules(a.ID)) > 0 || m.wasTried(a.ID, now) {
			continue
		}
		isAlone := func(s telemetry.AttackSource) bool { return s.OneExporter }
		sources := a.Devices
		if len(sources) == 0 {
			sources = a.Addresses
		}
		if c.Exporters > 1 && slices.ContainsFunc(sources, isAlone) {
			m.refused(a.ID, r, refuse("all reports about a source of it came from one exporter, and "+
				"mitigation.automatic.exporters is %d", c.Exporters))
			continue
		}
		if _, err := m.Mitigate(ctx, a.ID, r); IsRefused(err) {
			m.refused(a.ID, r, err)
		}
	}
}

// wasTried reports whether the rules against an attack were sent, released or refused in the last minute, or released
// by a person, who knows better.
func (m *Manager) wasTried(attack string, now time.Time) bool {
	actions := m.Actions(attack)
	return slices.ContainsFunc(actions, func(a telemetry.MitigationAction) bool {
		return a.Action == "release" || now.Sub(a.At) < time.Minute
	})
}

// refused notes why nothing was done.
func (m *Manager) refused(attack string, r Request, err error) {
	m.note(telemetry.MitigationAction{Attack: attack, Action: "mitigate", By: r.By, Who: r.Who, Rules: []string{}}, err)
}

// The file of the state.
const (
	StateFile    = "mitigation.json"
	stateVersion = 1
)

type state struct {
	Version int                         `json:"version"`
	Rules   []*telemetry.MitigationRule `json:"rules"`
}

// save writes the state. Call it with the lock held.
func (m *Manager) save() error {
	if m.deps.Write == nil {
		return nil
	}
	s := state{Version: stateVersion, Rules: []*telemetry.MitigationRule{}}
	for _, id := range slices.Sorted(maps.Keys(m.rules)) {
		s.Rules = append(s.Rules, m.rules[id])
	}
	text, err := json.MarshalIndent(&s, "", " ")
	if err != nil {
		return err
	}
	return m.deps.Write(StateFile, text)
}

// restore takes the rules of the process before this one. They do not hold until Tick has sent them again.
func (m *Manager) restore(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s is damaged (%w); look which rules hold, and move it away", StateFile, err)
	}
	if s.Version > stateVersion {
		return fmt.Errorf("%s: its version is %d, this program knows %d; use a newer one, or move the file away",
			StateFile, s.Version, stateVersion)
	}
	for _, r := range s.Rules {
		if r == nil || r.ID == "" {
			continue
		}
		if r.State != Withdrawing {
			r.State = Failed
		}
		m.rules[r.ID] = r
	}
	return nil
}
