package api

import (
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

const burstPath = "/api/v1/bursts/"

func (h *handler) bursts(p *params) (answer, *types.Problem) {
	s := selection[telemetry.Burst]{name: "bursts", limit: p.limit(), at: p.place(h.cfg.Now())}
	is, _ := p.node(h.cfg.Collector.Names)
	matches := filtered(h, p, "bursts", filter.BurstTable.Row)
	incast, hasIncast := p.boolean("incast")
	match := func(b *telemetry.Burst) bool {
		return is(&b.Node, b.Name) && (!hasIncast || incast == b.Incast) && (matches == nil || matches(b))
	}
	if p.isGrouped() {
		p.knows("since", "until")
		return grouped(h, p, "bursts", func() []telemetry.Burst {
			bursts, _ := h.cfg.Bursts.Bursts(match, burst.ByLast, math.MaxInt)
			return bursts
		}, newBurstGroup, addBurst)
	}
	order := burst.ByLast
	if text, _ := p.text("order"); slices.Contains(burstOrders, text) {
		order = burst.Order(text)
	} else {
		s.order = p.ordering(columnsOf(reflect.TypeFor[telemetry.Burst]()), burstOrders...)
	}
	p.knows("since", "until") // see burstsPast
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	bursts, total := h.cfg.Bursts.Bursts(match, order, s.first())
	return s.answerOf(bursts, total), nil
}

// burstOrders are the orders that have a name of their own: a peak is the longest queue, and not when that was.
var burstOrders = []string{
	string(burst.ByLast), string(burst.ByPeak), string(burst.ByDuration), string(burst.ByDrops),
}

// burst answers with one burst, whose id is the end of the path.
func (h *handler) burst(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, burstPath)
	p := newParams(r.URL.RawQuery)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	b, found := h.cfg.Bursts.Burst(id)
	if !found {
		var problem *types.Problem
		if b, found, problem = h.storedBurst(r.Context(), id); problem != nil {
			problem.Write(w)
			return
		}
	}
	if !found {
		types.NewProblem(http.StatusNotFound, "there is no burst %q, or it is no longer kept; %s lists those that are", id, strings.TrimSuffix(burstPath, "/")).Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	body, end := h.compress(w, r)
	err := json.NewEncoder(body).Encode(types.BurstAnswer{GeneratedAt: h.cfg.Now().UTC(), Burst: b})
	if err == nil {
		err = end()
	}
	if err != nil {
		h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}
