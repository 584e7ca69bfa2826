package telemetry_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A batch copies the datagrams of reports that show something, or of all if it is asked to; once for the reports of
// one.
func TestBatchKeepsDatagrams(t *testing.T) {
	one, two := bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 5000)
	reports := []telemetry.Report{
		{Datagram: one},
		{Datagram: one, Flags: telemetry.HopLimit},
		{Datagram: two, Flags: telemetry.MTUExceeded},
		{Datagram: two, Flags: telemetry.Dropped},
	}
	var batch telemetry.Batch
	fill := func() {
		batch.Reset()
		for i := range reports {
			batch.Add(&reports[i])
		}
	}
	for _, all := range []bool{false, true} {
		batch.KeepDatagrams = all
		fill()
		for i, want := range [][]byte{one, one, two[:telemetry.MaxDatagram], two[:telemetry.MaxDatagram]} {
			got := batch.Reports[i].Datagram
			if !all && (i == 0 || i == 3) {
				want = nil
			}
			if !slices.Equal(got, want) || cap(got) != len(got) {
				t.Errorf("all %v: report %d: got %d bytes, want %d", all, i, len(got), len(want))
			}
			if len(got) > 0 && &got[0] == &reports[i].Datagram[0] {
				t.Errorf("all %v: report %d: a view, not a copy", all, i)
			}
		}
		if all && &batch.Reports[0].Datagram[0] != &batch.Reports[1].Datagram[0] {
			t.Error("reports of one datagram have two copies")
		}
		if n := testing.AllocsPerRun(100, fill); n != 0 {
			t.Errorf("all %v: got %v allocations, want 0", all, n)
		}
	}
}

// Bytes are hex in JSON, and read back.
func TestHex(t *testing.T) {
	text, err := json.Marshal(telemetry.Hex{0, 0xab})
	if err != nil || string(text) != `"00ab"` {
		t.Errorf("got %s, %v", text, err)
	}
	var back telemetry.Hex
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, telemetry.Hex{0, 0xab}) {
		t.Errorf("got %v, %v", back, err)
	}
	if json.Unmarshal([]byte(`"0x"`), &back) == nil {
		t.Error("that is no hex")
	}
}
