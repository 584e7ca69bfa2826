package api

import (
	"context"
	"math"
	"slices"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// Filters of lists that the API only has.
var (
	portTable     = filter.TableOf[types.Port]("ports")
	listenerTable = filter.TableOf[types.Listener]("listeners")
	ruleTable     = filter.TableOf[telemetry.RuleStatus]("rules")
	outputTable   = filter.TableOf[telemetry.OutputStatus]("outputs")
	silenceTable  = filter.TableOf[types.Silence]("silences")
	viewTable     = filter.TableOf[types.View]("views")
	alertTable    = newAlertTable()
)

// newAlertTable returns the table of alerts: the fields of their events, with the severity of the alert, and what an
// alert has beside.
func newAlertTable() *filter.Table[telemetry.Alert] {
	states := []filter.Choice{
		{Name: string(telemetry.AlertPending), Number: 0},
		{Name: string(telemetry.AlertFiring), Number: 1},
		{Name: string(telemetry.AlertResolved), Number: 2},
	}
	var fields []filter.Field
	values := map[string]filter.ValueOf[telemetry.Alert]{}
	for _, f := range filter.Events.Fields() {
		fields = append(fields, *f)
		if len(f.Any) > 0 {
			continue
		}
		values[f.Name] = func(a *telemetry.Alert, i int) (filter.Value, bool) {
			e := a.Event
			e.Severity = a.Severity
			return filter.EventRow{Event: &e}.Value(f.Index(), i)
		}
	}
	fields = append(fields,
		filter.Field{Name: "state", Kind: filter.Enum, Choices: states, Doc: "how far it has come"},
		filter.Field{Name: "silenced", Kind: filter.Bool, Doc: "a silence keeps it from being delivered"},
	)
	values["state"] = func(a *telemetry.Alert, i int) (filter.Value, bool) {
		at := slices.IndexFunc(states, func(c filter.Choice) bool { return c.Name == string(a.State) })
		return filter.FromUint(uint64(at)), i == 0
	}
	values["silenced"] = func(a *telemetry.Alert, i int) (filter.Value, bool) {
		return filter.FromBool(a.SilencedBy != ""), i == 0
	}
	return filter.NewTable(filter.MustSchema("alerts", fields...), values)
}

// live finds items of the tables, all of which it looks at.
func live[T any](table *filter.Table[T], items func(*handler) []T) finder {
	return func(h *handler, _ context.Context, p *params) (answer, *types.Problem) {
		s := selectFrom(h, p, table.Row)
		if problem := p.problem(); problem != nil {
			return answer{}, problem
		}
		return s.answer(items(h)), nil
	}
}

func (h *handler) allHops() []telemetry.NodeHop         { return h.cfg.Collector.Hops() }
func (h *handler) allClocks() []telemetry.Clock         { return h.cfg.Collector.Clocks() }
func (h *handler) allQueues() []telemetry.QueueDepth    { return h.cfg.Collector.Queues() }
func (h *handler) allDrops() []telemetry.Drop           { return h.cfg.Collector.Drops(nil) }
func (h *handler) allListeners() []types.Listener       { return slices.Clone(h.cfg.Listeners()) }
func (h *handler) allRules() []telemetry.RuleStatus     { return h.cfg.Alerts.Rules() }
func (h *handler) allOutputs() []telemetry.OutputStatus { return h.cfg.Alerts.Outputs() }
func (h *handler) allAlerts() []telemetry.Alert         { return h.cfg.Alerts.Alerts() }

func (h *handler) allHosts() []telemetry.Host {
	hosts, _ := h.cfg.Collector.Hosts()
	return hosts
}

func (h *handler) allExporters() []telemetry.Exporter {
	return append(h.cfg.Collector.ExporterList(), h.cfg.Refused()...)
}

func (h *handler) nodes(ctx context.Context, p *params) (answer, *types.Problem) {
	if asksPast(p) {
		return h.nodesPast(ctx, p)
	}
	return live(filter.NodeTable, func(h *handler) []telemetry.Node { return h.cfg.Collector.Nodes() })(h, ctx, p)
}

func (h *handler) links(ctx context.Context, p *params) (answer, *types.Problem) {
	if asksPast(p) {
		return h.linksAt(ctx, p)
	}
	return live(filter.LinkTable, func(h *handler) []telemetry.Link { return h.cfg.Collector.Links() })(h, ctx, p)
}

func (h *handler) paths(_ context.Context, p *params) (answer, *types.Problem) {
	s := selectFrom(h, p, filter.PathTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	paths, total := h.cfg.Collector.Paths(s.first())
	return s.answerOf(paths, total), nil
}

func (h *handler) events(_ context.Context, p *params) (answer, *types.Problem) {
	if p.isGrouped() {
		selected := filtered(h, p.filter(), filter.EventTable.Row)
		return grouped(h, p, func() []telemetry.Event {
			events, _ := h.cfg.Events.Events(selected, math.MaxInt)
			return events
		}, newEventGroup, addEvent)
	}
	s := selectFrom(h, p, filter.EventTable.Row)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	events, total := h.cfg.Events.Events(nil, s.first())
	return s.answerOf(asListed(events), total), nil
}
