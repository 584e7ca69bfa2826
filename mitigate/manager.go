package mitigate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An Actor drops packets, or lets others drop them. Its methods are called one at a time.
type Actor interface {
	// Abilities say what it can drop.
	Abilities() Abilities
	// Apply lets rules hold: all of them, or none, and then says why. One that holds already is none too many.
	Apply(ctx context.Context, rules []telemetry.MitigationRule) error
	// Withdraw lets rules hold no more. One that did not hold is no error.
	Withdraw(ctx context.Context, rules []telemetry.MitigationRule) error
	// Problem returns why rules that were applied do not hold now, such as a lost session; nil: they hold, as far as it
	// knows.
	Problem() error
	// Close ends what it has open.
	Close() error
}

// States of rules.
const (
	Planned     = "planned"
	Active      = "active"
	Failed      = "failed"      // it could not be sent again after a restart, which is tried again
	Withdrawing = "withdrawing" // it could not be withdrawn, which is tried again
	Withdrawn   = "withdrawn"
)

// A Config bounds what a Manager does.
type Config struct {
	Default   string         // the actor that is asked if nobody says; "": the only one
	For       time.Duration  // time to live of rules
	MaxRules  int            // at a time
	MaxShare  float64        // of all traffic, that attacks which are mitigated may be
	Safe      []netip.Prefix // addresses that no rule is about
	Automatic *Automatic     // nil: a person asks
}

// Automatic says which attacks are mitigated without anybody asking. Rules that name no source are never sent so.
type Automatic struct {
	By    string        // the actor; "": that of Default
	After time.Duration // how long an attack must have been active
	// Exporters is how many exporters must tell of a device at least, 1 or 2.
	Exporters int
}

// Deps are what a Manager works with.
type Deps struct {
	Actors  map[string]Actor
	Attacks func() []telemetry.Attack // that go on, and those that ended lately
	Traffic func() uint64             // all that is seen now, bits a second
	Own     func() []netip.Addr       // addresses of this machine, and of what it acts by
	// Elected reports whether no other analyzer acts on attacks; nil: there is none. While it is false nothing is sent
	// or taken back, but for what nobody else would take back when its time is over.
	Elected func() bool
	// Write replaces the file of the state; nil: rules do not outlive the process.
	Write func(name string, content []byte) error
	Audit *Audit
	Log   *slog.Logger
	Now   func() time.Time
}

// A Request asks for the mitigation of an attack.
type Request struct {
	By     string        // the actor; "": that of the configuration
	For    time.Duration // time to live; 0: that of the configuration
	DryRun bool          // nothing is sent
	Broad  bool          // rules that name no source are right
	Who    string        // asks
}

// A Manager mitigates attacks. Its methods may be called concurrently.
type Manager struct {
	deps   Deps
	acting sync.Mutex // held while actors act, one at a time

	mu       sync.Mutex // of what follows
	config   Config
	rules    map[string]*telemetry.MitigationRule // those that hold, or must be withdrawn
	problems map[string]string                    // of actors
	counts   map[Count]uint64
}

// A Count is what actions are counted by.
type Count struct {
	Action, By string
	Failed     bool
}

// ErrNoAttack says that there is no such attack.
var ErrNoAttack = errors.New("there is no such attack, or it is over")

// New returns a Manager that goes on with the rules of state, the file that the process before this one wrote; nil:
// there are none. They are sent by the first Tick.
func New(c Config, d Deps, state []byte) (*Manager, error) {
	m := &Manager{
		deps: d, config: c, rules: map[string]*telemetry.MitigationRule{}, problems: map[string]string{},
		counts: map[Count]uint64{},
	}
	return m, m.restore(state)
}

// Configure changes the limits.
func (m *Manager) Configure(c Config) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config = c
}

// Actors returns the names of the actors.
func (m *Manager) Actors() []string { return slices.Sorted(maps.Keys(m.deps.Actors)) }

func (m *Manager) settings() Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.config
}

func (m *Manager) safe() []netip.Prefix { return m.settings().Safe }

func (m *Manager) elected() bool { return m.deps.Elected == nil || m.deps.Elected() }

var errNotElected = refuse("the bus does not say that this analyzer is still the elected one: another one may act; " +
	"waybill cluster status says which is elected")

// Rules returns the rules that hold or must be withdrawn, of an attack, or of all if that is "".
func (m *Manager) Rules(attack string) []telemetry.MitigationRule {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rulesOf(func(r *telemetry.MitigationRule) bool { return attack == "" || r.Attack == attack })
}

// rulesOf returns copies of the rules that match, in a fixed order. Call it with the lock held.
func (m *Manager) rulesOf(match func(*telemetry.MitigationRule) bool) []telemetry.MitigationRule {
	list := []telemetry.MitigationRule{}
	for _, id := range slices.Sorted(maps.Keys(m.rules)) {
		if r := m.rules[id]; match(r) {
			one := *r
			if p := m.problems[r.By]; p != "" && one.Error == "" {
				one.Error = p
			}
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b telemetry.MitigationRule) int {
		return cmp.Or(cmp.Compare(a.Attack, b.Attack), cmp.Compare(a.By, b.By), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.Source, b.Source))
	})
	return list
}

// Actions returns what was done about an attack, the oldest first.
func (m *Manager) Actions(attack string) []telemetry.MitigationAction { return m.deps.Audit.Of(attack) }

// Counts returns how many actions there were.
func (m *Manager) Counts() map[Count]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counts)
}

// Mitigate sends rules against an attack, or only says which with DryRun. Rules that hold already hold longer. The
// error is ErrNoAttack, a RefusedError, or what the actor said: then no rule holds that did not hold before, but for
// those that Rules says must still be withdrawn.
func (m *Manager) Mitigate(ctx context.Context, attack string, r Request) (*telemetry.Mitigation, error) {
	m.acting.Lock()
	defer m.acting.Unlock()
	answer, actor, err := m.prepare(attack, &r)
	if err == nil && !r.DryRun && !m.elected() {
		err = errNotElected
	}
	if err != nil || r.DryRun {
		return answer, err
	}
	err = m.send(ctx, actor, answer)
	m.note(telemetry.MitigationAction{
		Attack: attack, Action: "mitigate", By: answer.By, Who: r.Who, Until: &answer.Until, Rules: texts(answer.Rules),
	}, err)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", answer.By, err)
	}
	return answer, nil
}

// prepare makes the rules and holds them to the limits.
func (m *Manager) prepare(id string, r *Request) (*telemetry.Mitigation, Actor, error) {
	attacks := m.deps.Attacks()
	at := slices.IndexFunc(attacks, func(a telemetry.Attack) bool { return a.ID == id })
	if at < 0 {
		return nil, nil, ErrNoAttack
	}
	a, c, now := &attacks[at], m.settings(), m.deps.Now().UTC()
	switch {
	case a.State == telemetry.AttackEnded:
		return nil, nil, refuse("the attack is over")
	case a.Kind == telemetry.AttackSurge:
		return nil, nil, refuse("this is no attack, but a surge of traffic that somebody asked for")
	}
	by, err := m.actor(cmp.Or(r.By, c.Default))
	if err != nil {
		return nil, nil, err
	}
	lasts := cmp.Or(r.For, c.For)
	if lasts < time.Second || lasts > MaxFor {
		return nil, nil, refuse("for: got %v, want 1s to %v", lasts, MaxFor)
	}
	actor := m.deps.Actors[by]
	answer := &telemetry.Mitigation{Attack: id, By: by, DryRun: r.DryRun, Until: now.Add(lasts)}
	answer.Rules, answer.Left, err = m.plan(a, by, actor.Abilities(), r, answer.Until)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others := m.rulesOf(func(o *telemetry.MitigationRule) bool {
		return !slices.ContainsFunc(answer.Rules, func(n telemetry.MitigationRule) bool { return n.ID == o.ID })
	})
	if n := len(others) + len(answer.Rules); n > c.MaxRules {
		return nil, nil, refuse("it takes %d rules, and %d hold for others: mitigation.max_rules is %d; no rule was sent",
			len(answer.Rules), len(others), c.MaxRules)
	}
	if answer.Share = m.share(a, attacks); answer.Share > c.MaxShare {
		return nil, nil, refuse("%.0f %% of all traffic would be dropped, more than mitigation.max_share, %.0f %%; "+
			"no rule was sent", 100*answer.Share, 100*c.MaxShare)
	}
	return answer, actor, nil
}

// MaxFor is the longest time to live of a rule.
const MaxFor = 7 * 24 * time.Hour

// actor returns the name of the actor that is meant.
func (m *Manager) actor(name string) (string, error) {
	names := m.Actors()
	switch {
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", refuse("by: want one of %v; mitigation.default can say which", names)
	case m.deps.Actors[name] == nil:
		return "", refuse("by: %q is not configured, want one of %v", name, names)
	}
	return name, nil
}

// share returns which part of all traffic an attack is, together with those that are mitigated. Call it with the lock
// held.
func (m *Manager) share(a *telemetry.Attack, attacks []telemetry.Attack) float64 {
	var sum uint64
	for i := range attacks {
		o := &attacks[i]
		if o.ID == a.ID || o.State != telemetry.AttackEnded && len(m.rulesOf(func(r *telemetry.MitigationRule) bool {
			return r.Attack == o.ID
		})) > 0 {
			sum += o.BPS
		}
	}
	all := m.deps.Traffic()
	if all == 0 {
		return 0
	}
	return min(float64(sum)/float64(all), 1)
}

// send sends the rules of an answer, all or none.
func (m *Manager) send(ctx context.Context, actor Actor, answer *telemetry.Mitigation) error {
	m.mu.Lock()
	var fresh []string
	for i := range answer.Rules { // on disk before they hold
		r := answer.Rules[i]
		r.State = Active
		if m.rules[r.ID] == nil {
			fresh = append(fresh, r.ID)
		}
		m.rules[r.ID] = &r
		answer.Rules[i].State = Active
	}
	err := m.save()
	m.mu.Unlock()
	if err == nil {
		if err = actor.Apply(ctx, answer.Rules); err == nil {
			return nil
		}
		err = errors.Join(err, m.takeBack(ctx, actor, func(r *telemetry.MitigationRule) bool {
			return slices.Contains(fresh, r.ID)
		}))
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range fresh {
		delete(m.rules, id)
	}
	return fmt.Errorf("the rules cannot be kept: %w; none was sent", err)
}

// takeBack withdraws rules of an actor. Those that it cannot withdraw are tried again by Tick.
func (m *Manager) takeBack(ctx context.Context, actor Actor, match func(*telemetry.MitigationRule) bool) error {
	m.mu.Lock()
	list := m.rulesOf(match)
	m.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	err := actor.Withdraw(ctx, list)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		if err == nil {
			delete(m.rules, list[i].ID)
		} else if r := m.rules[list[i].ID]; r != nil {
			r.State, r.Error = Withdrawing, err.Error()
		}
	}
	if err != nil {
		err = fmt.Errorf("not withdrawn, and tried again: %w", err)
	}
	return errors.Join(err, m.save())
}

// Release withdraws all rules against an attack. Its error is ErrNoAttack if there are none, or what an actor said:
// then the rules are tried again.
func (m *Manager) Release(ctx context.Context, attack, who string) (*telemetry.Mitigation, error) {
	m.acting.Lock()
	defer m.acting.Unlock()
	of := m.Rules(attack)
	if len(of) == 0 || attack == "" {
		return nil, ErrNoAttack
	}
	if !m.elected() {
		return nil, errNotElected
	}
	answer := &telemetry.Mitigation{
		Attack: attack, By: of[0].By, Until: m.deps.Now().UTC(), Rules: of, Left: []telemetry.LeftOut{},
	}
	err := m.withdraw(ctx, of, "release", who)
	for i := range answer.Rules {
		r := &answer.Rules[i]
		if r.State = Withdrawn; err != nil {
			if still := m.Rules(attack); slices.ContainsFunc(still,
				func(s telemetry.MitigationRule) bool { return s.ID == r.ID }) {
				r.State, r.Error = Withdrawing, err.Error()
			}
		}
	}
	return answer, err
}

// withdraw withdraws rules, those of each attack and actor with a line in the audit trail.
func (m *Manager) withdraw(ctx context.Context, rules []telemetry.MitigationRule, action, who string) error {
	type part struct{ attack, by string }
	parts := map[part][]telemetry.MitigationRule{}
	for _, r := range rules {
		parts[part{r.Attack, r.By}] = append(parts[part{r.Attack, r.By}], r)
	}
	var errs []error
	for _, p := range slices.SortedFunc(maps.Keys(parts), func(a, b part) int {
		return cmp.Or(cmp.Compare(a.attack, b.attack), cmp.Compare(a.by, b.by))
	}) {
		list := parts[p]
		var err error
		if actor := m.deps.Actors[p.by]; actor != nil {
			err = m.takeBack(ctx, actor, func(r *telemetry.MitigationRule) bool {
				return slices.ContainsFunc(list, func(o telemetry.MitigationRule) bool { return o.ID == r.ID })
			})
		} else {
			err = fmt.Errorf("%s is not configured any more; its rules hold until it is, or until %v", p.by,
				list[0].Until)
		}
		m.note(telemetry.MitigationAction{
			Attack: p.attack, Action: action, By: p.by, Who: who, Rules: texts(list),
		}, err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func texts(rules []telemetry.MitigationRule) []string {
	list := make([]string, len(rules))
	for i := range rules {
		list[i] = rules[i].Text
	}
	return list
}

// note writes a line of the audit trail, and of the log.
func (m *Manager) note(a telemetry.MitigationAction, err error) {
	a.At = m.deps.Now().UTC()
	level := slog.LevelInfo
	if err != nil {
		a.Error, level = err.Error(), slog.LevelError
	}
	m.mu.Lock()
	m.counts[Count{a.Action, a.By, err != nil}]++
	m.mu.Unlock()
	m.deps.Log.Log(context.Background(), level, "mitigation", "action", a.Action, "attack", a.Attack, "by", a.By, "who",
		cmp.Or(a.Who, "server"), "rules", len(a.Rules), "error", a.Error)
	if wrong := m.deps.Audit.Add(a); wrong != nil {
		m.deps.Log.Error("the audit file of mitigation cannot be written", "error", wrong)
	}
}
