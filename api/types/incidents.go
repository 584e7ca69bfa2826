package types

// NewNote is the body of POST /api/v1/incidents/ID/acknowledge and /notes.
type NewNote struct {
	Text string `json:"text"` // at most 2000 bytes; an acknowledgement may have none
}

// SilenceIncident is the body of POST /api/v1/incidents/ID/silence.
type SilenceIncident struct {
	For    string `json:"for"` // a duration such as 2h
	Reason string `json:"reason,omitempty"`
}
