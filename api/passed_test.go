package api

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A pair is an analyzer with a store, and a server with role query before it that reads the same store.
type pair struct {
	analyzer    http.Handler
	web         *httptest.Server // of the analyzer
	query       http.Handler
	passes      *Analyzer
	tokens      secrets      // of the query
	seen        http.Header  // of the latest request that the analyzer got
	configQuery Config       // of the query
	file        string       // with the tokens
	opened      *auth.Tokens // from there
}

// newPair starts both. The analyzer believes the query, which wants tokens.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{tokens: secrets{}}
	config := remembered(t)
	config.Collector = captured(t)
	config.Written = func(store.Table) time.Time { return tuesday.Add(4 * time.Minute) }
	config.Access = &auth.Guard{Sessions: auth.NewSessions(), Proxy: &auth.Proxy{
		From: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, UserHeader: UserHeader, GroupsHeader: RoleHeader,
		Roles: auth.Roles{"read": auth.Read, "operate": auth.Operate, "admin": auth.Admin},
	}}
	config.Views = &memoryViews{}
	p.analyzer = New(config)
	p.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != statePath {
			p.seen = r.Header.Clone()
		}
		p.analyzer.ServeHTTP(w, r)
	}))
	t.Cleanup(p.web.Close)
	var list []auth.Token
	for role := auth.Read; role <= auth.Admin; role++ {
		p.tokens[role] = auth.NewToken()
		list = append(list, auth.Token{Name: "a-" + role.String(), Role: role, SHA256: auth.DigestOf(p.tokens[role])})
	}
	p.configQuery = testConfig(&analyze.Collector{})
	p.configQuery.History, p.configQuery.SQL, p.configQuery.Between = config.History, config.SQL, config.Between
	p.file, p.opened = openTokens(t, list...)
	p.configQuery.Access = &auth.Guard{Sessions: auth.NewSessions(), Tokens: p.opened}
	at, err := url.Parse(p.web.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.passes = NewAnalyzer(AnalyzerConfig{
		URLs: []*url.URL{at}, Access: p.configQuery.Access, Configure: p.configQuery.Collector.Configure, Version: "v1.2.3",
		Stored: true, Log: slog.New(slog.DiscardHandler),
	})
	p.configQuery.Analyzer, p.configQuery.Written = p.passes, p.passes.Written
	p.query = New(p.configQuery)
	p.passes.look(t.Context())
	return p
}

// memoryViews keep views as long as a test takes.
type memoryViews struct{ list []types.View }

func (v *memoryViews) All() []types.View { return v.list }

func (v *memoryViews) Save(view types.View) (types.View, error) {
	view.ID = "1"
	v.list = append(v.list, view)
	return view, nil
}

func (v *memoryViews) Remove(string) error { return ErrNoView }

// as asks as somebody with a role, in JSON.
func (p *pair) as(role auth.Role) func(*http.Request) { return bearing(p.tokens[role]) }

// asQuery asks as the query does.
func asQuery(r *http.Request) {
	r.RemoteAddr = "127.0.0.1:9"
	r.Header.Set(UserHeader, "a-operate")
	r.Header.Set(RoleHeader, "operate")
}

// everyQuestion returns a target for all that can be asked of a server, with a time range where that can be.
func everyQuestion(flow string) (targets []string) {
	for _, o := range operations() {
		switch {
		case o.method != http.MethodGet || o.media == types.MediaStream || o.path == statePath:
			continue
		case o.id == "session" || o.path == "/metrics": // of each server
			continue
		}
		path := strings.Replace(o.path, "{id}", flow, 1)
		switch o.id {
		case "query":
			path += "?sql=" + url.QueryEscape("SELECT count(*) FROM flows_10s")
		case "heatmap":
			path += "?of=hops&" + tuesdays
		}
		targets = append(targets, path)
		if strings.Contains(" "+o.params+" "+o.past+" ", " since ") && o.id != "heatmap" {
			targets = append(targets, path+"?"+tuesdays)
		}
		if strings.Contains(" "+o.params+" ", " at ") {
			targets = append(targets, path+"?at="+tuesday.Add(time.Minute).Format(time.RFC3339))
		}
	}
	return targets
}

// Whatever the query is asked, it answers as the analyzer does; and without it, what the store alone has.
func TestQueryAnswersAsAnalyzer(t *testing.T) {
	p := newPair(t)
	var flows types.FlowList
	if err := json.Unmarshal(ask(p.analyzer, "GET", "/api/v1/flows", asQuery).Body.Bytes(), &flows); err != nil {
		t.Fatal(err)
	}
	targets := everyQuestion(flows.Flows[0].ID)
	if len(targets) < 60 {
		t.Errorf("%d questions", len(targets))
	}
	answers := map[string]string{}
	for _, target := range targets {
		want := ask(p.analyzer, "GET", target, asQuery)
		got := ask(p.query, "GET", target, p.as(auth.Operate))
		if got.Code != want.Code || got.Body.String() != want.Body.String() ||
			!reflect.DeepEqual(got.Header().Values("Content-Type"), want.Header().Values("Content-Type")) ||
			len(got.Header().Values("Content-Security-Policy")) != 1 {
			t.Errorf("%s: got %d %.300s, want %d %.300s", target, got.Code, got.Body, want.Code, want.Body)
		}
		answers[target] = got.Body.String()
	}
	p.web.Close()
	stored := 0
	for _, target := range targets {
		w := ask(p.query, "GET", target, p.as(auth.Operate))
		if w.Code == http.StatusServiceUnavailable {
			var problem types.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Header().Get("Retry-After") == "" ||
				!strings.Contains(problem.Detail, "does not answer") ||
				!strings.Contains(problem.Detail, "are answered from the store") {
				t.Errorf("%s: got %s", target, w.Body)
			}
			continue
		}
		if stored++; w.Body.String() != answers[target] {
			t.Errorf("%s without the analyzer: got %.300s, want %.300s", target, w.Body, answers[target])
		}
	}
	w := ask(p.query, "GET", "/api/v1/incidents?"+tuesdays, p.as(auth.Read))
	var incidents types.IncidentList
	if err := json.Unmarshal(w.Body.Bytes(), &incidents); err != nil || len(incidents.Incidents) == 0 {
		t.Errorf("incidents of the past without the analyzer: %v %s", err, w.Body)
	}
	if stored < 20 || stored > len(targets)/2+5 {
		t.Errorf("%d of %d are answered without the analyzer", stored, len(targets))
	}
}

// The analyzer hears who asks and with which role, whatever the client says of that itself, and none of its secrets;
// what somebody may not do ends at the query.
func TestQueryPassesWhoAsks(t *testing.T) {
	p := newPair(t)
	lies := func(r *http.Request) {
		r.Header.Set(UserHeader, "root")
		r.Header.Set(RoleHeader, "admin")
		r.Header.Set("X-Forwarded-For", "6.6.6.6")
		r.Header.Set("Cookie", auth.SessionCookie+"=x")
		r.Header.Set("Connection", UserHeader+", "+RoleHeader) // which a proxy would take away
		r.RemoteAddr = "192.0.2.9:5"
	}
	if w := ask(p.query, "GET", "/api/v1/nodes", p.as(auth.Read), lies); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	for name, want := range map[string]string{
		UserHeader: "a-read", RoleHeader: "read", "Authorization": "", "Cookie": "", "X-Forwarded-For": "192.0.2.9",
	} {
		if got := strings.Join(p.seen.Values(name), ", "); got != want {
			t.Errorf("%s: the analyzer got %q, want %q", name, got, want)
		}
	}
	p.seen = nil
	save := func(role auth.Role) int {
		return ask(p.query, "POST", "/api/v1/views", p.as(role), lies, func(r *http.Request) {
			*r = *httptest.NewRequest("POST", "/api/v1/views", strings.NewReader(`{"name": "x", "address": "flows"}`))
			r.Header.Set("Content-Type", types.MediaJSON)
			p.as(role)(r)
			lies(r)
		}).Code
	}
	if code := save(auth.Read); code != http.StatusForbidden || p.seen != nil {
		t.Errorf("got %d from who may read only, and the analyzer %v", code, p.seen)
	}
	if code := save(auth.Operate); code != http.StatusCreated || p.seen.Get(UserHeader) != "a-operate" {
		t.Errorf("got %d, and the analyzer %v", code, p.seen)
	}
	p.seen = nil
	if w := ask(p.query, "GET", "/api/v1/nodes", lies); w.Code != http.StatusUnauthorized || p.seen != nil {
		t.Errorf("got %d from nobody, and the analyzer %v", w.Code, p.seen)
	}
}

// A stream is passed on as it comes, and ends when who reads it may no more, and when the query stops.
func TestQueryPassesStreams(t *testing.T) {
	for name, end := range map[string]func(*pair, chan struct{}){
		"stopping": func(_ *pair, stopping chan struct{}) { close(stopping) },
		"revoked": func(p *pair, _ chan struct{}) {
			if err := auth.WriteTokens(p.file, nil); err != nil {
				t.Error(err)
			}
			p.opened.Reload()
		},
	} {
		p := newPair(t)
		stopping := make(chan struct{})
		p.configQuery.Stopping = stopping
		server := httptest.NewServer(New(p.configQuery))
		r, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/events/stream", nil)
		p.as(auth.Read)(r)
		answer, err := server.Client().Do(r)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != types.MediaStream {
			t.Fatal(err, answer)
		}
		lines := bufio.NewScanner(answer.Body)
		if !lines.Scan() || lines.Text() != "retry: 3000" {
			t.Fatalf("%s: got %q", name, lines.Text())
		}
		end(p, stopping)
		for lines.Scan() { // until the server ends it, or the test takes too long
		}
		answer.Body.Close()
		server.Close()
		p.web.Close()
	}
}

// The query has what is configured at the analyzer, as it is there, and what changes of it; it knows when the analyzer
// is away, and until when all is written.
func TestQueryKnowsAnalyzer(t *testing.T) {
	p := newPair(t)
	units := codepoint.QueueUnit(1)
	all := analyze.Configured{
		Names:      map[uint32]string{1: "s1", 1 << 31: "leaf é"},
		Sampling:   map[uint32]telemetry.SampleRate{1: 100, 2: telemetry.SampleOnEvent, 3: telemetry.SampleEvery},
		QueueUnits: map[uint32]telemetry.QueueUnit{1: 2, 2: units},
		UtilizationUnits: map[uint32]telemetry.UtilizationUnit{
			1: codepoint.HundredthsOfPercent, 2: 7,
		},
		Inventory: &telemetry.Inventory{
			Nodes: map[uint32]telemetry.InventoryNode{1: {
				Name: "s1", Role: "leaf", Site: "x", Unit: &units, Neighbours: true,
				Ports: map[uint32]telemetry.InventoryPort{7: {Name: "eth7", Speed: 100e9, QueueSize: 1 << 40}},
				From:  telemetry.NodeOrigins{Name: "snmp"},
			}},
			Hosts:  []telemetry.InventoryHost{{Prefix: netip.MustParsePrefix("2001:db8::/32"), Name: "h"}},
			Cables: []telemetry.InventoryCable{},
		},
	}
	text, err := json.Marshal(state{Configured: &all})
	if err != nil {
		t.Fatal(err)
	}
	var back state
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(*back.Configured, all) {
		t.Errorf("%v: got %+v, want %+v", err, back.Configured, all)
	}

	if names := p.configQuery.Collector.Names(); names[1001] != "gateway" {
		t.Errorf("got names %v", names)
	}
	before := p.configQuery.Collector.Configured()
	p.passes.look(t.Context())
	if p.configQuery.Collector.Configured() != before {
		t.Error("what is configured was taken anew though nothing changed")
	}
	if at := p.passes.Written(store.Flows); !at.Equal(tuesday.Add(4 * time.Minute)) {
		t.Errorf("all is written until %v", at)
	}
	p.web.Close()
	p.passes.look(t.Context())
	since, why := p.passes.Away()
	if why == nil {
		t.Error("the analyzer is away, and nobody knows")
	}
	p.passes.look(t.Context())
	if again, _ := p.passes.Away(); again != since {
		t.Errorf("it is away since %v, and then since %v", since, again)
	}
	if at := p.passes.Written(store.Flows); !at.Equal(tuesday.Add(4 * time.Minute)) {
		t.Errorf("all is written until %v without the analyzer", at)
	}
	metrics := ask(p.query, "GET", "/metrics", p.as(auth.Read)).Body.String()
	if !strings.Contains(metrics, "waybill_query_analyzer_up 0\n") || strings.Contains(metrics, "waybill_reports_total") {
		t.Errorf("got %s", metrics)
	}
	if w := ask(p.query, "GET", "/readyz", p.as(auth.Read)); w.Code != http.StatusOK {
		t.Errorf("got %s", w.Body)
	}
}

// What is no analyzer, or does not let the query in, is told as such.
func TestQueryRefusesOthers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"not what an analyzer says": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"401 Unauthorized":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"404 Not Found":             http.NotFound,
	} {
		web := httptest.NewServer(answer)
		at, _ := url.Parse(web.URL)
		a := NewAnalyzer(AnalyzerConfig{
			URLs: []*url.URL{at}, Access: &auth.Guard{}, Log: slog.New(slog.DiscardHandler),
			Configure: func(analyze.Configured) { t.Error("configured") },
		})
		a.look(context.Background())
		if _, why := a.Away(); why == nil || !strings.Contains(why.Error(), name) {
			t.Errorf("got %v, want %s", why, name)
		}
		web.Close()
	}
}

// TestAnotherAnalyzer: of several analyzers the one that was elected last is asked, a request that the one before does
// not answer ends when that is known, and one that stands by is not asked.
func TestAnotherAnalyzer(t *testing.T) {
	hanging := make(chan struct{})
	var terms [2]atomic.Uint64 // 0: it stands by
	var urls []*url.URL
	for i := range terms {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			term := terms[i].Load()
			config := testConfig(captured(t))
			config.Term = term
			switch {
			case term == 0:
				types.NewProblem(http.StatusServiceUnavailable, "it stands by").Write(w)
			case i == 0 && r.URL.Path != statePath:
				close(hanging)
				<-r.Context().Done()
			default:
				New(config).ServeHTTP(w, r)
			}
		}))
		t.Cleanup(web.Close)
		u, err := url.Parse(web.URL)
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, u)
	}
	config := testConfig(&analyze.Collector{})
	config.Access = &auth.Guard{Sessions: auth.NewSessions()}
	config.Analyzer = NewAnalyzer(AnalyzerConfig{
		URLs: urls, Access: config.Access, Configure: config.Collector.Configure, Log: slog.New(slog.DiscardHandler),
	})
	query := New(config)
	config.Analyzer.look(t.Context())
	if _, why := config.Analyzer.Away(); why == nil || strings.Count(why.Error(), "it stands by") != 2 {
		t.Errorf("both stand by: %v", why)
	}
	terms[0].Store(1)
	config.Analyzer.look(t.Context())
	answered := make(chan *httptest.ResponseRecorder)
	ask := func() {
		w := httptest.NewRecorder()
		query.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/flows", nil))
		answered <- w
	}
	go ask()
	select {
	case <-hanging:
	case w := <-answered:
		t.Fatalf("the first one was not asked: %d %s", w.Code, w.Body)
	}
	terms[1].Store(2) // and the first one does not know yet
	config.Analyzer.look(t.Context())
	w := <-answered
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), errElsewhere.Error()) {
		t.Errorf("of the analyzer before: %d %s", w.Code, w.Body)
	}
	go ask()
	if w = <-answered; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"flows"`) {
		t.Errorf("of the next one: %d %s", w.Code, w.Body)
	}
}
