package api

import (
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// operations are all that can be asked for below /api/v1/, in the order of docs/reference/api.md.
var operations = []operation{
	{method: "GET", path: "/api/v1/nodes", id: "nodes", summary: "devices that appeared in reports", params: "node limit format filter order cursor at since until", answer: types.NodeList{}},
	{method: "GET", path: "/api/v1/ports", id: "ports", summary: "ports of nodes, and what is behind them", params: "node limit format at since until filter order cursor", answer: types.PortList{}},
	{method: "GET", path: "/api/v1/links", id: "links", summary: "links between nodes, with their delays", params: "node limit format at since until filter order cursor group_by interval", answer: types.LinkList{}, past: "node limit format at since until filter cursor group_by interval order", history: types.LinkHistory{}},
	{method: "GET", path: "/api/v1/hops", id: "hops", summary: "what packets met at each node between two of its ports", params: "node limit format since until filter order cursor group_by interval", answer: types.HopList{}, past: "node limit format since until filter cursor group_by interval order", history: types.HopHistory{}},
	{method: "GET", path: "/api/v1/clocks", id: "clocks", summary: "by how much the clocks of nodes differ", params: "node limit format filter order cursor", answer: types.ClockList{}},
	{method: "GET", path: "/api/v1/hosts", id: "hosts", summary: "addresses, and where they are attached", params: "node address limit format filter order cursor", answer: types.HostList{}},
	{method: "GET", path: "/api/v1/topology", id: "topology", summary: "nodes, ports, links and hosts in one answer", params: "at since until filter", answer: types.Topology{}},
	{method: "GET", path: "/api/v1/flows", id: "flows", summary: "flows with their paths", params: "src dst port protocol node order outer_src outer_dst outer_port limit format since until filter cursor group_by interval", answer: types.FlowList{}, past: "node src dst port protocol limit format since until filter cursor group_by interval order", history: types.FlowHistory{}},
	{method: "GET", path: "/api/v1/flows/stream", id: "streamFlows", summary: "flows about which reports come, once a second: server-sent events", params: "src dst port protocol node outer_src outer_dst outer_port limit filter", media: types.MediaStream},
	{method: "GET", path: "/api/v1/flows/{id}", id: "flow", summary: "one flow", answer: types.FlowAnswer{}},
	{method: "GET", path: "/api/v1/flows/{id}/paths", id: "flowPaths", summary: "the paths that a flow took, and when", params: "since until interval limit format", answer: types.FlowPathList{}},
	{method: "GET", path: "/api/v1/paths", id: "paths", summary: "paths that packets took, the most used first", params: "node path limit format since until filter order cursor group_by interval", answer: types.PathList{}, past: "node limit format since until filter cursor group_by interval order", history: types.PathHistory{}},
	{method: "GET", path: "/api/v1/drops", id: "drops", summary: "drops by place and reason, the most frequent first", params: "node reason limit format since until filter order cursor group_by interval", answer: types.DropList{}, past: "node reason limit format since until filter cursor group_by interval order", history: types.DropHistory{}},
	{method: "GET", path: "/api/v1/events", id: "events", summary: "what happened, the latest first", params: "id kind severity node open acknowledged filter limit format since until order cursor group_by interval", answer: types.EventList{}, past: "kind severity node open limit format since until filter cursor group_by interval order", history: types.EventHistory{}, groups: types.EventGroups{}},
	{method: "POST", path: "/api/v1/events/{id}/acknowledge", id: "acknowledge", summary: "the event, of which somebody takes care", answer: telemetry.Event{}},
	{method: "DELETE", path: "/api/v1/events/{id}/acknowledge", id: "takeBack", summary: "the event, of which nobody takes care any more", answer: telemetry.Event{}},
	{method: "GET", path: "/api/v1/events/stream", id: "streamEvents", summary: "events as they begin, change and end: server-sent events", params: "kind severity node filter", media: types.MediaStream},
	{method: "GET", path: "/api/v1/bursts", id: "bursts", summary: "times during which a queue was long, the latest first", params: "node incast order limit format since until filter cursor group_by interval", answer: types.BurstList{}, past: "node incast order limit format since until filter cursor group_by interval", groups: types.BurstGroups{}},
	{method: "GET", path: "/api/v1/bursts/{id}", id: "burst", summary: "one burst, packet by packet", answer: types.BurstAnswer{}},
	{method: "GET", path: "/api/v1/queues", id: "queues", summary: "how long packets found each queue", params: "node limit format since until filter order cursor group_by interval", answer: types.QueueList{}, past: "node limit format since until filter cursor group_by interval order", history: types.QueueHistory{}},
	{method: "GET", path: "/api/v1/alerts", id: "alerts", summary: "alerts, the latest first", params: "state severity node silenced filter limit format order cursor", answer: types.AlertList{}},
	{method: "POST", path: "/api/v1/alerts/test", id: "testAlert", summary: "what became of a test of a rule or an output", body: types.AlertTest{}, answer: types.AlertTestResults{}},
	{method: "GET", path: "/api/v1/silences", id: "silences", summary: "silences, the one that ends first first", params: "limit format filter order cursor", answer: types.SilenceList{}},
	{method: "POST", path: "/api/v1/silences", id: "addSilence", summary: "the silence that was made", body: types.NewSilence{}, answer: types.Silence{}, status: http.StatusCreated},
	{method: "DELETE", path: "/api/v1/silences/{id}", id: "removeSilence", summary: "the silence is over", status: http.StatusNoContent},
	{method: "GET", path: "/api/v1/rules", id: "rules", summary: "alert rules, and how many alerts they have", params: "limit format filter order cursor", answer: types.RuleList{}},
	{method: "GET", path: "/api/v1/outputs", id: "outputs", summary: "where alerts go, and what became of them", params: "limit format filter order cursor", answer: types.OutputList{}},
	{method: "GET", path: "/api/v1/exporters", id: "exporters", summary: "who sends reports, and what was lost or could not be read", params: "source node limit format since until filter order cursor group_by interval", answer: types.ExporterList{}, past: "source node limit format since until filter cursor group_by interval order", history: types.ExporterHistory{}},
	{method: "GET", path: "/api/v1/listeners", id: "listeners", summary: "the UDP sockets and what became of their datagrams", params: "limit format filter order cursor", answer: types.ListenerList{}},
	{method: "GET", path: "/api/v1/loss", id: "loss", summary: "what became of every datagram, by exporter", params: "since until node intervals limit format filter order cursor group_by", answer: types.LossList{}, groups: types.LossGroups{}},
	{method: "GET", path: reportsPath, id: "reports", summary: "datagrams as they came, the newest first", params: "since until filter exporter flow cursor limit format", answer: types.ReportList{}},
	{method: "GET", path: reportsPath + "/{id}", id: "report", summary: "one datagram, byte by byte", answer: types.ReportAnswer{}},
	{method: "GET", path: capturePath, id: "capture", summary: "datagrams as they came, as a capture file, the oldest first", params: "since until filter exporter flow limit", media: types.MediaCapture},
	{method: "POST", path: decodePath, id: "decode", summary: "what the bytes of the body are, layer by layer", params: "start dialect", bytes: true, answer: types.DecodeAnswer{}},
	{method: "GET", path: "/api/v1/heatmap", id: "heatmap", summary: "how many packets took how long, over time", params: "of node filter interval since until", answer: types.Heatmap{}},
	{method: "GET", path: "/api/v1/query", id: "query", summary: "the rows of a SELECT statement over the store", params: "sql limit format", answer: types.Table{}},
	{method: "GET", path: "/api/v1/filter/validate", id: "validateFilter", summary: "whether a filter is right", params: "schema text", answer: types.Validation{}},
	{method: "GET", path: "/api/v1/filter/complete", id: "completeFilter", summary: "what may stand at a place of a filter", params: "schema text cursor", answer: types.Completions{}},
	{method: "GET", path: demoPath, id: "demo", summary: "whether the emulated network runs", answer: types.DemoState{}},
	{method: "POST", path: demoPath, id: "startDemo", summary: "the emulated network runs", answer: types.DemoState{}},
	{method: "DELETE", path: demoPath, id: "stopDemo", summary: "the emulated network does not run", answer: types.DemoState{}},
	{method: "GET", path: "/api/v1/docs", id: "docs", summary: "the pages of the documentation of this version", answer: types.DocIndex{}},
	{method: "GET", path: "/api/v1/docs/page", id: "docsPage", summary: "a page of the documentation", params: "page", answer: types.DocPage{}},
	{method: "GET", path: "/api/v1/docs/search", id: "docsSearch", summary: "sections of the documentation that have all words", params: "words limit", answer: types.DocHits{}},
	{method: "GET", path: "/api/v1/session", id: "session", summary: "who asks, as far as the server knows", answer: auth.Identity{}},
	{method: "GET", path: "/api/v1/openapi.json", id: "openapi", summary: "this description", answer: map[string]any{}},
}

// A parameter of a query, as the OpenAPI description says it.
type parameter struct {
	doc      string
	schema   huma.Schema
	required bool
}

// parameters by name, or by operation and name where they differ.
var parameters = map[string]parameter{
	"limit":  {doc: "items at most; up to 10000, of a time range in a format other than json up to 100000", schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(1), Maximum: bound(maxFileLimit), Default: types.DefaultLimit}},
	"format": {doc: "of the answer, instead of what Accept says", schema: options("json", "ndjson", "csv", "parquet", "arrow")},

	"node":       {doc: "id or name of a node", schema: textSchema},
	"path":       {doc: "id of a path, 16 hexadecimal digits", schema: huma.Schema{Type: huma.TypeString, Pattern: "^[0-9a-fA-F]{16}$"}},
	"src":        {doc: "source address or prefix", schema: textSchema},
	"dst":        {doc: "destination address or prefix", schema: textSchema},
	"outer_src":  {doc: "address or prefix of the source end of the tunnel", schema: textSchema},
	"outer_dst":  {doc: "address or prefix of the other end of the tunnel", schema: textSchema},
	"source":     {doc: "address or prefix that reports come from", schema: textSchema},
	"address":    {doc: "address or prefix of hosts", schema: textSchema},
	"port":       {doc: "port at either end of the flow", schema: portSchema},
	"outer_port": {doc: "port at either end of the tunnel", schema: portSchema},
	"protocol":   {doc: "number or name of an IP protocol", schema: textSchema},
	"reason":     {doc: "number or name of a drop reason", schema: textSchema},

	"flows.order":  {doc: "last (unless it is given), packets, drops, residence_ns.p99 or another number, of a time range a field of its records: the largest come first; :asc or :desc may follow", schema: textSchema},
	"bursts.order": {doc: "last, peak (the longest queue), duration, drops or a field: the largest come first; :asc or :desc may follow", schema: textSchema},
	"incast":       {doc: "true: bursts to which many senders came together; false: all others", schema: booleanSchema},

	"id":           {doc: "of an event", schema: textSchema},
	"kind":         {doc: "kinds of events, with commas between them", schema: textSchema},
	"severity":     {doc: "at least this bad", schema: options(telemetry.Info.String(), telemetry.Warning.String(), telemetry.Critical.String())},
	"acknowledged": {doc: "true: events of which somebody takes care; false: all others", schema: booleanSchema},
	"open":         {doc: "true: what goes on; false: what is over", schema: booleanSchema},
	"state":        {doc: "of an alert", schema: options("all", string(telemetry.AlertPending), string(telemetry.AlertFiring), string(telemetry.AlertResolved))},
	"silenced":     {doc: "true: alerts that a silence keeps from being delivered; false: all others", schema: booleanSchema},
	"filter":       {doc: "a filter: docs/reference/filter.md", schema: textSchema},
	"intervals":    {doc: "true: list the intervals too", schema: booleanSchema},
	"group_by":     {doc: "with since, what the records of the time range are grouped by: names of fields, with commas between them; empty: all in one", schema: textSchema},

	"events.group_by": {doc: "answers groups of events: node, kind or severity, or several of them with commas; empty: all in one", schema: textSchema},
	"bursts.group_by": {doc: "answers groups of bursts: node, port, queue or incast, or several of them with commas; empty: all in one", schema: textSchema},
	"loss.group_by":   {doc: "answers sums over exporters: source, node, hw_id or version, or several of them with commas; empty: all in one", schema: textSchema},

	"interval": {doc: "with since, cuts the time range in pieces of that length, such as 1m", schema: textSchema},
	"order":    {doc: "a field, of a time range one of its records: numbers and times from the largest, texts from a; :asc or :desc may follow", schema: textSchema},
	"cursor":   {doc: "next_cursor of an answer to the same question: the items that follow", schema: textSchema},
	"since":    {doc: "a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m", schema: textSchema},
	"until":    {doc: "a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m", schema: textSchema},

	"of": {doc: "whose latency: that of nodes, of links, or of all nodes of a path together", schema: options("hops", "links", "paths")},

	"page":  {doc: "path of a page of the documentation, without .md; README by default", schema: textSchema},
	"words": {doc: "words, of which a section must have all", schema: textSchema, required: true},

	"sql":    {doc: "one SELECT statement", schema: textSchema, required: true},
	"schema": {doc: "whose fields a filter has", schema: schemaNames(), required: true},
	"text":   {doc: "a filter, which may be wrong or incomplete", schema: textSchema, required: true},

	"at": {doc: "a moment, such as 2026-11-21T09:00:00Z, or how long ago, such as 10m", schema: textSchema},

	"exporter":       {doc: "address or prefix that sent it", schema: textSchema},
	"flow":           {doc: "id of a flow, 16 hexadecimal digits", schema: huma.Schema{Type: huma.TypeString, Pattern: "^[0-9a-fA-F]{16}$"}},
	"reports.format": {doc: "of the answer, instead of what Accept says", schema: options("json", "ndjson", "csv", "parquet", "arrow", "pcap")},
	"capture.limit":  {doc: "the newest of them, at most; all, if it is not given", schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(1), Maximum: bound(maxLimit)}},

	"start":   {doc: "what the bytes start with: by default a telemetry report, as the payload of a datagram does", schema: options(startNames()...)},
	"dialect": {doc: "how the program that made them departs from the specifications: docs/reference/dialects.md", schema: options(dialectNames()...)},

	"completeFilter.cursor": {doc: "byte of text up to which it is completed; by default its end", schema: huma.Schema{Type: huma.TypeInteger, Minimum: bound(0)}},
}

var (
	textSchema    = huma.Schema{Type: huma.TypeString}
	booleanSchema = huma.Schema{Type: huma.TypeBoolean}
	portSchema    = huma.Schema{Type: huma.TypeInteger, Minimum: bound(0), Maximum: bound(math.MaxUint16)}
)

func bound(n float64) *float64 { return &n }

// options is a parameter that is one of names.
func options(names ...string) huma.Schema {
	s := huma.Schema{Type: huma.TypeString}
	for _, name := range names {
		s.Enum = append(s.Enum, name)
	}
	return s
}
