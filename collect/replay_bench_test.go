package collect

import (
	"strconv"
	"testing"
)

// BenchmarkReplayRate sends for a quarter of a second; one operation is that. It reports the rate and how far it is
// off.
func BenchmarkReplayRate(b *testing.B) {
	sockets, err := Listen(Config{Address: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer sockets[0].Close() // nobody reads: that is the receiver's time, not the sender's
	for _, rate := range []float64{1000, 10_000, 50_000, 100_000, 200_000, 0} {
		name := "max"
		count := 250_000
		if rate > 0 {
			name = strconv.FormatFloat(rate, 'f', 0, 64)
			count = int(rate / 4)
		}
		b.Run(name, func(b *testing.B) {
			replay := Replay{
				Address:  sockets[0].Addr().String(),
				Payloads: Payloads([][]byte{make([]byte, reportSize)}),
				Rate:     rate,
				Loops:    count,
			}
			var sum Summary
			for b.Loop() {
				summary, err := replay.Run(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				sum.Sent += summary.Sent
				sum.Elapsed += summary.Elapsed
			}
			b.ReportMetric(sum.Rate(), "datagrams/s")
			if rate > 0 {
				b.ReportMetric((sum.Rate()/rate-1)*100, "%off")
			}
		})
	}
}
