package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// forgetExporters answers POST /api/v1/exporters/forget.
func (h *handler) forgetExporters(w http.ResponseWriter, r *http.Request, _ *params) {
	var which types.ForgetExporters
	if problem := readBody(r, &which); problem != nil {
		problem.Write(w)
		return
	}
	schema := h.views().schemas["exporters"]
	e, err := filter.Parse(schema, which.Filter)
	if err != nil || strings.TrimSpace(which.Filter) == "" {
		problem := types.NewProblem(http.StatusBadRequest, "filter: want one that selects the exporters to forget")
		if err != nil {
			problem.Detail, problem.Filter = "filter: "+err.Error(), filter.Validate(schema, which.Filter)
		}
		problem.Parameter = "filter"
		problem.Write(w)
		return
	}
	matcher := e.Matcher(h.cfg.Now)
	answer := types.ForgottenExporters{Exporters: []telemetry.Exporter{}}
	answer.Exporters = append(answer.Exporters, h.cfg.Collector.Forget(func(x *telemetry.Exporter) bool {
		return matcher.Match(filter.ExporterTable.Row(x))
	})...)
	var names []string
	for i := range answer.Exporters {
		x := &answer.Exporters[i]
		name := x.Source.String()
		if x.Node != nil {
			name = fmt.Sprintf("%s node %d", name, *x.Node)
		}
		names = append(names, name)
	}
	h.cfg.Logger.Info("exporters were forgotten", "by", auth.From(r.Context()).Name, "filter", e.String(), "exporters",
		strings.Join(names, ", "))
	writeAnswer(w, answer)
}
