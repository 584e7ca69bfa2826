package api

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"slices"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) bursts(ctx context.Context, p *params) (answer, *types.Problem) {
	if asksPast(p) {
		return h.burstsPast(ctx, p)
	}
	matches := filtered(h, p.filter(), filter.BurstTable.Row)
	if p.isGrouped() {
		return grouped(h, p, func() []telemetry.Burst {
			bursts, _ := h.cfg.Bursts.Bursts(matches, burst.ByLast, math.MaxInt)
			return bursts
		}, newBurstGroup, addBurst)
	}
	s := selection[telemetry.Burst]{name: p.list, limit: p.limit(), at: p.place(h.cfg.Now())}
	order := burst.ByLast
	if text, _ := p.text("order"); slices.Contains(burstOrders, text) {
		order = burst.Order(text)
	} else {
		s.order = p.ordering(reflect.TypeFor[telemetry.Burst](), burstOrders...)
	}
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	bursts, total := h.cfg.Bursts.Bursts(matches, order, s.first())
	return s.answerOf(bursts, total), nil
}

// burstOrders are the orders that have a name of their own: a peak is the longest queue, and not when that was.
var burstOrders = []string{
	string(burst.ByLast), string(burst.ByPeak), string(burst.ByDuration), string(burst.ByDrops),
}

// burst answers with one burst.
func (h *handler) burst(w http.ResponseWriter, r *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	b, found := h.cfg.Bursts.Burst(p.id)
	if !found {
		var problem *types.Problem
		if b, found, problem = h.storedBurst(r.Context(), p.id); problem != nil {
			problem.Write(w)
			return
		}
	}
	if !found {
		types.NewProblem(http.StatusNotFound,
			"there is no burst %q, or it is no longer kept; %sbursts lists those that are", p.id, api).Write(w)
		return
	}
	writeAnswer(w, types.BurstAnswer{GeneratedAt: h.cfg.Now().UTC(), Burst: b})
}
