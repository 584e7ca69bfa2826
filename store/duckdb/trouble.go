package duckdb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/store"
)

// trouble is the error of a query, in one line: one of those of package store, or else what is wrong with the query.
func trouble(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, store.ErrTooLarge) {
		return cause
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", store.ErrTooLong, ctx.Err())
	}
	if errors.Is(err, store.ErrTooLarge) {
		return err
	}
	reason := store.ErrUnavailable // what is no error of DuckDB is one of the connection
	var told *duckdb.Error
	if errors.As(err, &told) {
		switch told.Type {
		case duckdb.ErrorTypeOutOfMemory:
			reason = store.ErrTooLarge
		case duckdb.ErrorTypeIO, duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeInterrupt,
			duckdb.ErrorTypeConnection, duckdb.ErrorTypeTransaction:
		default:
			return errors.New(oneLine(err))
		}
	}
	return fmt.Errorf("%w: %s", reason, oneLine(err))
}

// statementTrouble is trouble of a statement that somebody wrote: DuckDB meets defects of its own in some, and the
// driver knows no Go type for all that can be selected. The store is well then.
func statementTrouble(ctx context.Context, err error) error {
	told, ok := errors.AsType[*duckdb.Error](err)
	switch {
	case ctx.Err() != nil:
	// of ?, to which nothing is given
	case ok && told.Type == duckdb.ErrorTypeTransaction, !ok && strings.Contains(err.Error(), "argument count"):
		return errors.New(oneLine(err))
	case ok && told.Type == duckdb.ErrorTypeInternal, !ok && strings.Contains(err.Error(), "API error"):
		return errors.New("this cannot be answered: " + oneLine(err))
	}
	return trouble(ctx, err)
}
