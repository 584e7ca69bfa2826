package api

import (
	"strconv"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A DropList answers GET /api/v1/drops.
type DropList struct {
	Head
	Drops []telemetry.Drop `json:"drops"`
}

func (h *handler) drops(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "drops", filter.DropTable.Row)
	is, _ := p.node()
	reason, hasReason := p.text("reason") // its number or name
	if hasReason && reason == "" {
		p.reject("reason", "the number or the name of a reason", "reason is empty")
	}
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	drops := h.cfg.Collector.Drops(func(d *telemetry.Drop) bool {
		return is(d.Node, d.Name) && (!hasReason || d.ReasonName == reason || strconv.Itoa(int(d.Reason)) == reason)
	})
	return s.answer(drops), nil
}
