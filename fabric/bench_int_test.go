package fabric

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// BenchmarkFabricINT is BenchmarkFabric with INT-MD in every switch: reports are made and counted.
func BenchmarkFabricINT(b *testing.B) {
	s, err := scenario.Load("../scenarios/steady.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for i := range s.Traffic {
		s.Traffic[i].Stop = 1 << 62
	}
	device, err := INTDevices(s)
	if err != nil {
		b.Fatal(err)
	}
	f, err := New(s, Options{Device: device, Reports: &counter{}})
	if err != nil {
		b.Fatal(err)
	}
	run(b, f, time.Second) // fills the network, the pools and the tables
	b.ReportAllocs()
	b.ResetTimer()
	start, hops, reports := f.Now(), f.Stats().Hops, f.Stats().Reports
	for f.Stats().Hops-hops < uint64(b.N) {
		run(b, f, f.Now()+time.Millisecond)
	}
	b.ReportMetric(float64(f.Stats().Hops-hops)/b.Elapsed().Seconds(), "hops/s")
	b.ReportMetric(float64(f.Stats().Reports-reports)/float64(f.Stats().Hops-hops), "reports/hop")
	b.ReportMetric((f.Now()-start).Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
}
