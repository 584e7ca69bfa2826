package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// A panel is a graph of one query over time.
type panel struct {
	title, unit   string
	query, legend string
}

// A variable is chosen at the top of a dashboard: a value of a label, or several.
type variable struct{ name, query string }

// A board is a dashboard.
type board struct {
	name, title, about string
	variables          []variable
	panels             []panel
}

const (
	anyNode = `{node=~"$node"}`
	link    = `{from=~"$from", from_port=~"$port", to=~"$to"}`
	ends    = "{{from}} {{from_port}} to {{to}}"
)

// boards are all dashboards, each of which is a file of that name.
var boards = []board{
	{
		name: "network", title: "Waybill: network", about: "What the network did, by node and link",
		panels: []panel{
			{
				"Packets by node", "pps",
				`sum by (node) (rate(waybill_network_node_packets_total[$__rate_interval]))`,
				"{{node}}",
			},
			{"Node latency, p99", "s", quantile("0.99", "node", "node_latency_seconds", ""), "{{node}}"},
			{
				"Drops by node and reason", "pps",
				`sum by (node, reason) (rate(waybill_network_drops_total[$__rate_interval]))`,
				"{{node}} {{reason}}",
			},
			{
				"Queue depth, p99", "none",
				quantile("0.99", "node, port, queue", "queue_depth", ""),
				"{{node}} {{port}} queue {{queue}}",
			},
			{"Packets by link", "pps", `rate(waybill_network_link_packets_total[$__rate_interval])`, ends},
			{"Link delay, p99", "s", quantile("0.99", "from, from_port, to", "link_delay_seconds", ""), ends},
			{"Active incidents by cause", "none", `sum by (kind) (waybill_network_incidents)`, "{{kind}}"},
			{"Active attacks", "none", `sum by (kind) (waybill_network_attacks)`, "{{kind}}"},
		},
	},
	{
		name: "link", title: "Waybill: link", about: "One link, from the egress port of a node to the next node",
		variables: []variable{
			{"from", `label_values(waybill_network_link_packets_total, from)`},
			{"port", `label_values(waybill_network_link_packets_total{from=~"$from"}, from_port)`},
			{"to", `label_values(waybill_network_link_packets_total{from=~"$from", from_port=~"$port"}, to)`},
		},
		panels: []panel{
			{"Packets", "pps", `rate(waybill_network_link_packets_total` + link + `[$__rate_interval])`, ends},
			{"Delay, p50", "s", quantile("0.5", "from, from_port, to", "link_delay_seconds", link), ends},
			{"Delay, p99", "s", quantile("0.99", "from, from_port, to", "link_delay_seconds", link), ends},
			{"Loss, estimated", "percentunit", `waybill_network_link_loss_ratio` + link, ends},
			{"Utilization", "percentunit", `waybill_network_link_utilization_ratio` + link, ends},
			{
				"Queue depth at its egress port, p99", "none",
				quantile("0.99", "node, port, queue", "queue_depth", `{node=~"$from", port=~"$port"}`),
				"{{node}} {{port}} queue {{queue}}",
			},
			{
				"Drops at its egress port", "pps",
				`sum by (node, port, reason) ` +
					`(rate(waybill_network_drops_total{node=~"$from", port=~"$port"}[$__rate_interval]))`,
				"{{node}} {{port}} {{reason}}",
			},
		},
	},
	{
		name: "path", title: "Waybill: path of a flow",
		about:     "The nodes that a flow takes; waybill flows and the console tell which they are",
		variables: []variable{{"node", `label_values(waybill_network_node_packets_total, node)`}},
		panels: []panel{
			{
				"Packets", "pps",
				`sum by (node) (rate(waybill_network_node_packets_total` + anyNode + `[$__rate_interval]))`,
				"{{node}}",
			},
			{"Latency in each node, p50", "s", quantile("0.5", "node", "node_latency_seconds", anyNode), "{{node}}"},
			{"Latency in each node, p99", "s", quantile("0.99", "node", "node_latency_seconds", anyNode), "{{node}}"},
			{
				"Latency by egress port, p99", "s",
				quantile("0.99", "node, port", "port_latency_seconds", anyNode),
				"{{node}} {{port}}",
			},
			{
				"Delay on links between them, p99", "s",
				quantile("0.99", "from, from_port, to", "link_delay_seconds", `{from=~"$node", to=~"$node"}`), ends,
			},
			{
				"Queue depth, p99", "none",
				quantile("0.99", "node, port, queue", "queue_depth", anyNode),
				"{{node}} {{port}} queue {{queue}}",
			},
			{
				"Drops", "pps",
				`sum by (node, port, reason) (rate(waybill_network_drops_total` + anyNode + `[$__rate_interval]))`,
				"{{node}} {{port}} {{reason}}",
			},
		},
	},
	{
		name: "attacks", title: "Waybill: attacks",
		about: "Attacks that go on, and how far the search for them has room",
		panels: []panel{
			{
				"Attacks by kind and state", "none",
				`sum by (kind, state) (waybill_network_attacks)`,
				"{{kind}} {{state}}",
			},
			{"Attacks by state", "none", `sum by (state) (waybill_attacks)`, "{{state}}"},
			{"Targets known", "none", `waybill_attack_targets`, "targets"},
			{"Targets watched", "none", `waybill_attack_targets_watched`, "watched"},
			{"Packets without room", "pps", `rate(waybill_attack_unplaced_total[$__rate_interval])`, "packets"},
			{"Attacks watched late", "none", `increase(waybill_attacks_unwatched_total[$__rate_interval])`, "attacks"},
		},
	},
	{
		name: "collector", title: "Waybill: collector", about: "Whether what the others show is all there is",
		panels: []panel{
			{"Reports", "cps", `rate(waybill_reports_total[$__rate_interval])`, "reports"},
			{
				"Datagrams by outcome", "cps",
				`sum by (outcome) (rate(waybill_datagrams_total[$__rate_interval]))`,
				"{{outcome}}",
			},
			{"Dropped by the kernel", "cps", `sum(rate(waybill_kernel_drops_total[$__rate_interval]))`, "datagrams"},
			{
				"Lost before they came", "cps",
				`sum by (source) (rate(waybill_exporter_lost_total[$__rate_interval]))`,
				"{{source}}",
			},
			{"Completeness", "percentunit", `waybill_completeness_ratio`, "of reports"},
			{"Flows in the table", "percentunit", `waybill_flows / waybill_flows_limit`, "of its room"},
			{"Evicted", "cps", `rate(waybill_flows_evicted_total[$__rate_interval])`, "flows"},
			{
				"Packets in no series", "pps",
				`sum by (of) (rate(waybill_network_unlisted_packets_total[$__rate_interval]))`,
				"{{of}}",
			},
			{"Memory", "bytes", `process_resident_memory_bytes{job=~"waybill.*"}`, "resident"},
			{"Processors", "none", `rate(process_cpu_seconds_total{job=~"waybill.*"}[$__rate_interval])`, "busy"},
		},
	},
}

// quantile is a query of a quantile of a native histogram.
func quantile(q, by, metric, of string) string {
	return "histogram_quantile(" + q + ", sum by (" + by + ") (rate(waybill_network_" + metric + of +
		"[$__rate_interval])))"
}

// build returns the dashboard as Grafana has it.
func (b *board) build() (dashboard.Dashboard, error) {
	source := common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
	to := dashboard.NewDashboardBuilder(b.title).Uid("waybill-"+b.name).Description(b.about).Tags([]string{"waybill"}).
		Time("now-15m", "now").Refresh("10s").Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus"))
	for _, v := range b.variables {
		to.WithVariable(dashboard.NewQueryVariableBuilder(v.name).Datasource(source).
			Query(dashboard.StringOrMap{String: cog.ToPtr(v.query)}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
			Multi(true).IncludeAll(true).AllValue(".*"))
	}
	for _, p := range b.panels {
		to.WithPanel(timeseries.NewPanelBuilder().Title(p.title).Unit(p.unit).Datasource(source).Span(12).Height(8).
			FillOpacity(10).Min(0).
			WithTarget(prometheus.NewDataqueryBuilder().Expr(p.query).LegendFormat(p.legend).Range().RefId("A")))
	}
	return to.Build()
}
