package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
)

// storeProblem says why a store did not answer a question that it was asked with ctx.
func storeProblem(ctx context.Context, err error) *types.Problem {
	var gone *store.GoneError
	switch {
	case errors.As(err, &gone):
		problem := types.NewProblem(http.StatusBadRequest, "%v", gone)
		problem.Parameter, problem.Allowed = "since",
			gone.Since.UTC().Format(time.RFC3339)+" or later, or longer pieces (interval), or other group_by and filter"
		return problem
	case ctx.Err() != nil || errors.Is(err, store.ErrTooLong):
		return types.NewProblem(http.StatusGatewayTimeout,
			"the store did not answer within %v; ask for a shorter time range, longer pieces of it (interval), or fewer groups (group_by, or a filter)", queryTime)
	case errors.Is(err, store.ErrTooLarge):
		return types.NewProblem(http.StatusInsufficientStorage,
			"%v; ask for a shorter time range, longer pieces of it (interval), or fewer groups (group_by, or a filter), or raise memory of the section store", err)
	case errors.Is(err, store.ErrUnavailable):
		return types.NewProblem(http.StatusServiceUnavailable, "%v", err)
	}
	return types.NewProblem(http.StatusBadRequest, "%v", err)
}
