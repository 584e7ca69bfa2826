package alert

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Of an incident a rule about causes tells its cause only, once, with the text and the severity of the incident, though
// the cause is found after what follows from it.
func TestRunCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := &script{}
		var incidents []telemetry.Incident
		c := configOf(t, `
rules:
  - {name: all, filter: severity >= warning, causes: true, clear_after: 10s, outputs: [box]}
  - {name: each, filter: severity >= warning, clear_after: 10s, outputs: [other]}
outputs:
  box: {webhook: {url: "http://192.0.2.1/"}}
  other: {webhook: {url: "http://192.0.2.2/"}}
`)
		e, err := New(c, Deps{
			Events: events, Logger: slog.New(slog.DiscardHandler),
			Incidents: func() []telemetry.Incident {
				events.mu.Lock()
				defer events.mu.Unlock()
				return incidents
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{script: events, Engine: e, box: &mailbox{begin: time.Now()}, other: &mailbox{begin: time.Now()}}
		b.wire()
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		time.Sleep(500 * time.Millisecond)

		effect := lost(2)
		effect.Kind = telemetry.EventDropStorm
		b.begin(effect)
		time.Sleep(time.Second)
		b.end(2)
		time.Sleep(2 * time.Second)
		cause := lost(1)
		b.begin(cause)
		events.mu.Lock()
		incidents = []telemetry.Incident{{
			ID: effect.ID, Kind: cause.Kind, Severity: telemetry.Critical, Text: "link 1 is down: 12 flows moved",
			Events: []telemetry.IncidentEvent{{ID: cause.ID}, {ID: effect.ID, Of: cause.ID}},
		}}
		events.mu.Unlock()
		time.Sleep(10 * time.Second)
		b.box.want(t, "9 firing 1")
		if a := b.Alerts(); a[0].Summary != "link 1 is down: 12 flows moved" || a[0].Severity != telemetry.Critical {
			t.Errorf("got %+v", a[0])
		}
		b.end(1)
		time.Sleep(20 * time.Second)
		b.box.want(t, "9 firing 1", "24 resolved 1")
		b.other.want(t, "1 firing 2", "4 firing 1", "12 resolved 2", "24 resolved 1")
		for _, a := range b.Alerts() {
			if a.Resolution != telemetry.AlertEnded {
				t.Errorf("resolved as %s", a.Resolution)
			}
		}

		burst := lost(3) // nothing explains it, and it is over when it is known
		b.begin(burst)
		b.end(3)
		time.Sleep(20 * time.Second)
		b.box.want(t, "9 firing 1", "24 resolved 1", "39 firing 3", "49 resolved 3")
	})
}
