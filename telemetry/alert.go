package telemetry

import (
	"time"
)

// An AlertState is how far an alert has come.
type AlertState string

// States of alerts.
const (
	AlertPending  AlertState = "pending"  // it goes on, but not yet for long enough
	AlertFiring   AlertState = "firing"   // it went on for long enough, and people are told
	AlertResolved AlertState = "resolved" // it was over for long enough
)

// An AlertResolution is why a firing alert is not any more.
type AlertResolution string

// Resolutions of alerts. Only the first says that it is over.
const (
	AlertEnded       AlertResolution = "ended"        // the event ended
	AlertUnmatched   AlertResolution = "unmatched"    // the event goes on, but the filter does not select it any more
	AlertForgotten   AlertResolution = "forgotten"    // nothing is known of the event: Waybill was restarted
	AlertRuleRemoved AlertResolution = "rule_removed" // nobody asks for it any more
)

// An Alert is a rule and what it is about: the subject of events.
type Alert struct {
	ID          string            `json:"id" table:"ID,wide,end" doc:"id of the alert"`
	Rule        string            `json:"rule" table:"RULE" doc:"name of its rule"`
	State       AlertState        `json:"state" table:"STATE" doc:"pending, firing or resolved"`
	Severity    Severity          `json:"severity" table:"SEVERITY" doc:"how bad it is"`
	Since       time.Time         `json:"since" table:"SINCE" doc:"when an event of it was seen first"`
	Fired       *time.Time        `json:"fired" table:"FIRED,wide" doc:"when it fired"`
	Resolved    *time.Time        `json:"resolved" table:"RESOLVED,wide" doc:"when it was resolved"`
	Resolution  AlertResolution   `json:"resolution,omitempty" doc:"why it is not firing any more"`
	SilencedBy  string            `json:"silenced_by,omitempty" table:"SILENCE,wide" doc:"id of a silence that keeps it from being delivered now"`
	Summary     string            `json:"summary" table:"WHAT" doc:"what it is about, in words"`
	Labels      map[string]string `json:"labels,omitempty" doc:"labels of the rule"`
	Annotations map[string]string `json:"annotations,omitempty" doc:"annotations of the rule"`
	Told        []Told            `json:"told,omitempty" table:"TOLD,wide" doc:"outputs that are told of it"`
	Event       Event             `json:"event" doc:"the latest event"`
}

// A RuleStatus is a rule, and what is of it now.
type RuleStatus struct {
	Name   string `json:"name" doc:"name of the rule"`
	Filter string `json:"filter" doc:"its filter"`
	ForNs  int64  `json:"for_ns" doc:"how long an event must go on before it fires"`
	// empty: that of the event
	Severity string   `json:"severity,omitempty" doc:"severity that it gives, if it gives one"`
	Outputs  []string `json:"outputs" doc:"names of its outputs"`
	Pending  int      `json:"pending" doc:"alerts that wait to fire"`
	Firing   int      `json:"firing" doc:"alerts that fire"`
	Silenced int      `json:"silenced" doc:"of those that fire, the silenced"`

	// of the alerts that are remembered; nil: none of them fired
	LastFired *time.Time `json:"last_fired" doc:"when one fired last"`
}

// An OutputStatus is what became of the messages to an output. It says nothing of where that is: addresses may have
// secrets.
type OutputStatus struct {
	Name       string `json:"name" doc:"name of the output"`
	Kind       string `json:"kind" doc:"webhook, syslog, alertmanager or command"`
	Waiting    int    `json:"waiting" doc:"messages that wait"`
	Delivered  uint64 `json:"delivered" doc:"messages that were delivered"`
	Retried    uint64 `json:"retried" doc:"attempts that failed and were made again"`
	Rejected   uint64 `json:"rejected" doc:"messages that the receiver will never take"`
	Expired    uint64 `json:"expired" doc:"messages that were tried for a day"`
	CrowdedOut uint64 `json:"crowded_out" doc:"messages evicted by newer ones, the queue being full"`
	// attempts in a row that failed; 0: it works, or was not tried
	Failures  int    `json:"failures" doc:"attempts in a row that failed"`
	LastError string `json:"last_error,omitempty" doc:"why the latest attempt failed"` // of the attempts in a row
}

// A TestResult is what became of a message to an output.
type TestResult struct {
	Output string        `json:"output"`
	Error  string        `json:"error,omitempty"` // empty: it was delivered
	Took   time.Duration `json:"took_ns"`
}

// A Told is an output that is told of an alert, and how far that is. A message that is in its queue has reached nobody
// yet.
type Told struct {
	Output string    `json:"output"`
	At     time.Time `json:"at"` // when a message about it was last in the queue
	// when the output took the latest message that it took; nil: of none is known that it did
	Delivered *time.Time `json:"delivered"`
	Waiting   bool       `json:"waiting,omitempty"` // a message about it is in the queue now; only in answers
}
