package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

func TestFilterValidate(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct{ schema, text, want string }{
		{"events", "KIND == loop  && (count>5)", `{"valid":true,"filter":"kind = loop and count \u003e 5"}`},
		{"flows", "", `{"valid":true,"filter":""}`},
		{"paths", "node = gateway", `{"valid":true,"filter":"node = gateway"}`},
		{"hops", "latenzy > 5us", `{"valid":false,"filter":"","error":{"offset":0,"length":7,"column":1,` +
			`"message":"hops have no field latenzy","suggestion":"latency"}}`},
		{
			"flows.records", "packets > 3 and hop.latency > 5us",
			`{"valid":false,"filter":"","error":{"offset":16,"length":11,"column":17,` +
				`"message":"flows of a time range have no field hop.latency: ask for hops of the time range, with latency.max or latency.mean"}}`,
		},
	} {
		w := ask(h, "GET", "/api/v1/filter/validate?schema="+c.schema+"&text="+url.QueryEscape(c.text))
		if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != c.want ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %d %s", c.text, w.Code, got)
		}
	}
	for _, s := range filter.Schemas() {
		if w := ask(h, "GET", "/api/v1/filter/validate?text=&schema="+s.Name()); w.Code != 200 {
			t.Errorf("%s: got %d", s.Name(), w.Code)
		}
	}
}

func TestFilterComplete(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for _, c := range []struct{ query, want string }{
		{"schema=events&text=kind%3Ddrop", "drop_storm 5 9"},
		{"schema=events&text=sev+and+count>3&cursor=3", "severity 0 3"},
		{"schema=drops&text=node+%3D+gate", "gateway 7 11"},
		{"schema=events&text=kind+%3D+%3D+", ""},
		{"schema=queues.records&text=occupancy.ma", "occupancy.max 0 12"},
		{"schema=flows.records&text=hop.l", ""},
		{"schema=paths&text=hop.l", "hop.latency 0 5"},
	} {
		w := ask(h, "GET", "/api/v1/filter/complete?"+c.query)
		var got struct{ Candidates []filter.Candidate }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.Candidates == nil {
			t.Errorf("%s: got %d %s", c.query, w.Code, w.Body)
		}
		text := ""
		if len(got.Candidates) == 1 {
			first, _ := json.Marshal([]int{got.Candidates[0].Start, got.Candidates[0].End})
			text = got.Candidates[0].Text + " " + strings.NewReplacer("[", "", "]", "", ",", " ").Replace(string(first))
		}
		if text != c.want || len(got.Candidates) > 1 {
			t.Errorf("%s: got %s, want %s", c.query, w.Body, c.want)
		}
	}
}

const schemasAllowed = "alerts, attacks, bursts, bursts.records, cables, clocks, drops, drops.records, events, events.records, exporters, exporters.records, flows, " +
	"flows.records, hops, hops.records, hosts, incidents, links, links.records, listeners, loss, nodes, outputs, paths, paths.records, ports, queues, queues.records, " +
	"reports, rules, silences, topology, views"

func TestFilterProblems(t *testing.T) {
	h := New(testConfig(newFeed().Collector))
	for target, want := range map[string]types.Problem{
		"validate?text=": {
			Parameter: "schema", Detail: "schema is missing",
			Allowed: schemasAllowed,
		},
		"validate?schema=switches&text=": {
			Parameter: "schema", Detail: `schema is "switches"`,
			Allowed: schemasAllowed,
		},
		"validate?schema=flows": {
			Parameter: "text", Detail: "text is missing",
			Allowed: "a filter, which may be wrong or incomplete",
		},
		"validate?schema=flows&text=&cursor=1": {
			Parameter: "cursor",
			Detail:    "there is no cursor here: all is answered at once", Allowed: "schema, text",
		},
		"complete?schema=flows&text=src&cursor=4": {Parameter: "cursor", Detail: `cursor is "4"`, Allowed: "0 to 3"},
		"complete?schema=flows&text=&cursor=-1":   {Parameter: "cursor", Detail: `cursor is "-1"`, Allowed: "0 to 0"},
		"complete?text=src": {
			Parameter: "schema", Detail: "schema is missing",
			Allowed: schemasAllowed,
		},
	} {
		w := ask(h, "GET", "/api/v1/filter/"+target)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 || p.Parameter != want.Parameter ||
			p.Detail != want.Detail || p.Allowed != want.Allowed {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
	}
}
