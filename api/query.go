package api

import (
	"context"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
)

// queryTime is how long a statement may take; it keeps one of the few places for lists occupied.
const queryTime = 20 * time.Second

// A SQL function answers a SELECT statement with at most limit rows; see store.Backend.
type SQL func(ctx context.Context, statement string, limit int) (*store.Answer, error)

// query answers a statement over the store.
func (h *handler) query(w http.ResponseWriter, r *http.Request, p *params) {
	limit, format, statement := p.limit(), p.format(r.Header), p.given("sql")
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	var a *store.Answer
	var err error
	if !h.statements.during(ctx, func() { a, err = h.cfg.SQL(ctx, statement, limit) }) {
		types.NewProblem(http.StatusServiceUnavailable, "other queries took all the time").Write(w)
		return
	}
	if err != nil {
		problem := storeProblem(ctx, err)
		if problem.Status == http.StatusBadRequest {
			problem.Detail, problem.Parameter = "sql: "+problem.Detail, "sql"
		}
		problem.Write(w)
		return
	}
	w.Header().Add("Vary", "Accept")
	if format.Write == nil {
		writeAnswer(w, types.Table{Columns: a.Columns, Rows: a.Rows, More: a.More})
		return
	}
	w.Header().Set("Content-Type", format.Media)
	w.Header().Set("Cache-Control", "no-store")
	rows, err := encode.Table(a.Columns, a.Rows)
	if err == nil {
		err = format.Write(w, rows)
	}
	if err != nil {
		h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}
