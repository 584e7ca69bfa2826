package dissect

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/wire/inband"
)

// TestRecordsAgreeWithLayouts reads random hop records by the tables here and by the layouts of package inband, which a
// collector uses: the values and what is not available must be the same.
func TestRecordsAgreeWithLayouts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := walk{profile: config(t).For(noAddr, 0, 0)}
	for _, format := range []inband.Format{
		inband.Format2016, inband.Format05, inband.Format05Long, inband.Format10, inband.Format10Long, inband.Format20,
	} {
		for range 2000 {
			bitmap := uint16(random.Uint32())
			layout := inband.NewLayout(format, bitmap)
			data := make([]byte, layout.Len())
			for i := range data {
				data[i] = byte(random.Uint32())
				if random.IntN(2) == 0 {
					data[i] = 0xff
				}
			}
			var m inband.Metadata
			layout.Decode(data, &m)
			r := w.newRecord(data, 0)
			w.hop(&r, bitmap, instructionsOf(format), nil)
			if r.at != 8*len(data) {
				t.Fatalf("format %d, bitmap %04x: read %d of %d bits", format, bitmap, r.at, 8*len(data))
			}
			compareMetadata(t, format, &m, r.b.fields)
		}
	}
}

func compareMetadata(t *testing.T, format inband.Format, m *inband.Metadata, hop Object) {
	t.Helper()
	for _, v := range []struct {
		bit   inband.Fields
		value uint64
		names []string
	}{
		{inband.NodeID, uint64(m.NodeID), []string{"node_id", "switch_id"}},
		{inband.L1Ingress, uint64(m.L1Ingress), []string{"l1_ingress", "ingress_port_id"}},
		{inband.L1Egress, uint64(m.L1Egress), []string{"l1_egress", "egress_port_id"}},
		{inband.HopLatency, uint64(m.HopLatency), []string{"hop_latency"}},
		{inband.QueueOccupancy, uint64(m.QueueOccupancy), []string{"queue_occupancy"}},
		{inband.QueueCongestion, uint64(m.QueueCongestion), []string{"queue_congestion"}},
		{inband.IngressTS, m.IngressTS, []string{"ingress_ts"}},
		{inband.EgressTS, m.EgressTS, []string{"egress_ts"}},
		{inband.L2Ingress, uint64(m.L2Ingress), []string{"l2_ingress"}},
		{inband.L2Egress, uint64(m.L2Egress), []string{"l2_egress"}},
		{inband.EgressTxUtil, uint64(m.EgressTxUtil), []string{"egress_tx_util"}},
		{inband.BufferID, uint64(m.BufferID), []string{"buffer_id"}},
		{inband.BufferOccupancy, uint64(m.BufferOccupancy), []string{"buffer_occupancy"}},
		{inband.Complement, uint64(m.Complement), []string{"checksum_complement"}},
	} {
		var f *Field
		for _, name := range v.names {
			if found := hop.Find(name); found != nil {
				f = found
			}
		}
		if has := m.Has&v.bit != 0; has != (f != nil) {
			t.Fatalf("format %d: %v: got %v, want %v", format, v.names, f != nil, has)
		}
		if f == nil {
			continue
		}
		if f.Number() != v.value || (f.Meaning == NotAvailable) != (m.Invalid&v.bit != 0) {
			t.Fatalf("format %d: got %+v, want %d, not available: %v", format, f, v.value, m.Invalid&v.bit != 0)
		}
	}
}
