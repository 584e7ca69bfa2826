package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

func eventServer(t *testing.T) http.Handler {
	collector, log := happened(t)
	cfg := testConfig(collector)
	cfg.Events = log
	return New(cfg)
}

func TestEvents(t *testing.T) {
	h := eventServer(t)
	for name, target := range map[string]string{
		"events": "events", "events_filter": "events?filter=" +
			url.QueryEscape("node = s2 and reason_name like \"acl%\""),
	} {
		w := ask(h, "GET", "/api/v1/"+target)
		if w.Code != 200 {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
		golden(t, name, w.Body.Bytes())
	}
}

// Each parameter leaves what it selects.
func TestEventFilters(t *testing.T) {
	h := eventServer(t)
	for target, want := range map[string]struct{ total, listed int }{
		"":                                  {7, 7},
		"limit=2":                           {7, 2},
		"kind=drop_storm":                   {4, 4},
		"id=nothing":                        {0, 0},
		"kind=drop_storm,report_loss":       {5, 5},
		"kind=report_loss&kind=loop":        {1, 1},
		"kind=blackhole":                    {0, 0},
		"severity=info":                     {7, 7},
		"severity=warning":                  {5, 5},
		"severity=critical":                 {3, 3},
		"node=s2":                           {2, 2},
		"node=2&limit=1":                    {2, 1},
		"node=77":                           {0, 0},
		"open=true":                         {2, 2},
		"open=false":                        {5, 5},
		"filter=":                           {7, 7},
		"filter=not+end+is+null":            {5, 5},
		"filter=duration+>+200ms":           {4, 4},
		"filter=start+<+now-55s":            {5, 5},
		"filter=dst_port=6007":              {2, 2},
		"filter=source+in+192.0.2.0/24":     {1, 1},
		"filter=count=30&node=s2&kind=loop": {0, 0},
	} {
		w := ask(h, "GET", "/api/v1/events?"+strings.NewReplacer(">", "%3E", "<", "%3C").Replace(target))
		var list types.EventList
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || list.Total != want.total ||
			len(list.Events) != want.listed {
			t.Errorf("%s: got %s, want %d of %d", target, w.Body, want.listed, want.total)
		}
	}
}

func TestEventProblems(t *testing.T) {
	h := eventServer(t)
	for query, want := range map[string]types.Problem{
		"kind=storm": {
			Parameter: "kind", Detail: "kind: column 10: kind is never storm",
			Allowed: "filter=kind in (storm)",
		},
		"kind=loop,": {
			Parameter: "kind",
			Detail:    "kind: column 15: expected one of a list of names such as new_flow, found )",
			Allowed:   "filter=kind in (loop,)",
		},
		"severity=bad": {
			Parameter: "severity", Detail: "severity: column 13: severity is never bad",
			Allowed: "filter=severity >= bad",
		},
		"open=yes":             {Parameter: "open", Detail: `open is "yes"`, Allowed: "true, false"},
		"open=true&open=false": {Parameter: "open", Detail: "open is given 2 times", Allowed: "once"},
		"node=": {
			Parameter: "node", Detail: "node: column 8: no node has the name ",
			Allowed: `filter=node = ""`,
		},
		"limit=0": {Parameter: "limit", Detail: `limit is "0"`, Allowed: "1 to 10000"},
		"ordr=last": {
			Parameter: "ordr", Detail: `unknown parameter "ordr"; did you mean order?`,
			Allowed: "cursor, filter, format, group_by, interval, limit, order, since, until",
		},
		"filter=a&filter=b": {Parameter: "filter", Detail: "filter is given 2 times", Allowed: "once"},
		"filter=count%3D1+and+kindd%3D2": {
			Parameter: "filter",
			Detail:    "filter: column 13: events have no field kindd: did you mean kind?",
		},
		"filter=kind%3D": {
			Parameter: "filter",
			Detail:    "filter: column 6: expected one of a list of names such as new_flow, found the end",
		},
	} {
		w := ask(h, "GET", "/api/v1/events?"+query)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 ||
			w.Header().Get("Content-Type") != types.MediaProblem {
			t.Errorf("%s: got %d %s", query, w.Code, w.Body)
		}
		if p.Parameter != want.Parameter || p.Detail != want.Detail || p.Allowed != want.Allowed ||
			(p.Filter != nil) != strings.HasPrefix(want.Detail, "filter: ") {
			t.Errorf("%s: got %s", query, w.Body)
		}
		if p.Filter != nil && strings.Contains(query, "kindd") {
			if f := *p.Filter; f.Offset != 12 || f.Length != 5 || f.Column != 13 || f.Suggestion != "kind" {
				t.Errorf("%s: got %+v", query, f)
			}
		}
	}
}
