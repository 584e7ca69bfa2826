package eventlog

import (
	"strconv"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An acknowledgement and the latest notes stay with their event: when it is asked again, when the event ends, and over
// a restart.
func TestAcknowledge(t *testing.T) {
	l := New(4)
	fill := func(*telemetry.Event) {}
	l.Note(storm(1), second, second, 5, fill)
	l.Note(storm(2), second, second, 5, fill)
	one := storm(1)
	id := one.ID(second)
	who := telemetry.Acknowledgement{By: "ana", At: time.Unix(7, 0).UTC()}
	if e, ok := l.Acknowledge(id, who); !ok || e.ID != id || *e.Acknowledged != who {
		t.Fatalf("got %+v, %v", e, ok)
	}
	if e, ok := l.Acknowledge(id, telemetry.Acknowledgement{By: "bob"}); !ok || *e.Acknowledged != who {
		t.Errorf("the second got %+v", e.Acknowledged)
	}
	for n := range maxNotes + 1 {
		l.AddNote(id, telemetry.Note{By: "ana", Text: strconv.Itoa(n)})
	}
	l.End(storm(1), 2*second)
	l = logOverRestart(t, l, 4*second)
	var acknowledged []string
	list, _ := l.Events(nil, 10)
	for _, e := range list {
		if e.Acknowledged != nil {
			acknowledged = append(acknowledged, e.ID+" "+e.Acknowledged.By)
		}
	}
	if len(list) != 2 || len(acknowledged) != 1 || acknowledged[0] != id+" ana" {
		t.Errorf("got %v of %d events", acknowledged, len(list))
	}
	e, ok := l.AddNote(id, telemetry.Note{Text: "last"})
	if !ok || len(e.Notes) != maxNotes || e.Notes[0].Text != "2" || e.Notes[maxNotes-2].By != "ana" || e.Notes[maxNotes-1].Text != "last" {
		t.Errorf("got %d notes of %d: %v", len(e.Notes), maxNotes, e.Notes)
	}
	if e, ok := l.TakeBack(id); !ok || e.Acknowledged != nil {
		t.Errorf("taken back: %+v, %v", e, ok)
	}
	if _, ok := l.Acknowledge("nothing", who); ok {
		t.Error("an event that is not there was acknowledged")
	}
}
