package export

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/wire/report"
)

// A Batch keeps what the Exporter overwrites.
func TestBatchKeepsDatagrams(t *testing.T) {
	var batch Batch
	var want [][]byte
	e, err := New(config(TR20), func(d *Datagram) {
		batch.Add(d)
		want = append(want, bytes.Clone(d.Payload))
	})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		batch.Reset()
		want = want[:0]
		for i := range uint32(100) { // more than the first block
			p := newPacket(i, false, 0, 1300)
			if err := e.Add(new(p.report(report.InEthernet)), 0); err != nil {
				t.Fatal(err)
			}
		}
		if len(batch.Datagrams()) != 100 {
			t.Fatalf("got %d datagrams, want 100", len(batch.Datagrams()))
		}
		for i, d := range batch.Datagrams() {
			if !bytes.Equal(d.Payload, want[i]) || d.Sequence != uint32(round*100+i) {
				t.Errorf("round %d, datagram %d: got sequence %d, %x", round, i, d.Sequence, d.Payload[:20])
			}
		}
	}
}
