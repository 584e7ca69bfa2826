package export

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/wire/report"
)

// steady returns an Exporter of each kind and reports for it, which it has taken once.
func steady(t testing.TB, f Format, coalesce bool, batch *Batch) (*Exporter, []Report) {
	t.Helper()
	c := config(f)
	c.Destinations = collectors(2)
	c.DontFragment, c.EntropyPort = false, f != TransparentSecurity
	if coalesce {
		c.CoalesceNs = 1e6
	}
	e, err := New(c, func(d *Datagram) {
		batch.Reset()
		batch.Add(d)
	})
	if err != nil {
		t.Fatal(err)
	}
	reports := make([]Report, 64)
	for i := range reports {
		p := newPacket(uint32(i), false, 4, 64)
		reports[i] = p.report(report.InEthernet)
		reports[i].HWID = uint8(i & 1)
		reports[i].Metadata = report.Metadata{
			Bits: report.MDInterfaces | report.MDHopLatency | report.MDQueue | report.MDIngressTS |
				report.MDEgressTS,
			HopLatency: uint32(i), EgressTS: uint64(i),
		}
	}
	for round := range uint64(4) {
		for i := range reports {
			if err := e.Add(&reports[i], round*1e7); err != nil {
				t.Fatal(err)
			}
		}
	}
	return e, reports
}

func TestNoAllocs(t *testing.T) {
	for _, f := range formats {
		for _, coalesce := range []bool{false, f.groups()} {
			var batch Batch
			e, reports := steady(t, f, coalesce, &batch)
			frame := make([]byte, 0, 2000)
			refused := Report{HWID: 64}
			i, now := 0, uint64(1e9)
			allocs := testing.AllocsPerRun(1000, func() {
				_ = e.Add(&reports[i&63], now)
				_ = e.Add(&refused, now)
				if sent := batch.Datagrams(); len(sent) > 0 {
					frame = e.AppendFrame(frame[:0], &sent[0])
				}
				i++
				now += 1e5
			})
			if allocs != 0 {
				t.Errorf("%s, coalescing %v: got %v allocations, want 0", f, coalesce, allocs)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, f := range formats {
		for _, coalesce := range []bool{false, true} {
			name := f.String()
			if coalesce {
				if name += "/coalesced"; !f.groups() {
					continue
				}
			}
			b.Run(name, func(b *testing.B) {
				var batch Batch
				e, reports := steady(b, f, coalesce, &batch)
				before := e.Stats().Bytes
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					_ = e.Add(&reports[i&63], 1e9+uint64(i)*1000)
					i++
				}
				b.SetBytes(int64(e.Stats().Bytes-before) / int64(max(i, 1)))
			})
		}
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	var batch Batch
	e, _ := steady(b, TR20, false, &batch)
	frame := make([]byte, 0, 2000)
	b.ReportAllocs()
	b.SetBytes(int64(len(batch.Datagrams()[0].Payload)))
	for b.Loop() {
		frame = e.AppendFrame(frame[:0], &batch.Datagrams()[0])
	}
}

// FuzzAdd holds that no report and no configuration stops an Exporter, and that no datagram is larger than the MTU.
func FuzzAdd(f *testing.F) {
	for i := range uint64(8) {
		p := newPacket(uint32(i), i%2 == 0, int(i)-1, int(i*200))
		f.Add(i, uint16(200*i), uint8(i), p.frame)
	}
	f.Fuzz(func(t *testing.T, seed uint64, mtu uint16, kind uint8, fragment []byte) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := config(formats[seed%4])
		c.MTU = max(int(mtu), 128)
		c.DontFragment, c.Domains, c.Truncate = false, testDomains, r.IntN(2)*100
		if c.Format.groups() {
			c.CoalesceNs = r.Uint64N(3)
		}
		e, err := New(c, func(d *Datagram) {
			if len(d.Payload)+28 > c.MTU || d.Reports == 0 {
				t.Fatalf("got %d bytes of payload with %d reports, MTU %d", len(d.Payload), d.Reports, c.MTU)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for now := range uint64(20) {
			about := Report{
				Flow: r.Uint64(), HWID: uint8(r.IntN(65)), Metadata: randomMetadata(r), Kind: kind,
				Fragment: fragment[:r.IntN(len(fragment)+1)], Keep: r.IntN(100) - 10,
				DomainID: 0x1234 * uint16(r.IntN(2)),
				DSMdBits: uint16(r.Uint32()), DSMetadata: fragment[:r.IntN(len(fragment)+1)],
			}
			if err := e.Add(&about, now^r.Uint64N(2)); err != nil {
				if reason, ok := err.(Error); !ok || reason >= NumErrors {
					t.Fatalf("got %v", err)
				}
			}
		}
		e.Drain(20)
		if _, waits := e.Deadline(); waits {
			t.Fatal("got a deadline after Drain")
		}
		refused := uint64(0)
		for _, n := range e.Stats().Refused {
			refused += n
		}
		if s := e.Stats(); s.Reports+refused != 20 {
			t.Fatalf("got %d reports and %d refused of 20", s.Reports, refused)
		}
	})
}
