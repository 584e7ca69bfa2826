package api

import (
	"net/http"
	"runtime/debug"

	"github.com/waybill-int/waybill/api/types"
)

// panics answers 500 where a handler met a defect of its own, and writes it down: nothing else of the server is touched
// by it.
func (c *checks) panics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := statusWriter{ResponseWriter: w}
		defer func() {
			why := recover()
			if why == nil {
				return
			}
			if why == http.ErrAbortHandler {
				panic(why)
			}
			c.defects.Add(1)
			c.cfg.Logger.Error("a request met a defect of the server: please report it", "method", r.Method, "path",
				r.URL.Path, "query", r.URL.RawQuery, "panic", why, "stack", string(debug.Stack()))
			if answer.status != 0 {
				panic(http.ErrAbortHandler) // the answer has begun: that it is not whole shows by its end
			}
			types.NewProblem(http.StatusInternalServerError,
				"the server met a defect of its own, which is in its log").Write(w)
		}()
		next.ServeHTTP(&answer, r)
	})
}
