package types

import (
	"github.com/waybill-int/waybill/telemetry"
)

// A Validation answers GET /api/v1/filter/validate.
type Validation struct {
	Valid  bool                   `json:"valid"`
	Filter string                 `json:"filter"`          // in its canonical form, if it is valid
	Error  *telemetry.FilterError `json:"error,omitempty"` // what is wrong, if it is not
}

// Completions answer GET /api/v1/filter/complete.
type Completions struct {
	Candidates []telemetry.FilterCandidate `json:"candidates"`
}
