package filter

import (
	"strconv"
	"unicode/utf8"
)

// An Error says what is wrong with a filter, and where.
type Error struct {
	Offset     int      `json:"offset"`               // of the first wrong byte, from 0
	Length     int      `json:"length"`               // wrong bytes; 0 at the end of the text
	Column     int      `json:"column"`               // of the first wrong character, from 1
	Message    string   `json:"message"`              // one clause, without position and suggestion
	Expected   []string `json:"expected,omitempty"`   // what could stand there instead
	Suggestion string   `json:"suggestion,omitempty"` // what may have been meant, to replace the wrong bytes
}

// Error returns "column 1: there is no field hop.latenzy: did you mean hop.latency?".
func (e *Error) Error() string {
	text := "column " + strconv.Itoa(e.Column) + ": " + e.Message
	if e.Suggestion != "" {
		text += ": did you mean " + e.Suggestion + "?"
	}
	return text
}

// newError returns an error about text[start:end].
func newError(text string, start, end int, message string) *Error {
	return &Error{Offset: start, Length: end - start, Column: utf8.RuneCountInString(text[:start]) + 1, Message: message}
}

// shorten cuts what a message repeats of the filter.
func shorten(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s[:min(len(s), most*utf8.UTFMax)])
	return string(runes[:most]) + "..."
}
