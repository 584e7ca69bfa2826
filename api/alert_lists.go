package api

import "github.com/waybill-int/waybill/alert"

// A RuleList answers GET /api/v1/rules.
type RuleList struct {
	Head
	Rules []alert.RuleStatus `json:"rules"`
}

// An OutputList answers GET /api/v1/outputs.
type OutputList struct {
	Head
	Outputs []alert.OutputStatus `json:"outputs"`
}

func (h *handler) rules(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "rules", ruleTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	return s.answer(h.cfg.Alerts.Rules()), nil
}

func (h *handler) outputs(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "outputs", outputTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	if h.cfg.Alerts == nil {
		return answer{}, noAlerts()
	}
	return s.answer(h.cfg.Alerts.Outputs()), nil
}
