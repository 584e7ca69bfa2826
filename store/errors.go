package store

import (
	"errors"
	"time"
)

// Reasons why a question has no answer that are not in the question. All other errors of Query and SQL say what is
// wrong with it.
var (
	// ErrTooLong: the context of the question ended before the answer was there.
	ErrTooLong = errors.New("the query took too long")
	// ErrTooLarge: the answer needs more memory, or more room on the disk beside the records, than questions may take.
	ErrTooLarge = errors.New("the query needs more memory or disk than queries may take")
	// ErrFull: there is no room for what is to be written.
	ErrFull = errors.New("the disk is full")
	// ErrUnavailable: the store is closed, or its files cannot be read.
	ErrUnavailable = errors.New("the store cannot answer now")
)

// A GoneError says that the records of the beginning of a time range are kept in longer intervals only than the
// question needs. An answer would be of a part of the range.
type GoneError struct{ Since time.Time } // from when on they are there

func (e *GoneError) Error() string {
	return "records in intervals as short, or with these columns, are there since " + e.Since.UTC().Format(time.RFC3339)
}
