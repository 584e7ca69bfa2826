package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
)

// A server with role query answers from the store what that can answer alone, and passes everything else on to the
// analyzer. This file has both sides of that.

// UserHeader and RoleHeader say to the analyzer who asks a server with role query, and with which role. It believes
// them where its configuration names that server as a proxy that logs people in.
const (
	UserHeader = "Waybill-User"
	RoleHeader = "Waybill-Role"
)

// A state is what a server with role query has to know of the analyzer to answer as it does.
type state struct {
	Version string               `json:"version"`
	Term    uint64               `json:"term,omitempty"` // of Config
	Written map[string]time.Time `json:"written"`        // until when all records are in the store, by table
	// Configured is what is configured there; nil: that of which the query has the tag.
	Configured *analyze.Configured `json:"configured,omitempty"`
	Tag        string              `json:"tag"` // of what is configured
}

// statePath is where an analyzer tells its state.
const statePath = "/query-state"

// state answers a server with role query.
func (h *handler) state(w http.ResponseWriter, r *http.Request, _ *params) {
	v := h.views()
	answer := state{Version: h.cfg.Version, Term: h.cfg.Term, Tag: v.tag}
	if r.URL.Query().Get("tag") != v.tag {
		answer.Configured = v.of
	}
	if h.cfg.Written != nil {
		answer.Written = map[string]time.Time{}
		for t := range store.NumTables {
			answer.Written[t.String()] = h.cfg.Written(t).UTC()
		}
	}
	writeAnswer(w, answer)
}

// An AnalyzerConfig says where an analyzer is.
type AnalyzerConfig struct {
	URLs  []*url.URL             // of all of which one is elected
	TLS   *tls.Config            // nil: that of the system
	Token func() (string, error) // to log in with; nil: no token
	// Access knows who asks here.
	Access *auth.Guard
	// Configure hears what is configured at the analyzer, at first and when that changes.
	Configure func(analyze.Configured)
	Stored    bool // there is a store that answers about the past
	Version   string
	Log       *slog.Logger
}

// An Analyzer is the server that a server with role query passes on to what the store does not answer: what is there
// now, and what changes something. Its methods may be called from any goroutine.
type Analyzer struct {
	config    AnalyzerConfig
	transport *http.Transport
	proxy     *httputil.ReverseProxy

	at     atomic.Pointer[place] // of the one that answered last
	tag    string                // of what is configured; of Watch alone
	state  atomic.Pointer[state]
	away   atomic.Pointer[absence] // nil: it answers
	passed atomic.Uint64
	failed atomic.Uint64
}

// A place is where an analyzer is, until another one is elected.
type place struct {
	*url.URL
	current context.Context // done when another one is elected
	leave   context.CancelCauseFunc
}

func newPlace(u *url.URL) *place {
	p := &place{URL: u}
	p.current, p.leave = context.WithCancelCause(context.Background())
	return p
}

// errElsewhere says why a request that was passed on gets no answer.
var errElsewhere = errors.New("another analyzer was elected meanwhile; ask again")

// An absence is since when, and why, an analyzer does not answer.
type absence struct {
	since time.Time
	why   error
}

const (
	// askEvery is how often the analyzer is asked for its state, askFor how long that may take.
	askEvery, askFor = time.Second, 5 * time.Second
	othersFor        = 500 * time.Millisecond
	// maxPassedStreams is how many streams are passed on at a time: the analyzer closes connections of a client that
	// has more than 128.
	maxPassedStreams = 96
	// passWrite is how long a client may take for a part of an answer.
	passWrite = 10 * time.Second
)

// NewAnalyzer returns an analyzer of which nothing is known yet.
func NewAnalyzer(config AnalyzerConfig) *Analyzer {
	a := &Analyzer{config: config}
	a.at.Store(newPlace(config.URLs[0]))
	a.transport = &http.Transport{
		DialContext:     (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSClientConfig: config.TLS, ForceAttemptHTTP2: true, DisableCompression: true, // what is compressed stays so
		MaxIdleConnsPerHost: 32, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 60 * time.Second,
	}
	a.proxy = &httputil.ReverseProxy{
		Rewrite: a.rewrite, Transport: a.transport, ErrorHandler: a.unanswered,
		ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
		ModifyResponse: func(r *http.Response) error {
			ours := http.Header{}
			secure(ours)
			for name := range ours { // this server has set them
				r.Header.Del(name)
			}
			r.Header.Del("Set-Cookie") // of a session there
			return nil
		},
	}
	return a
}

// rewrite makes a request one of this server's, in the name of who asked: what proves that here proves nothing there.
func (a *Analyzer) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(a.at.Load().URL)
	for _, name := range []string{
		"Authorization", "Cookie", "Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest",
		UserHeader, RoleHeader,
	} {
		r.Out.Header.Del(name)
	}
	who := auth.From(r.In.Context())
	r.Out.Header.Set("X-Forwarded-For", a.config.Access.ClientOf(r.In).String())
	a.logIn(r.Out, who)
}

// logIn says who asks.
func (a *Analyzer) logIn(r *http.Request, who auth.Identity) {
	r.Header.Set(UserHeader, who.Name)
	r.Header.Set(RoleHeader, who.Role.String())
	if a.config.Token == nil {
		return
	}
	if token, err := a.config.Token(); err == nil { // without one the analyzer says what it wants
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

// unanswered answers where the analyzer does not.
func (a *Analyzer) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errElsewhere):
		err = cause
	case cause != nil: // the client is gone
		return
	}
	if answer, ok := r.Context().Value(insteadKey{}).(func(http.ResponseWriter)); ok {
		answer(w)
		return
	}
	a.failed.Add(1)
	since, instead := "", ""
	if away := a.away.Load(); away != nil {
		since = " since " + away.since.UTC().Format(time.RFC3339)
	}
	if a.config.Stored {
		instead = "; flows, paths, hops, queues, links, drops, bursts, events and incidents of a time range are answered " +
			"from the store"
	}
	retryAfter(w, time.Second)
	types.NewProblem(http.StatusServiceUnavailable, "only the analyzer at %s knows this, and it does not answer%s: %v%s",
		a.at.Load().Redacted(), since, err, instead).Write(w)
}

// ServeHTTP passes a request on.
func (a *Analyzer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.passed.Add(1)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	current := a.at.Load().current
	defer context.AfterFunc(current, func() { cancel(context.Cause(current)) })()
	a.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// Written returns until when all records of a table are in the store, as far as the analyzer has told: until now if it
// has not told anything.
func (a *Analyzer) Written(t store.Table) time.Time {
	if s := a.state.Load(); s != nil && s.Written != nil {
		return s.Written[t.String()]
	}
	return time.Now()
}

// Away returns since when the analyzer does not answer, and why; nil: it does.
func (a *Analyzer) Away() (since time.Time, why error) {
	if away := a.away.Load(); away != nil {
		return away.since, away.why
	}
	return time.Time{}, nil
}

// Totals returns how many requests were passed on, and how many of them the analyzer did not answer.
func (a *Analyzer) Totals() (passed, failed uint64) { return a.passed.Load(), a.failed.Load() }

// Watch asks the analyzer for its state until ctx is done.
func (a *Analyzer) Watch(ctx context.Context) {
	defer a.transport.CloseIdleConnections()
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		a.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look asks once, and tells the log when the analyzer goes away or comes back.
func (a *Analyzer) look(ctx context.Context) {
	s, at, err := a.ask(ctx)
	before := a.away.Load()
	if last := a.at.Load(); err == nil && at != last.URL {
		a.config.Log.Info("another analyzer answers", "url", at.Redacted(), "before", last.Redacted())
		a.at.Store(newPlace(at))
		last.leave(errElsewhere)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && before == nil:
		a.away.Store(&absence{time.Now(), err})
		a.config.Log.Error("the analyzer does not answer", "url", a.at.Load().Redacted(), "error", err, "stored_answers",
			a.config.Stored)
	case err != nil:
		a.away.Store(&absence{before.since, err})
	default:
		first := a.state.Load() == nil
		if s.Configured != nil {
			a.config.Configure(*s.Configured)
			s.Configured = nil
		}
		a.tag = s.Tag
		a.state.Store(s)
		a.away.Store(nil)
		if first || before != nil {
			a.config.Log.Info("the analyzer answers", "url", at.Redacted(), "version", s.Version)
		}
		if first && s.Version != a.config.Version {
			a.config.Log.Warn("the analyzer is of another version, and its answers may have other fields", "version",
				s.Version, "version_here", a.config.Version)
		}
	}
}

// ask asks all analyzers for their state, and returns that of the one that was elected last, and where it is. When one
// has answered, the others have othersFor to do so.
func (a *Analyzer) ask(ctx context.Context) (s *state, at *url.URL, err error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	type answer struct {
		of *state
		at *url.URL
		error
	}
	answers := make(chan answer, len(a.config.URLs))
	for _, u := range a.config.URLs {
		go func() {
			s, err := a.askOne(ctx, u)
			if err != nil && len(a.config.URLs) > 1 {
				err = fmt.Errorf("%s: %w", u.Redacted(), err)
			}
			answers <- answer{s, u, err}
		}()
	}
	for range a.config.URLs {
		next := <-answers
		switch {
		case next.error != nil:
			err = errors.Join(err, next.error)
		case s == nil || next.of.Term > s.Term:
			if s == nil {
				time.AfterFunc(othersFor, cancel)
			}
			s, at = next.of, next.at
		}
	}
	if s != nil {
		err = nil
	}
	return s, at, err
}

// askOne returns the state of an analyzer.
func (a *Analyzer) askOne(ctx context.Context, u *url.URL) (*state, error) {
	at := u.JoinPath(statePath)
	at.RawQuery = url.Values{"tag": {a.tag}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	a.logIn(r, auth.Identity{Name: "waybill-query", Role: auth.Read})
	answer, err := a.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return nil, fmt.Errorf("%s: %.200s", answer.Status, text)
	}
	s := new(state)
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxState)).Decode(s); err != nil {
		return nil, fmt.Errorf("what it says is not what an analyzer says: %w", err)
	}
	return s, nil
}

// maxState is how large a state may be, in bytes: an inventory of a hundred thousand ports is smaller.
const maxState = 64 << 20

// answersHere reports whether a server with role query answers by itself: what concerns this server, and what the store
// answers alone.
func (h *handler) answersHere(o *operation, r *http.Request) bool {
	switch o.from {
	case fromServer:
		return true
	case fromStore:
		return h.cfg.History != nil
	case fromPast:
		return h.cfg.History != nil && namesPast(r.URL.Query())
	}
	return false
}

// insteadKey is of what answers in the place of an analyzer that does not, a func(http.ResponseWriter).
type insteadKey struct{}

// passOn lets the analyzer answer. A stream ends when this server stops, and when who was let in has been locked out.
func (h *handler) passOn(w http.ResponseWriter, r *http.Request, o *operation, id string) {
	if o.from == fromEither && h.cfg.History != nil && namesPast(r.URL.Query()) {
		instead := func(w http.ResponseWriter) { h.serveHere(w, r, o, id) }
		h.cfg.Analyzer.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), insteadKey{}, instead)))
		return
	}
	if o.media != types.MediaStream {
		h.cfg.Analyzer.ServeHTTP(w, r)
		return
	}
	release, ok := h.passed.try()
	if !ok {
		types.NewProblem(http.StatusServiceUnavailable, "too many streams (limit %d)", maxPassedStreams).Write(w)
		return
	}
	defer release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-h.cfg.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	h.cfg.Analyzer.ServeHTTP(&passedStream{w, http.NewResponseController(w), func() error {
		_, err := h.cfg.Access.Identify(r, h.cfg.Now())
		return err
	}}, r.WithContext(ctx))
}

// A passedStream is written for as long as its client may read it.
type passedStream struct {
	http.ResponseWriter
	control *http.ResponseController
	allowed func() error
}

// Write implements http.ResponseWriter.
func (s *passedStream) Write(b []byte) (int, error) {
	if err := s.allowed(); err != nil {
		return 0, errors.Join(http.ErrAbortHandler, err)
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(passWrite)) // where there is none, the server has its own
	return s.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach what is below.
func (s *passedStream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
