package types

import (
	"time"
)

// A DemoState answers /api/v1/demo.
type DemoState struct {
	Running bool       `json:"running"`
	Started *time.Time `json:"started"`          // null: it was not
	Ends    *time.Time `json:"ends"`             // by itself; null while it does not run
	Failed  string     `json:"failed,omitempty"` // why it ended before its time
}
