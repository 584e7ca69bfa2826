package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// lostLink are the events of a link that failed for 5 s, and a burst a minute later.
func lostLink(log *eventlog.Log, at time.Time) {
	startNs := at.UnixNano()
	node := func(e *telemetry.Event, name string, id, port uint32) { e.Node, e.Name, e.Port = &id, name, &port }
	note := func(k eventlog.Key, fromNs, toNs int64, fill func(*telemetry.Event)) {
		count := uint64(7)
		if k.Kind == telemetry.EventLinkLost {
			count = 0
		}
		log.Note(k, startNs+fromNs, startNs+fromNs, count, fill)
		log.End(k, startNs+toNs)
	}
	for i, from := range []uint32{1, 2} {
		to, names := 3-from, []string{"s1", "s2"}
		note(eventlog.Key{Kind: telemetry.EventLinkLost, Node: from, Port: from, ToNode: to}, 0, 5e9,
			func(e *telemetry.Event) {
				node(e, names[i], from, from)
				e.Severity, e.ToNode, e.ToName = telemetry.Warning, &to, names[1-i]
				e.Text = "nothing comes from " + e.Name + " to " + e.ToName
			})
	}
	note(eventlog.Key{Kind: telemetry.EventDropStorm, Node: 1, Port: 1}, 0, 1e9, func(e *telemetry.Event) {
		node(e, "s1", 1, 1)
		e.Severity, e.Cause, e.Text = telemetry.Critical, "egress_link_down", "many packets dropped at s1"
	})
	note(eventlog.Key{Kind: telemetry.EventMicroburst, Node: 2, Port: 9}, 60e9, 60e9+1e6,
		func(e *telemetry.Event) {
			node(e, "s2", 2, 9)
			e.Text = "a queue of s2 grew"
		})
}

// Events that belong together are one incident, of now and of the past.
func TestIncidents(t *testing.T) {
	cfg := queued(t)
	cfg.Events = eventlog.New(100)
	at := cfg.Now().Add(-2 * time.Minute)
	lostLink(cfg.Events, at)
	events, _ := cfg.Events.Events(nil, 100)
	cfg.History = storeOf(t, &telemetry.Intervals{Events: events})
	h := New(cfg)
	golden(t, "incidents", ask(h, "GET", "/api/v1/incidents").Body.Bytes())
	golden(t, "incident", ask(h, "GET", "/api/v1/incidents/"+events[len(events)-1].ID).Body.Bytes())
	for target, want := range map[string][]telemetry.EventKind{
		"":                          {telemetry.EventMicroburst, telemetry.EventLinkLost},
		"?filter=severity>=warning": {telemetry.EventLinkLost},
		"?filter=node%3Ds1":         {telemetry.EventLinkLost},
		"?filter=packets_lost=0":    {telemetry.EventMicroburst},
		"?since=10m":                {telemetry.EventMicroburst, telemetry.EventLinkLost},
		"?since=90s":                {telemetry.EventMicroburst},
		"?since=10m&until=90s":      {telemetry.EventLinkLost},
	} {
		var list types.IncidentList
		if w := ask(h, "GET", "/api/v1/incidents"+target); json.Unmarshal(w.Body.Bytes(), &list) != nil ||
			w.Code != 200 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		var got []telemetry.EventKind
		for _, n := range list.Incidents {
			got = append(got, n.Kind)
			if n.Kind == telemetry.EventLinkLost && (n.Text != "link s1-s2 down for 5.0 s: at least 7 packets lost" ||
				len(n.Events) != 3 || n.Severity != telemetry.Critical || !n.Start.Equal(at)) {
				t.Errorf("%s: got %+v", target, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", target, got, want)
		}
	}
	for _, e := range events {
		var one types.IncidentAnswer
		w := ask(h, "GET", "/api/v1/incidents/"+e.ID)
		if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || w.Code != 200 {
			t.Fatalf("%d %v %s", w.Code, err, w.Body)
		}
		if (one.Incident.Kind == telemetry.EventMicroburst) != (e.Kind == telemetry.EventMicroburst) {
			t.Errorf("%s is in %+v", e.ID, one.Incident)
		}
	}
	// Incidents are computed again when something happens.
	log := cfg.Events
	for want := range 2 {
		log.Note(eventlog.Key{Kind: telemetry.EventLoop, Node: uint32(want)}, at.UnixNano(), at.UnixNano(), 1,
			func(e *telemetry.Event) { e.Text = "loop" })
		var list types.IncidentList
		w := ask(h, "GET", "/api/v1/incidents?filter=kind%3Dloop")
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Incidents) != want+1 {
			t.Errorf("got %d %v %s, want %d incidents", w.Code, err, w.Body, want+1)
		}
	}
	// What memory has forgotten is in the store.
	cfg.Events = eventlog.New(100)
	var one types.IncidentAnswer
	w := ask(New(cfg), "GET", "/api/v1/incidents/"+events[len(events)-1].ID)
	if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || len(one.Incident.Events) != 3 {
		t.Errorf("%d %v %s", w.Code, err, w.Body)
	}
	for target, want := range map[string]int{
		"/0000000000000000": 404, "?since=x": 400, "?since=10m&until=11m": 400, "?order=nothing": 400,
	} {
		if w := ask(h, "GET", "/api/v1/incidents"+target); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
}

// What exporters could not tell is in the store when the ledger no longer has it.
func TestUnseenOfThePast(t *testing.T) {
	cfg := queued(t)
	cfg.Events = eventlog.New(100)
	now := cfg.Now().UnixNano()
	began := now - 3*int64(time.Hour)
	step := int64(10 * time.Second)
	records := &telemetry.Intervals{}
	exporters := ledger.NewExporters(8)
	cfg.Ledger = ledger.New([]*ledger.Exporters{exporters}, nil, cfg.Collector.Names, cfg.Collector)
	for at, n := began-began%step, uint32(0); at < now; at, n = at+step, n+1 {
		for node := range uint32(3) {
			if node == 2 && n > 100 {
				continue // it falls silent
			}
			x := telemetry.ExporterInterval{
				StartNs: at, Source: netip.AddrFrom4([4]byte{192, 0, 2, byte(node)}), Node: node, HasNode: true,
				LossKnown: "yes", Received: 1,
			}
			if node == 1 {
				x.Lost = 1
			}
			records.Exporters = append(records.Exporters, x)
			exporters.Observe([]telemetry.Header{{
				Source: x.Source, NodeID: node, HasNodeID: true, Version: telemetry.Version20, Dialect: "waybill",
				HasSequence: true, Sequence: n, Outcome: telemetry.Decoded,
			}}, at)
		}
		cfg.Ledger.Tick(at)
	}
	for node := range uint32(3) {
		at := now - 2*int64(time.Hour) + int64(node)
		key := eventlog.Key{Kind: telemetry.EventDropStorm, Node: node, Port: 1}
		cfg.Events.Note(key, at, at, 7, func(e *telemetry.Event) { e.Node = &node })
		cfg.Events.End(key, at+1e9)
	}
	records.Events, _ = cfg.Events.Events(nil, 100)
	cfg.History = storeOf(t, records)
	cfg.Events = eventlog.New(100)
	h := New(cfg)
	var list types.IncidentList
	w := ask(h, "GET", "/api/v1/incidents?since=150m&until=30m")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Incidents) != 3 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	for _, n := range list.Incidents {
		var one types.IncidentAnswer
		if w := ask(h, "GET", "/api/v1/incidents/"+n.ID); json.Unmarshal(w.Body.Bytes(), &one) != nil {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		want := map[uint32]string{0: "[]", 1: "[1 of 2 false]", 2: "[0 of 0 true]"}[*n.Node]
		for _, n := range []telemetry.Incident{n, one.Incident} {
			said := []string{}
			for _, u := range n.Unseen {
				said = append(said, fmt.Sprint(u.Lost, " of ", u.Sent, " ", u.Silent))
			}
			exact := !slices.Contains(n.AtLeast, "packets_lost")
			if got := fmt.Sprint(said); got != want || n.Doubts != nil || exact != (want == "[]") {
				t.Errorf("%d: got %s, want %s: %+v", *n.Node, got, want, n)
			}
		}
	}
}

// Before its records begin a store knows of no exporter.
func TestUnseenBeforeRecords(t *testing.T) {
	source := netip.MustParseAddr("192.0.2.1")
	history := ledger.History{Key: telemetry.ExporterKey{Source: source, Node: 1, HasNode: true}, FirstNs: 50}
	history.Add(50, 60, 5, 5, 0)
	unkept := ledger.UnheardOf([]ledger.History{{Key: history.Key, FirstNs: 1, KeptNs: 100}})
	r := recorded{unkept, ledger.UnheardOf([]ledger.History{history}), 50}
	for fromNs, want := range map[int64]bool{49: false, 50: true} {
		if _, known := r.Between([]uint32{1}, fromNs, 55); known != want {
			t.Errorf("from %d: known %v", fromNs, known)
		}
	}
}

// Who may operate takes care of an incident, writes notes and silences its alerts; all of it stays with its events.
func TestCareOfIncidents(t *testing.T) {
	cfg, tokens, _ := guarded(t)
	cfg.Events = eventlog.New(100)
	rules, err := parseRules(t, "rules: [{name: all, filter: kind = loop}]\noutputs: {}", nil)
	if err == nil {
		cfg.Alerts, err = alert.New(rules, alert.Deps{Events: cfg.Events, Logger: slog.New(slog.DiscardHandler)})
	}
	if err != nil {
		t.Fatal(err)
	}
	lostLink(cfg.Events, cfg.Now().Add(-2*time.Minute))
	h := New(cfg)
	do := func(role auth.Role, method, path, body string) (int, []byte) {
		t.Helper()
		w := ask(h, method, "/api/v1/incidents"+path, bearing(tokens[role]), func(r *http.Request) {
			if body != "" {
				r.Header.Set("Content-Type", types.MediaJSON)
				r.Body = io.NopCloser(strings.NewReader(body))
			}
		})
		return w.Code, w.Body.Bytes()
	}
	var list types.IncidentList
	_, body := do(auth.Read, "GET", "?filter=kind%3Dlink_lost", "")
	if err := json.Unmarshal(body, &list); err != nil || len(list.Incidents) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	link := list.Incidents[0]
	effect := "/" + link.Events[len(link.Events)-1].ID // any event of it finds it
	long := `{"text":"` + strings.Repeat("x", maxNote+1) + `"}`
	for _, c := range []struct {
		role               auth.Role
		method, path, body string
		status             int
		by                 string
		notes              int
	}{
		{auth.Read, "POST", effect + "/acknowledge", `{"text":""}`, 403, "", 0},
		{auth.Operate, "POST", "/nothing/acknowledge", `{"text":""}`, 404, "", 0},
		{auth.Operate, "POST", effect + "/acknowledge", `{"text":"optics"}`, 200, "the-operate", 1},
		{auth.Admin, "POST", effect + "/acknowledge", `{"text":""}`, 200, "the-operate", 1}, // who was first stays
		{auth.Admin, "POST", effect + "/notes", `{"text":"replaced"}`, 200, "the-operate", 2},
		{auth.Admin, "POST", effect + "/notes", `{"text":""}`, 400, "", 0},
		{auth.Admin, "POST", effect + "/notes", long, 400, "", 0},
		{auth.Admin, "DELETE", effect + "/acknowledge", "", 200, "", 2},
		{auth.Operate, "POST", effect + "/silence", `{"for":"soon"}`, 400, "", 0},
		{auth.Operate, "POST", effect + "/silence", `{"for":"2h"}`, 201, "", 0},
	} {
		status, body := do(c.role, c.method, c.path, c.body)
		if status != c.status {
			t.Errorf("%+v: got %d %s", c, status, body)
			continue
		}
		var got types.IncidentAnswer
		if status != http.StatusOK {
			continue
		}
		if err := json.Unmarshal(body, &got); err != nil || got.Incident.ID != link.ID {
			t.Errorf("%+v: %s", c, body)
		}
		by := ""
		if got.Incident.Acknowledged != nil {
			by = got.Incident.Acknowledged.By
		}
		if by != c.by || len(got.Incident.Notes) != c.notes {
			t.Errorf("%+v: got %s", c, body)
		}
	}
	if _, body := do(auth.Read, "GET", "?filter=acknowledged", ""); !bytes.Contains(body, []byte(`"total":0`)) {
		t.Errorf("acknowledged: %s", body)
	}
	// The silence has all events of the incident, and no others.
	silences := cfg.Alerts.Silences()
	if len(silences) != 1 {
		t.Fatalf("got %+v", silences)
	}
	expr, err := filter.Parse(filter.Events, silences[0].Filter)
	if err != nil {
		t.Fatal(err)
	}
	matcher := expr.Matcher(time.Now)
	events, _ := cfg.Events.Events(nil, 100)
	for i := range events {
		_, mine := incident.Find([]telemetry.Incident{link}, events[i].ID)
		if got := matcher.Match(filter.EventRow{Event: &events[i]}); got != mine {
			t.Errorf("%s %s is silenced: %v", events[i].Kind, events[i].ID, got)
		}
	}
}

// Who follows incidents is told of those that go on, of each when it is acknowledged and when it is over, and
// who comes back of those that ended meanwhile.
func TestIncidentStream(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	cfg.Events = eventlog.New(100)
	storm := eventlog.Key{Kind: telemetry.EventDropStorm, Node: 7}
	at := cfg.Now().Add(-time.Minute).UnixNano()
	cfg.Events.Note(storm, at, at, 9, func(e *telemetry.Event) { e.Severity = telemetry.Critical })
	lostLink(cfg.Events, cfg.Now().Add(-2*time.Minute)) // over before
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	follow := func(last string) (telemetry.Incident, string) {
		messages, id := listen(t, server, "/api/v1/incidents/stream", last, 1)
		var n telemetry.Incident
		if err := json.Unmarshal([]byte(messages[0][1]), &n); err != nil || messages[0][0] != "incident" {
			t.Fatalf("got %v", messages)
		}
		return n, id
	}
	n, id := follow("")
	if n.Kind != telemetry.EventDropStorm || n.End != nil || n.Acknowledged != nil {
		t.Errorf("got %+v", n)
	}
	cfg.Events.Acknowledge(n.ID, telemetry.Acknowledgement{By: "ana", At: cfg.Now()})
	cfg.Events.End(storm, cfg.Now().UnixNano())
	if n, _ = follow(id); n.End == nil || n.Acknowledged == nil {
		t.Errorf("got %+v", n)
	}
}
