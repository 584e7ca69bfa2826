package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
)

func (h *handler) listeners(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "listeners", listenerTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	return s.answer(slices.Clone(h.cfg.Listeners())), nil
}
