package main

import (
	"reflect"
	"slices"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/telemetry"
)

// askBursts asks for all bursts that a store has.
func (p *storeProof) askBursts(begin, end time.Time) (list []telemetry.Burst) {
	p.t.Helper()
	q := client.Query{
		Since: begin.Add(-time.Hour).Format(time.RFC3339Nano), Until: end.Format(time.RFC3339Nano),
		Limit: 1000,
	}
	for {
		answer, err := client.Get[client.BurstList](p.t.Context(), p.client, "bursts", q)
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, answer.Bursts...)
		if q.Cursor = answer.Next; q.Cursor == "" {
			return list
		}
	}
}

// compareBursts holds the bursts of the past against the queues of the network, and against their events, which must
// have the same ids, times and packets.
func (p *storeProof) compareBursts(begin, end time.Time, events []telemetry.Event) {
	p.t.Helper()
	bursts := p.askBursts(begin, end)
	list, compared, others := p.truth.BurstDifferences(bursts)
	for i, text := range list {
		if i == 10 {
			p.t.Errorf("and %d more differences", len(list)-i)
			break
		}
		p.t.Error(text)
	}
	p.t.Logf("%d bursts, with who took part, were compared; %d were not wholly reported", compared, others)
	told := map[string]*telemetry.Event{}
	for i := range events {
		if expect.IsBurst(&events[i]) {
			told[events[i].ID] = &events[i]
		}
	}
	if len(told) != len(bursts) {
		p.t.Errorf("%d bursts have %d events", len(bursts), len(told))
	}
	for i := range bursts {
		b := &bursts[i]
		e := told[b.ID]
		if e == nil || !e.Start.Equal(b.Start) || e.End == nil || !e.End.Equal(b.End) || e.Count != b.Packets ||
			(e.Kind == telemetry.EventIncast) != b.Incast {
			p.t.Errorf("burst %+v has the event %+v", b, e)
		}
	}
	for b := range slices.Chunk(bursts, max(len(bursts)/20, 1)) { // some of them
		one, err := client.Item[client.BurstAnswer](p.t.Context(), p.client, "bursts", b[0].ID)
		if err != nil || !reflect.DeepEqual(one.Burst.Burst, b[0]) {
			p.t.Errorf("burst %s: got %+v, want %+v (%v)", b[0].ID, one.Burst.Burst, b[0], err)
		}
	}
}
