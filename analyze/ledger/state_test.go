package ledger

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// overRestart returns a ledger with the state of another, after it was written and read.
func overRestart(t *testing.T, r *socketRig, savedNs, nowNs int64) *socketRig {
	t.Helper()
	text, err := json.Marshal(r.State(savedNs))
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again := newSocketRig()
	left := again.Restore(&s, nowNs,
		func(listen string, _ netip.Addr) (int, bool) { return 0, listen == "udp://:8555" })
	if left != 0 {
		t.Errorf("%d accounts were left out", left)
	}
	return again
}

// Accounts, intervals and reasons come back as they were; the numbers that went by in between are lost.
func TestStateLedger(t *testing.T) {
	for _, version := range []telemetry.Version{telemetry.Version05, telemetry.Version10, telemetry.Version20} {
		r := newSocketRig()
		mask := ^uint32(0) >> (32 - version.SequenceBits())
		first := mask - 10 // it wraps while nobody receives
		for i := range uint32(8) {
			h := header(version, 7, first+i)
			if i == 3 {
				h.Outcome, h.Reason, h.Reports = telemetry.Malformed, wire.ErrTruncatedFixedHeader, 0
			}
			if i != 5 {
				r.observe((100+int64(i))*second, h)
			}
			r.drops = 1
		}
		r.observe(108*second, header(version, 7, first+6)) // a duplicate
		r.Tick(108 * second)
		before := r.check(t, 109*second)
		again := overRestart(t, r, 109*second, 200*second)
		if got := again.check(t, 200*second); fmt.Sprint(lossText(&got.LossCount),
			got.Malformed) != fmt.Sprint(lossText(&before.LossCount), before.Malformed) {
			t.Errorf("got %+v, want %+v", got, before)
		}
		again.observe(201*second, header(version, 7, (first+5)&mask)) // late, lost before
		again.observe(201*second, header(version, 7, (first+100)&mask), header(version, 7, (first+101)&mask))
		x := again.check(t, 202*second)
		if got, want := lossText(&x.LossCount),
			"sent 102 arrived 10 lost 92 late 1 duplicate 1 reordered 1 received 11"; got != want || *x.Away != 92 {
			t.Errorf("version %v: got %s, %d away, want %s", version, got, *x.Away, want)
		}
		if f := x.Fate; f.Reports != 3 || f.Waiting != 3 || x.Intervals[0].Fate != nil ||
			x.Intervals[1].Fate.Reports != 3 {
			t.Errorf("tables began anew: %+v", f)
		}
		before.Intervals[0].Fate = nil
		if len(x.Intervals) != 2 || !reflect.DeepEqual(x.Intervals[0].LossCount, before.Intervals[0].LossCount) ||
			x.Intervals[0].Open {
			t.Errorf("intervals: %+v", x.Intervals)
		}
		a := again.Loss(Query{Intervals: true}, 202*second)
		if len(a.Gaps) != 1 || a.Gaps[0].From.UnixNano() != 109*second || a.Gaps[0].To.UnixNano() != 200*second {
			t.Errorf("gaps: %+v", a.Gaps)
		}
		if s := a.Sockets[0]; *s.KernelDrops != 1 || *s.Intervals[0].KernelDrops != 1 || a.Tables.Reports != 3 {
			t.Errorf("socket: %+v, tables: %+v", s, a.Tables)
		}
		if c := Completeness(again.exporters, again.names()); c.Sent != 2 || c.Lost != 0 {
			t.Errorf("completeness is about the tables, which began anew, without what went by before: %+v", c)
		}
	}
}

// An exporter that begins anew while nobody receives has a restart, and no loss.
func TestStateExporterRestarted(t *testing.T) {
	r := newSocketRig()
	for n := range uint32(5000) {
		r.observe(100*second, header(telemetry.Version20, 7, n))
	}
	again := overRestart(t, r, 101*second, 200*second)
	for n := uint32(0); n < 10; n++ {
		again.observe(201*second, header(telemetry.Version20, 7, n))
	}
	if x := again.check(t, 202*second); *x.Sent != 5010 || *x.Lost != 0 || x.Restarted != 1 || *x.Away != 0 {
		t.Errorf("got %s, restarted %d, away %d", lossText(&x.LossCount), x.Restarted, *x.Away)
	}
}
