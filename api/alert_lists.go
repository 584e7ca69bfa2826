package api

import (
	"github.com/waybill-int/waybill/api/types"
)

func (h *handler) rules(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "rules", ruleTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	return s.answer(h.cfg.Alerts.Rules()), nil
}

func (h *handler) outputs(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "outputs", outputTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	return s.answer(h.cfg.Alerts.Outputs()), nil
}
