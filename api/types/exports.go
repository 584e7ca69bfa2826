package types

import "time"

// An ExportList answers GET /api/v1/exports.
type ExportList struct {
	GeneratedAt time.Time `json:"generated_at"`
	Exports     []Export  `json:"exports"` // by name
}

// An Export is an output of records: what other programs get.
type Export struct {
	Name    string        `json:"name"`
	Kind    string        `json:"kind"`    // its key in the configuration, such as kafka
	State   string        `json:"state"`   // sending, or failing
	Waiting int           `json:"waiting"` // records
	Retried uint64        `json:"retried"` // attempts that failed and were made again
	Error   string        `json:"error,omitempty"`
	Records []ExportCount `json:"records"`
}

// An ExportCount says what became of records of a kind: offered = sent + queue_full + refused + stopped + those that
// wait.
type ExportCount struct {
	Records   string `json:"records"`
	Offered   uint64 `json:"offered"`
	Sent      uint64 `json:"sent"`
	QueueFull uint64 `json:"queue_full"`
	Refused   uint64 `json:"refused"`
	Stopped   uint64 `json:"stopped"`
}
