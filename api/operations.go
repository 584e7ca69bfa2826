package api

import (
	"context"
	"net/http"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// An operation is what can be done with one path and method. All that is known of it stands in its row of operations:
// routes, methods, roles, the OpenAPI description and the tables of docs/reference/api.md come from there.
//
// To add an operation: 1. its answer type in package types, 2. its function in a file here, 3. its row, 4. the
// documents of its parameters in parameters, if they are new, 5. go test ./api -run Generated -update.
type operation struct {
	method, path string
	id           string // its name in the description
	doc          string
	more         string // section of docs/reference/api.md that says more; "": none
	list         string // whose fields its filter has; "": it has none
	params       string // names with spaces between them; those in past go with since and until only
	past         string
	role         auth.Role
	needs        func(*Config) *types.Problem // what the server must have; nil: nothing
	serve        server
	find         finder // of a list
	from         origin // of the answer, where the tables are in another server

	answer  any    // a value of the type of the answer; nil: none
	history any    // and of that about a time range, if it is another
	groups  any    // and of that about groups
	body    any    // a value of the type of the body; nil: none
	bytes   bool   // the body is bytes of any kind
	media   string // of the answer; "": JSON
	status  int    // 0: 200
}

// An origin is where an answer is from.
type origin uint8

const (
	fromTables origin = iota // what there is now, and what changes something
	fromStore                // the store alone
	fromPast                 // the store alone, if a time is asked about; else the tables
	fromEither               // the tables; the store alone, if a time is asked about and they are not there
	fromServer               // any server
)

// A server answers a request.
type server func(h *handler, w http.ResponseWriter, r *http.Request, p *params)

// A finder finds the items of a list that a query asks for. It must not look for anything before it knows that the
// query has no problem, and ends when ctx is done.
type finder func(h *handler, ctx context.Context, p *params) (answer, *types.Problem)

// What many operations take.
const (
	paging  = "limit format filter order cursor"
	ranging = "since until"
	adding  = " since until group_by interval"
)

const api = "/api/v1/"

// operations are all that can be done, in the order of docs/reference/api.md.
func operations() []operation {
	return []operation{
		listOf("nodes", (*handler).nodes, types.NodeList{}, "devices that appeared in reports").with("at " + ranging).
			answered(fromPast),
		listOf("ports", (*handler).ports, types.PortList{},
			"ports of nodes, and what is behind them").with("at " + ranging).section("port").answered(fromPast),
		listOf("links", (*handler).links, types.LinkList{},
			"links between nodes, with their delays").with("at").records(types.LinkHistory{}),
		listOf("hops", live(filter.HopTable, (*handler).allHops), types.HopList{},
			"what packets met at each node between two of its ports").
			records(types.HopHistory{}),
		listOf("clocks", live(filter.ClockTable, (*handler).allClocks), types.ClockList{},
			"by how much the clocks of nodes differ"),
		listOf("cables", live(filter.CableTable, (*handler).allCables), types.CableList{},
			"what LLDP tells of cables, compared with the links that packets show").section("cable"),
		listOf("hosts", live(filter.HostTable, (*handler).allHosts), types.HostList{},
			"addresses, and where they are attached"),
		get("inventory", "inventory", (*handler).inventory, types.Inventory{},
			"nodes and ports that reports name, with names, speeds, roles and sites of the file that `inventory` of the "+
				"configuration names and of the devices and servers that this names, where each value is from, and what "+
				"is behind each port").
			with("").of("topology"),
		get("topology", "topology", (*handler).topology, types.Topology{},
			"nodes, ports, links and hosts in one answer").
			with("at " + ranging + " filter").of("topology").section("a-moment-of-the-past").answered(fromPast),
		listOf("flows", (*handler).flows, types.FlowList{}, "flows with their paths").records(types.FlowHistory{}),
		eventStream("flows/stream", "streamFlows", (*handler).streamFlows,
			"flows about which reports come, once a second: server-sent events").
			with("limit").of("flows"),
		get("flows/{id}", "flow", (*handler).flow, types.FlowAnswer{},
			"one flow; 404 if it is not in the table").section("flow"),
		listOf("flows/{id}/paths", (*handler).flowPaths, types.FlowPathList{}, "the paths that a flow took, and when").
			only("since until interval limit format").named("flowPaths").section("paths-of-a-flow"),
		listOf("paths", (*handler).paths, types.PathList{},
			"paths that packets took, the most used first").records(types.PathHistory{}),
		listOf("drops", live(filter.DropTable, (*handler).allDrops), types.DropList{},
			"drops by place and reason, the most frequent first").
			records(types.DropHistory{}),
		listOf("events", (*handler).events, types.EventList{}, "what happened, the latest first").with("group_by").
			records(types.EventHistory{}).grouped(types.EventGroups{}),
		change("POST", "events/{id}/acknowledge", "acknowledge", (*handler).acknowledge, nil, telemetry.Event{},
			"acknowledge an event").
			section("acknowledge"),
		change("DELETE", "events/{id}/acknowledge", "takeBack", (*handler).takeBack, nil, telemetry.Event{},
			"unacknowledge an event").
			section("acknowledge"),
		get(
			"events/{id}/decode",
			"decodeEvent",
			(*handler).decodeEvent,
			types.DecodeCommands{},
			"the commands that decode the report that shows an event, with the dialects and code points of this server",
		),
		eventStream("events/stream", "streamEvents", (*handler).streamEvents,
			"events as they begin, change and end: server-sent events").
			of("events"),
		listOf("incidents", (*handler).incidents, types.IncidentList{},
			"what broke, with what followed from it, the latest first").with(ranging).answered(fromEither),
		get("incidents/{id}", "incident", (*handler).incident, types.IncidentAnswer{},
			"one incident, by the id of any of its events"),
		eventStream("incidents/stream", "streamIncidents", (*handler).streamIncidents,
			"incidents as they begin, grow and end: server-sent events").
			of("incidents"),
		change("POST", "incidents/{id}/acknowledge", "acknowledgeIncident", (*handler).acknowledgeIncident,
			types.NewNote{}, types.IncidentAnswer{}, "acknowledge an incident, with a note or none").
			section("care-of-incidents"),
		change("DELETE", "incidents/{id}/acknowledge", "takeBackIncident", (*handler).takeBackIncident, nil,
			types.IncidentAnswer{}, "unacknowledge an incident").
			section("care-of-incidents"),
		change("POST", "incidents/{id}/notes", "noteIncident", (*handler).noteIncident, types.NewNote{},
			types.IncidentAnswer{}, "add a note to an incident").
			section("care-of-incidents"),
		change("POST", "incidents/{id}/silence", "silenceIncident", (*handler).silenceIncident,
			types.SilenceIncident{}, types.Silence{}, "the silence that was made").
			needing(needAlerts).answering(http.StatusCreated).section("care-of-incidents"),
		listOf("attacks", (*handler).attacks, types.AttackList{},
			"traffic to a target that is far more than usual there, who sends it, and what becomes of it, the latest first").
			with(ranging).section("attack"),
		get("attacks/{id}", "attack", (*handler).attack, types.AttackAnswer{},
			"one attack, by its id or that of its event").section("attack"),
		change("POST", "attacks/{id}/mitigate", "mitigate", (*handler).mitigate, types.NewMitigation{},
			telemetry.Mitigation{},
			"drop what an attack sends, or say with which rules that would be done").needing(needMitigation).section("mitigate"),
		change("POST", "attacks/{id}/release", "release", (*handler).release, nil, telemetry.Mitigation{},
			"withdraw all rules against an attack").needing(needMitigation).section("mitigate"),
		eventStream("attacks/stream", "streamAttacks", (*handler).streamAttacks,
			"attacks as they begin, go on and end: server-sent events").
			of("attacks"),
		listOf("bursts", (*handler).bursts, types.BurstList{},
			"times during which a queue was long, the latest first").with("group_by").
			records(nil).grouped(types.BurstGroups{}),
		get("bursts/{id}", "burst", (*handler).burst, types.BurstAnswer{}, "one burst, packet by packet"),
		listOf("queues", live(filter.QueueTable, (*handler).allQueues), types.QueueList{},
			"how long packets found each queue").
			records(types.QueueHistory{}),
		listOf("alerts", live(alertTable, (*handler).allAlerts), types.AlertList{},
			"alerts, the latest first").needing(needAlerts),
		change("POST", "alerts/test", "testAlert", (*handler).testAlert, types.AlertTest{}, types.AlertTestResults{},
			"what became of a test of a rule or an output").needing(needAlerts).section("changes"),
		listOf("silences", live(silenceTable, (*handler).allSilences), types.SilenceList{},
			"silences, by end time").needing(needAlerts),
		change("POST", "silences", "addSilence", (*handler).addSilence, types.NewSilence{}, types.Silence{},
			"the silence that was made").
			needing(needAlerts).answering(http.StatusCreated).section("changes"),
		change("DELETE", "silences/{id}", "removeSilence", (*handler).removeSilence, nil, nil, "the silence is over").
			needing(needAlerts).answering(http.StatusNoContent).section("changes"),
		listOf("rules", live(ruleTable, (*handler).allRules), types.RuleList{},
			"alert rules, and how many alerts they have").
			needing(needAlerts).section("rule"),
		listOf("outputs", live(outputTable, (*handler).allOutputs), types.OutputList{},
			"where alerts go, and what became of them").
			needing(needAlerts).section("output"),
		get("exports", "exports", (*handler).exports, types.ExportList{},
			"outputs of records to other programs, and what became of each record").section("export"),
		listOf("exporters", live(filter.ExporterTable, (*handler).allExporters), types.ExporterList{},
			"who sends reports, and what was lost or could not be read").records(types.ExporterHistory{}),
		change("POST", "exporters/forget", "forgetExporters", (*handler).forgetExporters, types.ForgetExporters{},
			types.ForgottenExporters{}, "the exporters that were forgotten").section("forget-exporters"),
		listOf("listeners", live(listenerTable, (*handler).allListeners), types.ListenerList{},
			"the UDP sockets and what became of their datagrams"),
		get("cluster", "cluster", (*handler).cluster, types.Cluster{},
			"who receives reports, and how they come to the server that analyzes them").with("").section("cluster"),
		listOf("loss", (*handler).loss, types.LossList{}, "what became of every datagram, by exporter").
			with(ranging + " intervals group_by").grouped(types.LossGroups{}),
		listOf("reports", (*handler).reports, types.ReportList{}, "datagrams as they came, the newest first").
			only("since until filter cursor limit format").served((*handler).reportsOrCapture).needing(
			needReports).section("raw-report"),
		get("reports/{id}", "report", (*handler).report, types.ReportAnswer{},
			"one datagram, byte by byte").needing(needReports).section("raw-report"),
		file("reports.pcap", "capture", (*handler).capture, types.MediaCapture,
			"datagrams as they came, as a capture file, the oldest first").
			with("since until filter limit").of("reports").needing(needReports).section("as-a-capture-file"),
		{
			method: "POST", path: api + "decode", id: "decode", doc: "what the bytes of the body are, layer by layer",
			more: "decode",
			role: auth.Read, serve: (*handler).decode, params: "start dialect", bytes: true,
			answer: types.DecodeAnswer{},
		},
		get("heatmap", "heatmap", (*handler).heatmap, types.Heatmap{}, "how many packets took how long, over time").
			with("of filter interval since until").needing(needHistory).section("heat-map").answered(fromStore),
		get("query", "query", (*handler).query, types.Table{}, "the rows of a SELECT statement over the store").
			with("sql limit format").requiring(auth.Operate).needing(needSQL).section("query").answered(fromStore),
		get("filter/validate", "validateFilter", (*handler).validate, types.Validation{}, "whether a filter is right").
			with("schema text").section("filters").answered(fromServer),
		get("filter/complete", "completeFilter", (*handler).complete, types.Completions{},
			"what may stand at a place of a filter").
			with("schema text cursor").section("filters").answered(fromServer),
		listOf("views", live(viewTable, (*handler).allViews), types.ViewList{},
			"pages of the console that were given a name, by name").needing(needViews).section("views"),
		change("POST", "views", "addView", (*handler).addView, types.NewView{}, types.View{}, "the view that was saved").
			needing(needViews).answering(http.StatusCreated).section("views"),
		change("DELETE", "views/{id}", "removeView", (*handler).removeView, nil, nil, "the view is gone").
			needing(needViews).answering(http.StatusNoContent).section("views"),
		get("demo", "demo", (*handler).demo, types.DemoState{},
			"whether the emulated network runs").needing(needDemo).section("demo"),
		change("POST", "demo", "startDemo", (*handler).startDemo, nil, types.DemoState{}, "start the emulated network").
			needing(needDemo).section("demo"),
		change("DELETE", "demo", "stopDemo", (*handler).stopDemo, nil, types.DemoState{}, "stop the emulated network").
			needing(needDemo).section("demo"),
		get("docs", "docs", (*handler).docsIndex, types.DocIndex{},
			"the pages of the documentation of this version").section("documentation").answered(fromServer),
		get("docs/page", "docsPage", (*handler).docsPage, types.DocPage{},
			"a page of the documentation").with("page").section("documentation").answered(fromServer),
		get("docs/search", "docsSearch", (*handler).docsSearch, types.DocHits{},
			"sections of the documentation that have all words").
			with("words limit").section("documentation").answered(fromServer),
		change("POST", "reload", "reload", (*handler).reload, nil, types.Reload{},
			"let the server read its configuration again").needing(needReload).section("reload").answered(fromServer),
		get("session", "session", (*handler).session, auth.Identity{},
			"who asks, as far as the server knows").section("session").answered(fromServer),
		get("openapi.json", "openapi", (*handler).serveOpenAPI, map[string]any{},
			"this API as an OpenAPI 3.1 description").answered(fromServer),
		outside("/healthz", (*handler).health, auth.Nobody, "200 as long as the process answers").answered(fromServer),
		outside("/readyz", (*handler).ready, auth.Nobody, "200 when reports are received, else 503").
			answered(fromServer),
		outside("/metrics", (*handler).metrics, auth.Read, "metrics for Prometheus").answered(fromServer),
		outside("/metrics/network", (*handler).networkMetrics, auth.Read, "metrics of the network for Prometheus"),
		outside(statePath, (*handler).state, auth.Read, "what a server with role query has to know"),
	}
}

// listOf is a list: its name is that of its path and of the fields of its filter.
func listOf(name string, find finder, answer any, doc string) operation {
	return operation{
		method: "GET", path: api + name, id: name, list: name, doc: doc, role: auth.Read, serve: (*handler).serveList,
		find:   find,
		params: paging, answer: answer,
	}
}

func get(path, id string, serve server, answer any, doc string) operation {
	return operation{method: "GET", path: api + path, id: id, doc: doc, role: auth.Read, serve: serve, answer: answer}
}

func file(path, id string, serve server, media, doc string) operation {
	return operation{method: "GET", path: api + path, id: id, doc: doc, role: auth.Read, serve: serve, media: media}
}

func eventStream(path, id string, serve server, doc string) operation {
	return file(path, id, serve, types.MediaStream, doc).with("filter").section("streams")
}

func change(method, path, id string, serve server, body, answer any, doc string) operation {
	return operation{
		method: method, path: api + path, id: id, doc: doc, role: auth.Operate, serve: serve, body: body,
		answer: answer,
	}
}

// outside is an operation that is no part of the API, and not described.
func outside(path string, serve server, role auth.Role, doc string) operation {
	return operation{method: "GET", path: path, doc: doc, role: role, serve: serve}
}

// The methods below say more of an operation.

func (o operation) with(params string) operation { return o.only(o.params + " " + params) }

func (o operation) only(params string) operation {
	o.params = params
	return o
}

func (o operation) of(list string) operation {
	o.list = list
	return o
}

func (o operation) named(id string) operation {
	o.id, o.list = id, ""
	return o
}

func (o operation) section(anchor string) operation {
	o.more = anchor
	return o
}

// records says that a store answers the list about a time range.
func (o operation) records(history any) operation {
	o.past, o.history, o.from = paging+adding, history, fromPast
	return o
}

// answered says where the answer is from, if that is not always what there is now.
func (o operation) answered(from origin) operation {
	o.from = from
	return o
}

func (o operation) served(serve server) operation {
	o.serve = serve
	return o
}

func (o operation) grouped(groups any) operation {
	o.groups = groups
	return o
}

func (o operation) needing(needs func(*Config) *types.Problem) operation {
	o.needs = needs
	return o
}

func (o operation) requiring(role auth.Role) operation {
	o.role = role
	return o
}

func (o operation) answering(status int) operation {
	o.status = status
	return o
}

// What a server may not have.

func needAlerts(c *Config) *types.Problem {
	if c.Alerts != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound, "no alert rules configured (start with `--alerts FILE`)")
}

func needReports(c *Config) *types.Problem {
	if c.Reports != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound, "no raw reports kept (start with `--data DIR --raw-reports 1GiB`)")
}

func needSQL(c *Config) *types.Problem {
	if c.SQL != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound, "no store configured (start with `--data DIR`)")
}

func needHistory(c *Config) *types.Problem { return needStore(c.History != nil, "since") }

func needStore(has bool, parameter string) *types.Problem {
	if has {
		return nil
	}
	problem := types.NewProblem(http.StatusNotFound,
		"no store configured (start with `--data DIR`); only live data is available")
	problem.Parameter = parameter
	return problem
}

func needViews(c *Config) *types.Problem {
	if c.Views != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound, "this server keeps no views")
}

func needDemo(c *Config) *types.Problem {
	if c.Demo != nil {
		return nil
	}
	return types.NewProblem(
		http.StatusNotFound,
		"no demo: it runs on a server with a listener that only its own machine can reach, and without a list of exporters",
	)
}
