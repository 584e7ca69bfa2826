package burst

import (
	"fmt"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// quietSamples returns samples of packets that come to queues, one every 500 ns in all, and find few before them, in
// the order in which reports come: some are late by the time of ten others.
func quietSamples(queues int) (samples []Sample, lengthNs uint64) {
	each := max(65536/queues, 64)
	stepNs := uint64(500 * max(queues, 2))
	for i := range uint64(each) {
		for q := range uint32(queues) {
			in := 1e9 + i*stepNs + uint64(q)*500
			if i%8 == 0 {
				in -= 9*stepNs + 1
			}
			samples = append(samples, Sample{
				Node: 1 + q/32, Port: q % 32, Has: SampleIn | SampleOut | SampleDepth, InNs: in,
				OutNs: in + 800 + i%7*100,
				Depth: uint32(i%7) * 100, Unit: codepoint.UnitBytes,
				Bytes: 1000, Flow: FlowRef(i % 16), Source: uint32(i % 16), Packet: i,
				Every: 1,
			})
		}
	}
	return samples, uint64(each) * stepNs
}

func BenchmarkBurstsObserve(b *testing.B) {
	for _, queues := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("queues=%d", queues), func(b *testing.B) {
			samples, lengthNs := quietSamples(queues)
			bursts := NewSearch(DefaultConfig())
			i := 0
			observe := func() {
				if i == len(samples) {
					i = 0
				}
				s := &samples[i]
				bursts.Observe(s)
				s.InNs += lengthNs // the same again, later
				s.OutNs += lengthNs
				if i++; i%20_000 == 0 { // 10 ms
					bursts.Advance(int64(s.InNs))
				}
			}
			for range 4_000_000 { // 2 s: all queues have the room that they need
				observe()
			}
			b.ReportAllocs()
			for b.Loop() {
				observe()
			}
			if c := bursts.Counters(); c.Late+c.Stray+c.Overflow+c.Bursts+c.Early > 0 {
				b.Errorf("%+v", c)
			}
		})
	}
}
