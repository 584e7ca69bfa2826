package api

import (
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A BurstList answers GET /api/v1/bursts. That of a time range says which, and has a cursor if there are more.
type BurstList struct {
	Head
	Since  *time.Time        `json:"since,omitempty"`
	Until  *time.Time        `json:"until,omitempty"` // not part of it
	Bursts []telemetry.Burst `json:"bursts"`
}

// A BurstAnswer answers GET /api/v1/bursts/ID.
type BurstAnswer struct {
	GeneratedAt time.Time             `json:"generated_at"`
	Burst       telemetry.BurstDetail `json:"burst"`
}

const burstPath = "/api/v1/bursts/"

func (h *handler) bursts(p *params) (answer, *Problem) {
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
			bursts, _ := h.cfg.Bursts.Bursts(match, analyze.BurstsByLast, math.MaxInt)
			return bursts
		}, newBurstGroup, (*BurstGroup).add)
	}
	order := analyze.BurstsByLast
	if text, _ := p.text("order"); slices.Contains(burstOrders, text) {
		order = analyze.BurstOrder(text)
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
	string(analyze.BurstsByLast), string(analyze.BurstsByPeak), string(analyze.BurstsByDuration), string(analyze.BurstsByDrops),
}

// burst answers with one burst, whose id is the end of the path.
func (h *handler) burst(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, burstPath)
	p := newParams(r.URL.RawQuery)
	if problem := p.problem(); problem != nil {
		problem.write(w)
		return
	}
	b, found := h.cfg.Bursts.Burst(id)
	if !found {
		var problem *Problem
		if b, found, problem = h.storedBurst(r.Context(), id); problem != nil {
			problem.write(w)
			return
		}
	}
	if !found {
		newProblem(http.StatusNotFound, "there is no burst %q, or it is no longer kept; %s lists those that are", id, strings.TrimSuffix(burstPath, "/")).write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	body, end := h.compress(w, r)
	err := json.NewEncoder(body).Encode(BurstAnswer{GeneratedAt: h.cfg.Now().UTC(), Burst: b})
	if err == nil {
		err = end()
	}
	if err != nil {
		h.cfg.Logger.Debug("answer not delivered", "path", r.URL.Path, "error", err)
	}
}
