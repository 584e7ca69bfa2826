package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

// How many answers are gathered at the same time. Of what the tables have the shards are locked for a part of that.
// Each kind has a semaphore of its own, so that slow questions about the past and statements keep nobody from seeing
// live data.
const (
	maxLists      = 4 // of the tables
	maxGathering  = 2 // streams of flows that look at the tables
	maxPasts      = 4 // of the store
	maxStatements = 2 // statements in SQL
)

// A semaphore bounds how many gather an answer.
type semaphore chan struct{}

// during calls f while it holds s; false: ctx was done before.
func (s semaphore) during(ctx context.Context, f func()) bool {
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
		f()
		return true
	case <-ctx.Done():
		return false
	}
}

// try takes s if it is free; release then gives it back.
func (s semaphore) try() (release func(), ok bool) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, false
	}
}

// handler is the http.Handler of New.
type handler struct {
	cfg     Config
	routes  map[string]map[string]*operation // by path and method
	scrape  http.Handler
	console http.Handler
	openAPI func() ([]byte, error)
	named   atomic.Pointer[views]

	lists       semaphore
	gathering   semaphore
	pasts       semaphore
	statements  semaphore
	streams     semaphore
	flowStreams semaphore
	captures    semaphore // downloads of raw reports
	passed      semaphore // streams of the analyzer
	begun       int64     // when this process began, which tells its events from those of another
}

// New returns the handler that the package comment describes.
func New(cfg Config) http.Handler {
	h := newHandler(cfg)
	checks := newChecks(h.cfg, h.role)
	h.scrape = newMetrics(h.cfg, checks)
	return gzhttp.GzipHandler(checks.before(h))
}

func newHandler(cfg Config) *handler {
	h := &handler{
		cfg: cfg.withDefaults(), routes: map[string]map[string]*operation{},
		begun: time.Now().UnixNano(),
		lists: make(semaphore, maxLists), gathering: make(semaphore, maxGathering), pasts: make(semaphore, maxPasts),
		statements: make(semaphore, maxStatements), streams: make(semaphore, maxStreams),
		flowStreams: make(semaphore, maxFlowStreams),
		captures:    make(semaphore, maxCaptures), passed: make(semaphore, maxPassedStreams),
	}
	h.console = newConsole(h.cfg.Console)
	all := operations()
	for i := range all {
		o := &all[i]
		if h.routes[o.path] == nil {
			h.routes[o.path] = map[string]*operation{}
		}
		h.routes[o.path][o.method] = o
	}
	h.openAPI = describer(all)
	return h
}

// views are what depends on the names of nodes.
type views struct {
	of      *analyze.Configured
	tag     string // which this is, of all that there ever were
	schemas map[string]*filter.Schema
	// histories are the lists that a store answers when they are asked about a time range.
	histories map[string]history
}

// views returns those of the names as they are now.
func (h *handler) views() *views {
	of := h.cfg.Collector.Configured()
	if v := h.named.Load(); v != nil && v.of == of {
		return v
	}
	v := &views{of: of, tag: rand.Text(), schemas: schemas(of.Names), histories: histories()}
	for name, y := range v.histories {
		y.schema = y.schema.WithNodes(nodeIDs(of.Names)).WithNames(of.Names)
		v.histories[name] = y
		v.schemas[name+".records"] = y.schema
	}
	h.named.Store(v)
	return v
}

// route returns the operations at a path by method, and the id in the path. It is not an http.ServeMux because that
// redirects, to a path without the prefix that http.StripPrefix took away.
func (h *handler) route(path string) (methods map[string]*operation, id string) {
	if methods = h.routes[path]; methods != nil {
		return methods, ""
	}
	parts := strings.Split(path, "/")
	if at := strings.Count(api, "/") + 1; len(parts) > at && parts[at] != "" {
		id, parts[at] = parts[at], "{id}"
		return h.routes[strings.Join(parts, "/")], id
	}
	return nil, ""
}

// isSafe reports whether a method changes nothing.
func isSafe(method string) bool { return method == "GET" || method == "HEAD" || method == "OPTIONS" }

// role returns the role that a request needs. Only the exact paths of operations are open, so that nothing behind them
// can be reached by "..".
func (h *handler) role(r *http.Request) auth.Role {
	methods, _ := h.route(r.URL.Path)
	method := r.Method
	if isSafe(method) {
		method = http.MethodGet
	}
	o := methods[method]
	switch {
	case r.URL.Path == "/api/v1/admin" || strings.HasPrefix(r.URL.Path, "/api/v1/admin/"):
		return auth.Admin
	case o == nil && isSafe(method):
		return auth.Read
	case o == nil:
		return auth.Operate
	case o.path == "/metrics" && h.cfg.Roles.OpenMetrics:
		return auth.Nobody
	case o.id == "query": // which takes a process and some of the machine
		return cmp.Or(h.cfg.Roles.Query, o.role)
	}
	return o.role
}

// ServeHTTP finds the operation of r.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	methods, id := h.route(r.URL.Path)
	serve := h.serveConsole
	switch {
	case methods != nil:
	case r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/"):
		types.NewProblem(http.StatusNotFound, "there is no %s; lists are /api/v1/ and one of %s", r.URL.Path,
			h.listNames()).Write(w)
		return
	case strings.HasPrefix(r.URL.Path, docsPath):
		serve = h.serveDocs
		fallthrough
	default:
		methods = map[string]*operation{"GET": {}}
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch o := methods[method]; {
	case o == nil:
		allow := slices.Sorted(maps.Keys(methods))
		if i := slices.Index(allow, http.MethodGet); i >= 0 {
			allow = slices.Insert(allow, i+1, http.MethodHead)
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		types.NewProblem(http.StatusMethodNotAllowed, "%s is not possible, only %s", r.Method,
			strings.Join(allow, ", ")).Write(w)
	case o.serve == nil:
		serve(w, r)
	default:
		h.serve(w, r, o, id)
	}
}

// serve answers with an operation. That the server does not have what it needs is a problem of the query, after others.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, o *operation, id string) {
	if h.cfg.Analyzer != nil && !h.answersHere(o, r) {
		h.passOn(w, r, o, id)
		return
	}
	h.serveHere(w, r, o, id)
}

// serveHere is serve of what this server answers by itself.
func (h *handler) serveHere(w http.ResponseWriter, r *http.Request, o *operation, id string) {
	p := newParams(r, o, id)
	if o.needs != nil {
		p.missing = o.needs(&h.cfg)
	}
	if p.missing != nil && o.method != http.MethodGet {
		p.missing.Write(w)
		return
	}
	p.schema = h.views().schemas[o.list]
	if p.isRange() {
		p.schema = h.views().schemas[o.list+".records"]
	}
	o.serve(h, w, r, p)
}

// listNames names all lists.
func (h *handler) listNames() string {
	var names []string
	for _, methods := range h.routes {
		if o := methods[http.MethodGet]; o != nil && o.find != nil && o.list != "" {
			names = append(names, o.list)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
