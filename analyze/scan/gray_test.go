package scan

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// TestDoubtBeginsNothing: what a link may have lost is a part of an event that goes on, and begins none.
func TestDoubtBeginsNothing(t *testing.T) {
	const second = int64(1e9)
	s := &scan{source: &Source{Known: nothing{}}, log: eventlog.New(100)}
	g, k := &loss.Link{LastNs: 3 * second}, topology.LinkKey{From: 1, To: 2}
	g.Begin(second)
	for range 3 {
		g.Add(loss.Amount{Lost: 100})
	}
	links := loss.Links{k: g}
	s.noteGray(k, g, links, 7)
	g.Doubt(4*second, 5*second)
	s.noteGray(k, g, links, 7)
	events, _ := s.log.Events(func(*telemetry.Event) bool { return true }, 10)
	if len(events) != 1 || events[0].Count != 300 || events[0].Evidence[len(events[0].Evidence)-1].Name != "end_slack" {
		t.Fatalf("got %+v", events)
	}
	s.log.EndQuiet(telemetry.EventGrayFailure, 4*second)
	g.Doubt(6*second, 7*second)
	s.noteGray(k, g, links, 7)
	if events, _ = s.log.Events(func(*telemetry.Event) bool { return true }, 10); len(events) != 1 {
		t.Errorf("got %+v", events)
	}
}
