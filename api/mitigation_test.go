package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// A fence is an actor that counts the rules that it was given.
type fence struct{ holds int }

func (f *fence) Abilities() mitigate.Abilities { return mitigate.Abilities{Devices: true} }
func (f *fence) Problem() error                { return nil }
func (f *fence) Close() error                  { return nil }

func (f *fence) Apply(_ context.Context, rules []telemetry.MitigationRule) error {
	f.holds += len(rules)
	return nil
}

func (f *fence) Withdraw(_ context.Context, rules []telemetry.MitigationRule) error {
	f.holds -= len(rules)
	return nil
}

// An attack is mitigated and released over the API; a dry run answers with the very rules that are sent then, and the
// attack shows them and what was done. What cannot be done is refused and changes nothing.
func TestMitigate(t *testing.T) {
	cfg := queued(t)
	cfg.Events = eventlog.New(100)
	floods(cfg.Events, cfg.Now())
	events, _ := cfg.Events.Events(nil, 100)
	flood, surge := "/api/v1/attacks/"+events[0].ID, "/api/v1/attacks/"+events[1].ID
	post := func(path, body string, change func(map[string]string)) *httptest.ResponseRecorder {
		headers := map[string]string{"Content-Type": "application/json"}
		if change != nil {
			change(headers)
		}
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		New(cfg).ServeHTTP(w, r)
		return w
	}
	if w := post(flood+"/mitigate", "{}", nil); w.Code != 404 || !strings.Contains(w.Body.String(), "nothing that drops") {
		t.Errorf("without an actor: %d %s", w.Code, w.Body)
	}
	audit, _ := mitigate.OpenAudit("")
	wall := &fence{}
	manager, err := mitigate.New(mitigate.Config{For: 3600e9, MaxRules: 8, MaxShare: 1}, mitigate.Deps{
		Actors: map[string]mitigate.Actor{"webhook": wall}, Audit: audit,
		Log: slog.New(slog.DiscardHandler), Now: cfg.Now,
		Attacks: func() (list []telemetry.Attack) {
			for i := range events {
				list = append(list, *events[i].Attack)
			}
			return list
		},
		Traffic: func() uint64 { return 100e6 }, Own: func() []netip.Addr { return nil },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Mitigation = manager
	for _, c := range []struct {
		path, body string
		code       int
		want       string
	}{
		{flood + "/mitigate", `{"by":"rtbh"}`, 409, "not configured"},
		{flood + "/mitigate", `{"for":"soon"}`, 400, "want a duration"},
		{flood + "/mitigate", `{"dryrun":true}`, 400, "unknown field"},
		{surge + "/mitigate", `{}`, 409, "over"},
		{"/api/v1/attacks/none/mitigate", `{}`, 404, "no attack"},
		{flood + "/release", ``, 404, "no rule"},
	} {
		if w := post(c.path, c.body, nil); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %d %q", c.path, c.body, w.Code, w.Body, c.code, c.want)
		}
	}
	crossSite := func(h map[string]string) { h["Sec-Fetch-Site"] = "cross-site" }
	if w := post(flood+"/mitigate", "{}", crossSite); w.Code != 403 {
		t.Errorf("from a page of another site: %d", w.Code)
	}
	if wall.holds > 0 {
		t.Errorf("%d rules were sent", wall.holds)
	}
	dry := post(flood+"/mitigate", `{"dry_run":true,"for":"10m"}`, nil)
	const rule = `"text":"webhook drops udp from device a6:1a:f6:b1:64:01 to 192.0.2.80/32 port 53"`
	if text := dry.Body.String(); !strings.Contains(text, rule) || !strings.Contains(text, `"share":0.16`) {
		t.Errorf("a dry run answers %s", text)
	}
	if wall.holds > 0 {
		t.Errorf("a dry run sent %d rules", wall.holds)
	}
	var planned, sent telemetry.Mitigation
	var one types.AttackAnswer
	done := post(flood+"/mitigate", `{"for":"10m"}`, nil)
	for _, answer := range []struct {
		w  *httptest.ResponseRecorder
		to any
	}{{dry, &planned}, {done, &sent}, {ask(New(cfg), "GET", flood), &one}} {
		if err := json.Unmarshal(answer.w.Body.Bytes(), answer.to); err != nil {
			t.Fatalf("%v: %s", err, answer.w.Body)
		}
	}
	if wall.holds != 2 || len(sent.Rules) != 2 || sent.Rules[0].ID != planned.Rules[0].ID ||
		len(one.Attack.Rules) != 2 ||
		len(one.Attack.Actions) != 1 || one.Attack.Actions[0].Action != "mitigate" {
		t.Errorf("%d rules hold; planned %+v, sent %+v; the attack has %+v and %+v", wall.holds, planned.Rules,
			sent.Rules, one.Attack.Rules, one.Attack.Actions)
	}
	metrics := ask(New(cfg), "GET", "/metrics").Body.String()
	for _, want := range []string{
		`waybill_mitigation_rules{by="webhook",state="active"} 2`,
		`waybill_mitigation_actions_total{action="mitigate",by="webhook",failed="false"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics have no %s", want)
		}
	}
	if w := post(flood+"/release", "", nil); w.Code != 200 || wall.holds != 0 {
		t.Errorf("release: %d %s; %d rules hold", w.Code, w.Body, wall.holds)
	}
}
