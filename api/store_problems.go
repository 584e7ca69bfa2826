package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/store"
)

// storeProblem says why a store did not answer a question that it was asked with ctx.
func storeProblem(ctx context.Context, err error) *Problem {
	var gone *store.GoneError
	switch {
	case errors.As(err, &gone):
		problem := newProblem(http.StatusBadRequest, "%v", gone)
		problem.Parameter, problem.Allowed = "since", gone.Since.UTC().Format(time.RFC3339)+" or later, or longer pieces (interval), or other group_by and filter"
		return problem
	case ctx.Err() != nil || errors.Is(err, store.ErrTooLong):
		return newProblem(http.StatusGatewayTimeout, "the store did not answer within %v; ask for a shorter time range, longer pieces of it (interval), or fewer groups (group_by, or a filter)", queryTime)
	case errors.Is(err, store.ErrTooLarge):
		return newProblem(http.StatusInsufficientStorage, "%v; ask for a shorter time range, longer pieces of it (interval), or fewer groups (group_by, or a filter), or raise memory of the section store", err)
	case errors.Is(err, store.ErrUnavailable):
		return newProblem(http.StatusServiceUnavailable, "%v", err)
	}
	return newProblem(http.StatusBadRequest, "%v", err)
}
