package store

import "errors"

// Reasons why a question has no answer that are not in the question. All other errors of Query and SQL say what is wrong with it.
var (
	// ErrTooLong: the context of the question ended before the answer was there.
	ErrTooLong = errors.New("the query took too long")
	// ErrTooLarge: the answer needs more memory, or more room on the disk beside the records, than questions may take.
	ErrTooLarge = errors.New("the query needs more memory or disk than queries may take")
	// ErrUnavailable: the store is closed, or its files cannot be read.
	ErrUnavailable = errors.New("the store cannot answer now")
)
