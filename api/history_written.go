package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/store"
)

// written returns r without what is not on disk yet: what is written between two pages would move what is on the pages
// behind. An answer says with its until where it ends.
func (h *handler) written(t store.Table, r span) span {
	if h.cfg.Written == nil {
		return r
	}
	if until := h.cfg.Written(t); until.Before(r.until) {
		r.until = until
	}
	if r.until.Before(r.since) {
		r.until = r.since
	}
	return r
}

// lastOf is the last event of an answer, for a cursor. Pages of events go on behind an event, not at an offset: one
// that is found late begins in a time that is on a page already.
func lastOf(found *store.Answer) string {
	row := found.Rows[len(found.Rows)-1]
	start, _ := row[slices.Index(found.Columns, "start")].(time.Time)
	id, _ := row[slices.Index(found.Columns, "id")].(string)
	return fmt.Sprintf("%d %s", start.UnixNano(), id)
}

// afterEvent narrows a question for events, which come in the order of their start, the latest first, and then of their
// ids, to those behind one.
func afterEvent(q *store.Query, last string, dialect filter.Dialect) *types.Problem {
	start, id, _ := strings.Cut(last, " ")
	ns, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		problem := types.NewProblem(http.StatusBadRequest, "cursor is of no list of events")
		problem.Parameter, problem.Allowed = "cursor", "next_cursor of an answer"
		return problem
	}
	at := dialect.Time()
	q.Narrow("(start < "+at+" OR start = "+at+" AND id > ?)", []any{ns, ns, id}, "start", "id")
	q.Offset = 0
	return nil
}
