package ledger

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// What exporters of a place could not tell is known for a time range: what was lost of their reports, and that nothing
// came. Of a node that reports nothing itself any exporter may be the one.
func TestUnheard(t *testing.T) {
	e := NewExporters(8)
	l := New([]*Exporters{e}, nil, func() map[uint32]string { return map[uint32]string{1: "leaf1"} }, noTables{})
	header := func(node, sequence uint32) telemetry.Header {
		return telemetry.Header{
			Source: netip.AddrFrom4([4]byte{192, 0, 2, byte(node)}), NodeID: node, HasNodeID: true,
			Version: telemetry.Version20, Dialect: "waybill", HasSequence: true, Sequence: sequence,
			Outcome: telemetry.Decoded,
		}
	}
	const second = int64(1e9)
	begin := 1_700_000_000 * second
	for i := range int64(60) {
		now := begin + i*second
		var headers []telemetry.Header
		if i < 22 || i > 23 { // two are lost of node 1
			headers = append(headers, header(1, uint32(i)))
		}
		if i < 30 { // node 2 falls silent
			headers = append(headers, header(2, uint32(i)))
		}
		e.Observe(headers, now)
		l.Tick(now)
	}
	u := l.Unheard()
	for _, c := range []struct {
		nodes    []uint32
		from, to int64 // seconds
		want     string
	}{
		{[]uint32{1}, 5, 8, ""},
		{[]uint32{1}, 21, 25, "leaf1 2 of 10"},
		{[]uint32{1}, 5, 55, "leaf1 2 of 60"},
		{[]uint32{2}, 21, 25, ""},
		{[]uint32{2}, 41, 45, "192.0.2.2 silent"},
		{[]uint32{1, 2}, 41, 45, "192.0.2.2 silent"},
		{[]uint32{3}, 21, 25, "leaf1 2 of 10"}, // others tell of it
		{[]uint32{1, 3}, 41, 60, "192.0.2.2 silent"},
		{nil, 21, 25, ""},
	} {
		got := ""
		list, known := u.Between(c.nodes, begin+c.from*second, begin+c.to*second)
		if !known {
			t.Errorf("%v from %d to %d: it is not known", c.nodes, c.from, c.to)
		}
		for _, one := range list {
			name := one.Name
			if name == "" {
				name = one.Source.String()
			}
			if one.Silent {
				got += name + " silent"
			} else {
				got += fmt.Sprint(name, " ", one.Lost, " of ", one.Sent)
			}
		}
		if got != c.want {
			t.Errorf("%v from %d to %d: got %q, want %q", c.nodes, c.from, c.to, got, c.want)
		}
	}
	// After an hour it is no longer known.
	for i := int64(60); i < 2*3600; i++ {
		e.Observe([]telemetry.Header{header(1, uint32(i))}, begin+i*second)
		l.Tick(begin + i*second)
	}
	u = l.Unheard()
	for from, want := range map[int64]bool{1: false, 3000: false, 4000: true, -20: true} {
		if _, known := u.Between([]uint32{1}, begin+from*second, begin+(from+10)*second); known != want {
			t.Errorf("after %d s: known: %v", from, known)
		}
	}
	if u.Kept(begin+3000*second) || !u.Kept(begin+4000*second) {
		t.Error("not an hour is kept")
	}
}
