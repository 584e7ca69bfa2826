package api

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// lostLink are the events of a link that failed for 5 s, and a burst a minute later.
func lostLink(log *eventlog.Log, at time.Time) {
	startNs := at.UnixNano()
	node := func(e *telemetry.Event, name string, id, port uint32) { e.Node, e.Name, e.Port = &id, name, &port }
	note := func(k eventlog.Key, fromNs, toNs int64, fill func(*telemetry.Event)) {
		log.Note(k, startNs+fromNs, startNs+fromNs, 7, fill)
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
			if n.Kind == telemetry.EventLinkLost && (n.Text != "link s1-s2 down for 5.0 s: 7 packets lost" ||
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
