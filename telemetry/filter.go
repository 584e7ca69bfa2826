package telemetry

import "strconv"

// A FilterError says what is wrong with a filter, and where.
type FilterError struct {
	Offset     int      `json:"offset"`               // of the first wrong byte, from 0
	Length     int      `json:"length"`               // wrong bytes; 0 at the end of the text
	Column     int      `json:"column"`               // of the first wrong character, from 1
	Message    string   `json:"message"`              // one clause, without position and suggestion
	Expected   []string `json:"expected,omitempty"`   // what could stand there instead
	Suggestion string   `json:"suggestion,omitempty"` // what may have been meant, to replace the wrong bytes
}

// Error returns "column 1: there is no field hop.latenzy: did you mean hop.latency?".
func (e *FilterError) Error() string {
	text := "column " + strconv.Itoa(e.Column) + ": " + e.Message
	if e.Suggestion != "" {
		text += ": did you mean " + e.Suggestion + "?"
	}
	return text
}

// A FilterCandidate is something that may stand at the cursor in a filter. It replaces text[Start:End].
type FilterCandidate struct {
	Text  string `json:"text"`
	Class string `json:"class"` // "field", "operator", "keyword" or "value"
	Kind  string `json:"kind,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Doc   string `json:"doc,omitempty"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}
