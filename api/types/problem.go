package types

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/waybill-int/waybill/telemetry"
)

// MediaProblem is the media type of a Problem.
const MediaProblem = "application/problem+json"

// A Problem says what is wrong with a request, as RFC 9457 defines it. Its type is always "about:blank": the status and
// the members below say all. It is the error that a Client returns whenever a server answered.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"` // the words for the status
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Parameter is the parameter of the query that is wrong, Allowed what it or, if it is unknown, its name may be.
	Parameter string `json:"parameter,omitempty"`
	Allowed   string `json:"allowed,omitempty"`
	// Filter says where a filter is wrong, and what may have been meant.
	Filter *telemetry.FilterError `json:"filter,omitempty"`
}

// NewProblem returns a Problem whose detail is the formatted text.
func NewProblem(status int, format string, args ...any) *Problem {
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: fmt.Sprintf(format, args...),
	}
}

// Error returns the detail and what is allowed.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if p.Allowed != "" {
		text += "; allowed: " + p.Allowed
	}
	return text
}

func (p *Problem) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", MediaProblem)
	w.Header().Set("Cache-Control", "no-store")
	if p.Status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // an error means that who asked is gone
}
