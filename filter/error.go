package filter

import (
	"unicode/utf8"

	"github.com/waybill-int/waybill/telemetry"
)

// An Error says what is wrong with a filter, and where.
type Error = telemetry.FilterError

// newError returns an error about text[start:end].
func newError(text string, start, end int, message string) *Error {
	return &Error{
		Offset: start, Length: end - start, Column: utf8.RuneCountInString(text[:start]) + 1,
		Message: message,
	}
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
