package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Reports of GEANT's programs name the sink where the source asked for node ids, and no node elsewhere: all are of one
// exporter, s3.
func TestExporterNamedByItsStack(t *testing.T) {
	for capture, dialect := range map[string]string{
		"geant_v10_head_udp": "geant-int10", "geant_v10_2021_udp": "geant-int10-2021", "geant_v04_udp": "geant-int04",
	} {
		decoder := telemetry.NewDecoder(test.Dialect(t, dialect))
		exporters := ledger.NewExporters(10)
		var batch telemetry.Batch
		for i, frame := range test.Packets(t, capture+"_reports.pcap") {
			d, ok := test.UDP(frame)
			if !ok || d.DstPort >= 6001 && d.DstPort <= 6009 { // copies of user packets, no reports
				continue
			}
			var h [1]telemetry.Header
			batch.Reset()
			decoder.Decode(d.Payload, d.Src, d.DstPort, &batch, &h[0])
			exporters.Observe(h[:], second+int64(i)*millisecond)
		}
		list := exporters.Snapshot(nil)
		if len(list) != 1 || list[0].Node == nil || *list[0].Node != 3 || list[0].Received < 20 ||
			list[0].Lost != nil && *list[0].Lost != 0 {
			t.Errorf("%s: got %+v", capture, list)
		}
	}
}
