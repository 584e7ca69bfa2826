package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/telemetry"
)

// A BurstList answers GET /api/v1/bursts.
type BurstList struct {
	Head
	Bursts []telemetry.Burst `json:"bursts"`
}

// A BurstAnswer answers GET /api/v1/bursts/ID.
type BurstAnswer struct {
	GeneratedAt time.Time             `json:"generated_at"`
	Burst       telemetry.BurstDetail `json:"burst"`
}

const burstPath = "/api/v1/bursts/"

func (h *handler) bursts(p *params) (answer, *Problem) {
	limit := p.limit()
	is, _ := p.node()
	order := analyze.BurstOrder(p.choice("order",
		string(analyze.BurstsByLast), string(analyze.BurstsByPeak), string(analyze.BurstsByDuration), string(analyze.BurstsByDrops)))
	incast, hasIncast := p.boolean("incast")
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	bursts, total := h.cfg.Bursts.Bursts(func(b *telemetry.Burst) bool {
		return is(&b.Node, b.Name) && (!hasIncast || incast == b.Incast)
	}, order, limit)
	return listOfTotal("bursts", bursts, total), nil
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
