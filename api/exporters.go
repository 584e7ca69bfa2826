package api

import (
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) exporters(p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, "exporters", filter.ExporterTable.Row)
	source := p.prefix("source")
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	exporters := append(h.cfg.Collector.ExporterList(), h.cfg.Refused()...)
	exporters = slices.DeleteFunc(exporters, func(e telemetry.Exporter) bool {
		return !is(e.Node, e.Name) || source.IsValid() && !source.Contains(e.Source.Unmap())
	})
	return s.answer(exporters), nil
}
