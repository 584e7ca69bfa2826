package fabric

import (
	"io"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// trailers is a Device that costs what any does: packets get longer at each switch, and shorter at the last one, which
// reports.
type trailers struct {
	host []bool // by port
}

func newTrailers(spec NodeSpec) (Device, error) {
	d := &trailers{host: make([]bool, len(spec.Ports)+1)}
	for _, p := range spec.Ports {
		d.host[p.ID] = p.Host
	}
	return d, nil
}

func (*trailers) Arrive([]byte, *PacketState) Verdict { return Verdict{} }

func (d *trailers) Depart(s *PacketState, q *Queued, out *Departure) {
	if !d.host[q.Port] {
		out.Frame = append(out.Frame, make([]byte, 12)...)
		return
	}
	out.Add(out.Frame[:min(len(out.Frame), 128)])
	if !d.host[s.Port] {
		out.Frame = out.Frame[:len(out.Frame)-2*12]
	}
}

func (*trailers) Drop(*PacketState, *Dropped, *Reports) {}
func (*trailers) Tick(uint64, *Reports)                 {}
func (*trailers) Close(uint64, *Reports)                {}

// BenchmarkFabric emulates a leaf-spine fabric of 8 leaves, 4 spines and 64 hosts. One operation is one packet at one
// switch; virtual-s/s says how many seconds of virtual time go by in one of wall time.
func BenchmarkFabric(b *testing.B) {
	for _, bench := range []struct {
		name    string
		options Options
	}{
		{"plain", Options{}},
		{"truth", Options{Truth: io.Discard}},
		{"device", Options{Device: newTrailers, Reports: &counter{}}},
		{"device+truth", Options{Device: newTrailers, Reports: &counter{}, Truth: io.Discard}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s, err := scenario.Load("../scenarios/steady.yaml")
			if err != nil {
				b.Fatal(err)
			}
			for i := range s.Traffic {
				s.Traffic[i].Stop = 1 << 62
			}
			f, err := New(s, bench.options)
			if err != nil {
				b.Fatal(err)
			}
			run(b, f, time.Second) // fills the network, the pools and the tables
			b.ReportAllocs()
			b.ResetTimer()
			start, hops := f.Now(), f.Stats().Hops
			for f.Stats().Hops-hops < uint64(b.N) {
				run(b, f, f.Now()+time.Millisecond)
			}
			b.ReportMetric(float64(f.Stats().Hops-hops)/b.Elapsed().Seconds(), "hops/s")
			b.ReportMetric((f.Now()-start).Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
		})
	}
}
