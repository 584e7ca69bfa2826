package api

import (
	"compress/gzip"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

// How many answers are gathered at the same time. Of what the tables have the shards are locked for a part of that. Each kind has places
// of its own, so that slow questions about the past and statements keep nobody from seeing what is now.
const (
	maxLists      = 4 // of the tables
	maxGathering  = 2 // streams of flows that look at the tables
	maxPasts      = 4 // of the store
	maxStatements = 2 // statements in SQL
)

// places are for those who gather an answer.
type places chan struct{}

// during calls f while it has a place; false: ctx is done before there is one.
func (p places) during(ctx context.Context, f func()) bool {
	select {
	case p <- struct{}{}:
		defer func() { <-p }()
		f()
		return true
	case <-ctx.Done():
		return false
	}
}

// handler is the http.Handler of New.
type handler struct {
	cfg     Config
	routes  map[string]http.HandlerFunc
	console http.Handler
	schemas map[string]*filter.Schema
	// histories are the lists that a store answers when they are asked about a time range.
	histories   map[string]history
	lists       places
	gathering   places
	pasts       places
	statements  places
	streams     chan struct{} // holds one value for each stream
	flowStreams chan struct{} // and for each of flows
	captures    chan struct{} // holds one value for each download of raw reports
	begun       int64         // when this process began, which tells its events from those of another
	gzips       sync.Pool     // of *gzip.Writer
	zstds       sync.Pool     // of *zstd.Encoder
}

// New returns the handler that the package comment describes.
func New(cfg Config) http.Handler {
	h := &handler{cfg: cfg.withDefaults(), lists: make(places, maxLists), gathering: make(places, maxGathering), pasts: make(places, maxPasts), statements: make(places, maxStatements), streams: make(chan struct{}, maxStreams), flowStreams: make(chan struct{}, maxFlowStreams), captures: make(chan struct{}, maxCaptures), begun: time.Now().UnixNano()}
	h.gzips.New = func() any { return gzip.NewWriter(nil) }
	h.zstds.New = func() any { return newZstd() }
	h.console = newConsole(h.cfg.Console)
	h.schemas = schemas(h.cfg.Collector.Names)
	h.histories = histories()
	for name, y := range h.histories {
		y.schema = y.schema.WithNodes(nodeIDs(h.cfg.Collector.Names)).WithNames(h.cfg.Collector.Names)
		h.histories[name] = y
		h.schemas[name+".records"] = y.schema
	}
	checks := newChecks(h.cfg)
	h.routes = map[string]http.HandlerFunc{
		"/healthz": h.health,
		"/readyz":  h.ready,
		"/metrics": newMetrics(h.cfg, checks).ServeHTTP,

		"/api/v1/session":  h.session,
		"/api/v1/topology": h.topology,

		"/api/v1/filter/validate": h.validate,
		"/api/v1/filter/complete": h.complete,

		"/api/v1/query": h.query,

		"/api/v1/heatmap": h.heatmap,

		demoPath: h.demo,

		"/api/v1/docs":        h.docsIndex,
		"/api/v1/docs/page":   h.docsPage,
		"/api/v1/docs/search": h.docsSearch,

		"/api/v1/openapi.json": h.serveOpenAPI,

		"/api/v1/events/stream": h.streamEvents,
		"/api/v1/flows/stream":  h.streamFlows,
	}
	for name, find := range h.resources() {
		h.routes["/api/v1/"+name] = h.list(h.timed(name, find))
	}
	for name, find := range h.finders() {
		h.routes["/api/v1/"+name] = h.list(find)
	}
	h.routes["/api/v1/nodes"] = pastOr(h.routes["/api/v1/nodes"], h.list(h.nodesPast), "at", "since", "until")
	h.routes["/api/v1/links"] = pastOr(h.routes["/api/v1/links"], h.list(h.linksAt), "at")
	h.routes["/api/v1/bursts"] = pastOr(h.routes["/api/v1/bursts"], h.list(h.burstsPast), "since", "until")
	h.routes[reportsPath] = h.reportsOrCapture(h.routes[reportsPath])
	h.routes[capturePath] = h.capture
	return checks.before(h)
}

// finders returns the lists by name that are looked for on disk.
func (h *handler) finders() map[string]finder {
	return map[string]finder{
		"ports":   h.ports,
		"reports": h.reports,
	}
}

// listNames names all lists.
func (h *handler) listNames() string {
	all := map[string]bool{}
	for name := range h.resources() {
		all[name] = true
	}
	for name := range h.finders() {
		all[name] = true
	}
	return names(all)
}

// resources returns the lists by name.
func (h *handler) resources() map[string]resource {
	return map[string]resource{
		"nodes":     h.nodes,
		"links":     h.links,
		"hops":      h.hops,
		"clocks":    h.clocks,
		"hosts":     h.hosts,
		"flows":     h.flows,
		"paths":     h.paths,
		"drops":     h.drops,
		"events":    h.events,
		"bursts":    h.bursts,
		"queues":    h.queues,
		"exporters": h.exporters,
		"listeners": h.listeners,
		"loss":      h.loss,
		"alerts":    h.alerts,
		"silences":  h.silences,
		"rules":     h.rules,
		"outputs":   h.outputs,
	}
}

// ServeHTTP finds the route of r. It is not an http.ServeMux because that redirects, to a path without the prefix that
// http.StripPrefix took away.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.change(w, r) {
		return
	}
	serve, known := h.routes[r.URL.Path]
	if strings.HasPrefix(r.URL.Path, burstPath) {
		serve, known = h.burst, true
	}
	if strings.HasPrefix(r.URL.Path, reportsPath+"/") {
		serve, known = h.report, true
	}
	if !known && strings.HasPrefix(r.URL.Path, flowsPath) {
		serve, known = h.flow, true
	}
	if strings.HasPrefix(r.URL.Path, docsPath) {
		serve, known = h.serveDocs, true
	}
	switch {
	case known:
	case r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/"):
		types.NewProblem(http.StatusNotFound, "there is no %s; lists are /api/v1/ and one of %s", r.URL.Path, h.listNames()).Write(w)
		return
	default:
		serve = h.serveConsole
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		types.NewProblem(http.StatusMethodNotAllowed, "%s is not possible, only GET and HEAD", r.Method).Write(w)
		return
	}
	serve(w, r)
}
