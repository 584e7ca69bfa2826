package types

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A RuleList answers GET /api/v1/rules.
type RuleList struct {
	Head
	Rules []telemetry.RuleStatus `json:"rules"`
}

// An OutputList answers GET /api/v1/outputs.
type OutputList struct {
	Head
	Outputs []telemetry.OutputStatus `json:"outputs"`
}

// An AlertList answers GET /api/v1/alerts.
type AlertList struct {
	Head
	Alerts []telemetry.Alert `json:"alerts"`
}

// An AlertTest is the body of POST /api/v1/alerts/test: one of them is given.
type AlertTest struct {
	Rule   string `json:"rule,omitempty"`
	Output string `json:"output,omitempty"`
}

// AlertTestResults answer POST /api/v1/alerts/test.
type AlertTestResults struct {
	Results []telemetry.TestResult `json:"results"`
}

// A SilenceList answers GET /api/v1/silences.
type SilenceList struct {
	Head
	Silences []Silence `json:"silences"`
}

// A Silence keeps alerts about the events that it selects from being delivered, for a time.
type Silence struct {
	ID     string    `json:"id" table:"ID" doc:"id of the silence"`
	Filter string    `json:"filter" table:"FILTER" doc:"its filter"`
	From   time.Time `json:"from,omitzero" table:"FROM" doc:"when it begins, if it did not always hold"`
	Until  time.Time `json:"until" table:"UNTIL" doc:"when it ends"`
	Reason string    `json:"reason" table:"REASON" doc:"why it is there"`
	InFile bool      `json:"in_file" doc:"it can be removed from the file only"`
}

// A NewSilence is the body of POST /api/v1/silences.
type NewSilence struct {
	Filter string     `json:"filter"`          // which events must not be told of
	From   *time.Time `json:"from,omitempty"`  // missing: now
	Until  time.Time  `json:"until,omitzero"`  // when it ends by itself
	For    string     `json:"for,omitempty"`   // how long it lasts, such as "2h", instead of Until
	Reason string     `json:"reason,omitzero"` // for people
}
