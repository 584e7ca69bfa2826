package alert

import (
	"slices"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// Rules returns the rules in the order of their file.
func (e *Engine) Rules() []telemetry.RuleStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]telemetry.RuleStatus, len(e.config.Rules))
	byName := map[string]*telemetry.RuleStatus{}
	for i := range e.config.Rules {
		r := &e.config.Rules[i]
		list[i] = telemetry.RuleStatus{
			Name: r.Name, Filter: r.Filter, ForNs: int64(r.For), Severity: r.Severity,
			Outputs: append([]string{}, r.Outputs...),
		}
		byName[r.Name] = &list[i]
	}
	fired := func(a *telemetry.Alert) {
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
		case i.State == telemetry.AlertPending:
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

// Outputs returns the outputs by name.
func (e *Engine) Outputs() []telemetry.OutputStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []telemetry.OutputStatus{}
	for _, q := range e.queues {
		s := telemetry.OutputStatus{
			Name: q.name, Kind: e.config.Outputs[q.name].kind(), Waiting: len(q.waiting), Failures: q.failures,
			Delivered: q.outcomes[Delivered], Retried: q.outcomes[Retried], Rejected: q.outcomes[Rejected],
			Expired: q.outcomes[Expired], CrowdedOut: q.outcomes[CrowdedOut],
		}
		if q.failures > 0 {
			s.LastError = q.lastError
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b telemetry.OutputStatus) int { return strings.Compare(a.Name, b.Name) })
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
