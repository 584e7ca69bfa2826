package alert

import (
	"slices"
	"strings"
	"time"
)

// A RuleStatus is a rule, and what is of it now.
type RuleStatus struct {
	Name     string   `json:"name" doc:"name of the rule"`
	Filter   string   `json:"filter" doc:"its filter"`
	ForNs    int64    `json:"for_ns" doc:"how long an event must go on before it fires"`
	Severity string   `json:"severity,omitempty" doc:"severity that it gives, if it gives one"` // empty: that of the event
	Outputs  []string `json:"outputs"`
	Pending  int      `json:"pending" doc:"alerts that wait to fire"`
	Firing   int      `json:"firing" doc:"alerts that fire"`
	Silenced int      `json:"silenced" doc:"of those that fire, the silenced"`

	LastFired *time.Time `json:"last_fired" doc:"when one fired last"` // of the alerts that are remembered; nil: none of them fired
}

// Rules returns the rules in the order of their file.
func (e *Engine) Rules() []RuleStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]RuleStatus, len(e.config.Rules))
	byName := map[string]*RuleStatus{}
	for i := range e.config.Rules {
		r := &e.config.Rules[i]
		list[i] = RuleStatus{Name: r.Name, Filter: r.Filter, ForNs: int64(r.For), Severity: r.Severity, Outputs: append([]string{}, r.Outputs...)}
		byName[r.Name] = &list[i]
	}
	fired := func(a *Alert) {
		if s := byName[a.Rule]; s != nil && a.Fired != nil && (s.LastFired == nil || a.Fired.After(*s.LastFired)) {
			at := *a.Fired
			s.LastFired = &at
		}
	}
	for i := range e.resolved {
		fired(&e.resolved[i])
	}
	for _, i := range e.instances {
		fired(&i.Alert)
		s := byName[i.Rule]
		switch {
		case s == nil: // the rule is gone, and its alerts go with the next look
		case i.State == Pending:
			s.Pending++
		default:
			s.Firing++
			if i.SilencedBy != "" {
				s.Silenced++
			}
		}
	}
	return list
}

// An OutputStatus is what became of the messages to an output. It says nothing of where that is: addresses may have secrets.
type OutputStatus struct {
	Name       string `json:"name" doc:"name of the output"`
	Kind       string `json:"kind" doc:"webhook, syslog, alertmanager or command"`
	Waiting    int    `json:"waiting" doc:"messages that wait"`
	Delivered  uint64 `json:"delivered" doc:"messages that were delivered"`
	Retried    uint64 `json:"retried" doc:"attempts that failed and were made again"`
	Rejected   uint64 `json:"rejected" doc:"messages that the receiver will never take"`
	Expired    uint64 `json:"expired" doc:"messages that were tried for a day"`
	CrowdedOut uint64 `json:"crowded_out" doc:"messages that gave way to new ones"`
	Failures   int    `json:"failures" doc:"attempts in a row that failed"`             // attempts in a row that failed; 0: it works, or was not tried
	LastError  string `json:"last_error,omitempty" doc:"why the latest attempt failed"` // of the attempts in a row
}

// Outputs returns the outputs by name.
func (e *Engine) Outputs() []OutputStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []OutputStatus{}
	for _, q := range e.queues {
		s := OutputStatus{
			Name: q.name, Kind: e.config.Outputs[q.name].kind(), Waiting: len(q.waiting), Failures: q.failures,
			Delivered: q.outcomes[Delivered], Retried: q.outcomes[Retried], Rejected: q.outcomes[Rejected],
			Expired: q.outcomes[Expired], CrowdedOut: q.outcomes[CrowdedOut],
		}
		if q.failures > 0 {
			s.LastError = q.lastError
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b OutputStatus) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// kind names what an output is.
func (o *Output) kind() string {
	switch {
	case o.Webhook != nil:
		return "webhook"
	case o.Syslog != nil:
		return "syslog"
	case o.Alertmanager != nil:
		return "alertmanager"
	}
	return "command"
}
