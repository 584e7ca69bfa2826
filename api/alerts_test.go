package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
)

const alertRules = `
rules:
  - name: lost-reports
    filter: kind = report_loss
    severity: critical
    labels: {team: noc}
    summary: '{{.Source}} lost {{.Count}} reports'
    annotations: {runbook: 'https://runbooks.example/{{.Kind}}'}
    outputs: [pager]
  - {name: lasting-loss, filter: kind = report_loss, for: 1h}
outputs:
  pager: {command: {path: /bin/true}}
`

const moreRules = `
  - {name: any-loss, filter: 'kind = report_loss and not start is null'}
outputs:`

const silenceOfLoss = "silences: [{filter: source = 192.0.2.66, until: 2999-01-01T00:00:00Z, reason: the switch is being replaced}]"

// withAlerts calls do, in a bubble of synctest, with a handler that has alerts of the events of happened: one fires,
// was told of and is silenced now, one is pending, and one is resolved since its rule was removed. Its clock begins in
// the year 2000.
func withAlerts(t *testing.T, do func(t *testing.T, h http.Handler)) {
	t.Helper()
	collector, events := happened(t)
	cfg := testConfig(collector)
	cfg.Events = events
	synctest.Test(t, func(t *testing.T) {
		parse := func(text string) *alert.Config {
			c, err := parseRules(t, text, collector.Names())
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		e, err := alert.New(parse(strings.Replace(alertRules, "outputs:\n", moreRules[1:]+"\n", 1)),
			alert.Deps{Events: events, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Alerts, cfg.Views = e, &viewsOfTest{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		time.Sleep(1500 * time.Millisecond)
		if err := e.Reload(ctx, parse(alertRules+silenceOfLoss)); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		do(t, New(cfg))
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAlerts(t *testing.T) { withAlerts(t, testAlerts) }

func testAlerts(t *testing.T, h http.Handler) {
	for _, name := range []string{"alerts", "silences", "rules", "outputs"} {
		w := ask(h, "GET", "/api/v1/"+name)
		if w.Code != 200 {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		golden(t, name, w.Body.Bytes())
	}
	for target, want := range map[string]int{
		"": 3, "state=all": 3, "state=firing": 1, "state=pending": 1, "state=resolved": 1, "severity=critical": 1,
		"silenced=true": 1, "silenced=false": 2,
		"node=s1": 3, "node=s2": 0, "filter=source=192.0.2.66": 3, "filter=kind=loop": 0,
	} {
		w := ask(h, "GET", "/api/v1/alerts?"+target)
		var list types.AlertList
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || list.Total != want || len(list.Alerts) != want {
			t.Errorf("%s: got %s, want %d", target, w.Body, want)
		}
	}
	for target, want := range map[string]string{ // of three alerts, rules and silences
		"alerts?order=severity&limit=1":                                       "lost-reports",
		"alerts?order=severity:asc&limit=2":                                   "lasting-loss any-loss",
		"alerts?order=rule":                                                   "any-loss lasting-loss lost-reports",
		"rules?order=name&limit=1":                                            "lasting-loss",
		"rules?filter=firing+%3E+0":                                           "lost-reports",
		"rules?filter=for+%3E+30m+and+pending+%3D+1":                          "lasting-loss",
		"rules?filter=name+like+%22any%25%22":                                 "",
		"outputs?filter=delivered+%3E+0":                                      "pager",
		"outputs?filter=failures+%3E+0":                                       "",
		"silences?filter=until+%3E+2261-01-01T00:00:00Z+and+in_file+%3D+true": "the switch is being replaced",
		"silences?filter=until+%3C+2261-01-01T00:00:00Z":                      "",
	} {
		w := ask(h, "GET", "/api/v1/"+target)
		var all map[string]json.RawMessage
		json.Unmarshal(w.Body.Bytes(), &all)
		name, _, _ := strings.Cut(target, "?")
		var list []struct{ Name, Rule, Reason string }
		json.Unmarshal(all[name], &list)
		var got []string
		for _, i := range list {
			got = append(got, i.Name+i.Rule+i.Reason)
		}
		if text := strings.Join(got, " "); w.Code != 200 || text != want {
			t.Errorf("%s: got %d, %s, want %s", target, w.Code, text, want)
		}
	}
	for target, want := range map[string]string{
		"state=bad": "state", "silenced=1": "silenced",
		"filter=kindd": "filter",
	} {
		w := ask(h, "GET", "/api/v1/alerts?"+target)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 || p.Parameter != want {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
	}
}

// Without rules there is no list that could pass for "all is well".
func TestNoAlerts(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for target, method := range map[string]string{
		"alerts": "GET", "silences": "GET", "rules": "GET", "outputs": "GET",
		"silences/x": "DELETE", "alerts/test": "POST",
	} {
		if w := ask(h, method, "/api/v1/"+target); w.Code != 404 ||
			!strings.Contains(w.Body.String(), "no alert rules configured") {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
	}
}

func TestAlertMetrics(t *testing.T) { withAlerts(t, testAlertMetrics) }

func testAlertMetrics(t *testing.T, h http.Handler) {
	got := scrapeOf(t, h)
	for name, want := range map[string]string{
		`waybill_alerts{state="pending"}`: "1", `waybill_alerts{state="firing"}`: "1", `waybill_alerts_silenced`: "1",
		`waybill_alert_deliveries_total{outcome="delivered",output="pager"}`: "1",
		`waybill_alert_deliveries_total{outcome="retried",output="pager"}`:   "0",
		`waybill_alert_queue_messages{output="pager"}`:                       "0", `waybill_alerts_unplaced_total`: "0",
		`waybill_alert_save_errors_total`:   "0",
		`waybill_alert_events_missed_total`: "0",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	problems, err := promlint.New(ask(h, "GET", "/metrics").Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "waybill_alert") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// body gives a request a body of JSON.
func body(text string) func(*http.Request) {
	return func(r *http.Request) {
		*r = *httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
	}
}

// Silences can be made and removed, by those who may.
func TestSilences(t *testing.T) { withAlerts(t, testSilences) }

func testSilences(t *testing.T, h http.Handler) {
	const good = `{"filter":"node = s2","until":"2261-01-01T00:00:00Z","reason":"maintenance"}`
	w := ask(h, "POST", "/api/v1/silences", body(good))
	var made types.Silence
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != 201 || made.ID == "" || made.InFile ||
		!made.From.Equal(begin.Add(time.Minute)) {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	var list types.SilenceList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/silences").Body.Bytes(), &list); err != nil || list.Total != 2 ||
		list.Silences[0].ID != made.ID {
		t.Errorf("got %+v, %v", list, err)
	}
	inFile := list.Silences[1].ID
	for _, c := range []struct {
		method, target, body string
		status               int
		detail               string
	}{
		{"POST", "silences", `{"filter":"node = s2","for":"soon"}`, 400, "for: "},
		{"POST", "silences", `{"filter":"node = s2","for":"2h","until":"2261-01-01T00:00:00Z"}`, 400, "and no until"},
		{"POST", "silences", `{"filter":"node = s2","for":"2h"}`, 201, `"until":"2026-11-21T11:01:00Z"`},
		{"POST", "silences", "{", 400, "the body cannot be read"},
		{"POST", "silences", good + good, 400, "more than one value"},
		{"POST", "silences", `{"filters":"x"}`, 400, "unknown field"},
		{
			"POST", "silences", `{"filter":"kindd = 1","until":"2261-01-01T00:00:00Z"}`, 400,
			"filter: column 1: events have no field kindd",
		},
		{"POST", "silences", `{"filter":"kind = loop","until":"2001-01-01T00:00:00Z"}`, 400, "until: "},
		{"POST", "silences", `{"filter":"` + strings.Repeat("x", maxBody) + `"}`, 413, "longer than"},
		{"DELETE", "silences/nothing", "", 404, `there is no silence "nothing"`},
		{"DELETE", "silences/" + inFile, "", 409, "in the file"},
		{"DELETE", "silences/" + made.ID, "", 204, ""},
		{"DELETE", "silences/" + made.ID, "", 404, "there is no silence"},
		{"DELETE", "silences", "", 405, "DELETE is not possible, only GET, HEAD, POST"},
		{"PUT", "silences/x", "", 405, "PUT is not possible, only DELETE"},
		{"GET", "silences/x", "", 405, "GET is not possible, only DELETE"},
		{"POST", "alerts", "", 405, "POST is not possible, only GET, HEAD"},
		{"GET", "alerts/test", "", 405, "GET is not possible, only POST"},
		{"POST", "alerts/test", `{}`, 400, "want a rule or an output"},
		{"POST", "alerts/test", `{"rule":"a","output":"b"}`, 400, "want a rule or an output"},
		{"POST", "alerts/test", `{"rule":"nothing"}`, 404, `there is no such rule or output: "nothing"`},
		{"POST", "alerts/test", `{"rule":"lost-reports"}`, 200, `"output":"pager"`},
	} {
		w := ask(h, c.method, "/api/v1/"+c.target, body(c.body))
		detail := w.Body.String()
		var p types.Problem
		if json.Unmarshal(w.Body.Bytes(), &p) == nil && p.Detail != "" {
			detail = p.Detail
		}
		if w.Code != c.status || !strings.Contains(detail, c.detail) {
			t.Errorf("%s %s %.60s: got %d %s, want %d %s", c.method, c.target, c.body, w.Code, w.Body, c.status,
				c.detail)
		}
	}
}

// A page of another site can change nothing, and a form cannot either.
func TestChangeForgery(t *testing.T) { withAlerts(t, testChangeForgery) }

func testChangeForgery(t *testing.T, h http.Handler) {
	for status, change := range map[int]func(*http.Request){
		201: func(*http.Request) {},
		403: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		415: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
	} {
		w := ask(h, "POST", "/api/v1/silences", body(`{"filter":"kind = loop","until":"2261-01-01T00:00:00Z"}`), change)
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("got %d %s, want %d", w.Code, w.Body, status)
		}
	}
	w := ask(h, "DELETE", "/api/v1/silences/x",
		func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
	if w.Code != 403 {
		t.Errorf("got %d", w.Code)
	}
}

// The client asks what the handler answers. The engine does not run: nothing fires.
func TestAlertClient(t *testing.T) {
	collector, events := happened(t)
	rules, err := parseRules(t, alertRules+silenceOfLoss, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(collector)
	if cfg.Alerts, err = alert.New(rules, alert.Deps{Events: events, Logger: cfg.Logger}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(New(cfg))
	defer s.Close()
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if alerts, err := client.Get[client.AlertList](t.Context(), c, "alerts",
		client.Query{State: "firing"}); err != nil ||
		alerts.Total != 0 ||
		alerts.Alerts == nil {
		t.Errorf("got %+v, %v", alerts, err)
	}
	made, err := client.Change[client.Silence](t.Context(), c, "POST", "silences",
		types.NewSilence{Filter: "kind = loop", Until: begin.Add(time.Hour), Reason: "x"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Get[client.SilenceList](t.Context(), c, "silences", client.Query{})
	if err != nil || len(list.Silences) != 2 || list.Silences[0].ID != made.ID || list.Silences[0].Reason != "x" {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := client.Change[struct{}](t.Context(), c, "DELETE", "silences/"+made.ID, nil); err != nil {
		t.Error(err)
	}
	for _, id := range []string{made.ID, "../flows", "a b?"} {
		_, err := client.Change[struct{}](t.Context(), c, "DELETE", "silences/"+url.PathEscape(id), nil)
		if p, ok := errors.AsType[*types.Problem](err); !ok || p.Status != 404 ||
			!strings.HasPrefix(p.Detail, "there is no ") {
			t.Errorf("got %v", err)
		}
	}
	tested, err := client.Change[types.AlertTestResults](t.Context(), c, "POST", "alerts/test",
		types.AlertTest{Output: "pager"})
	if err != nil || len(tested.Results) != 1 || tested.Results[0].Error != "" {
		t.Errorf("got %+v, %v", tested, err)
	}
}

// parseRules reads rules from a file.
func parseRules(t *testing.T, text string, nodes map[uint32]string) (*alert.Config, error) {
	name := filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return alert.Load(name, nodes)
}
