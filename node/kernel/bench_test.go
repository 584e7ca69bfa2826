//go:build linux

package kernel

import (
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
)

// BenchmarkReports is what a report takes of a processor, from the ring buffer of the kernel to a socket of UDP: one in
// a datagram, or several.
func BenchmarkReports(b *testing.B) {
	for _, row := range []struct{ name, text string }{
		{"one", ""}, {"coalesced", "  reports: {coalesce: 1ms}\n"},
	} {
		b.Run(row.name, func(b *testing.B) { benchmarkReports(b, row.text) })
	}
}

func benchmarkReports(b *testing.B, text string) {
	const packets = 4000 // for which the ring has room
	n := newNetwork(b)
	collector, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer collector.Close() // nobody reads: what is full drops
	config, err := Parse([]byte(`name: s1
id: 1
ports: [{interface: l, edge: true, clone: false}, {interface: r}]
int:
  mode: xd
  watch: [{report_all: true, protocol: udp}]
` + text))
	if err != nil {
		b.Fatal(err)
	}
	config.Collectors = append(config.Collectors, collector.LocalAddr().(*net.UDPAddr).AddrPort())
	own, err := New(config)
	if err != nil {
		b.Fatal(err)
	}
	defer own.Close()
	n.in(1, own.Attach)
	from, to := n.dial(host4, 6001)
	defer from.Close()
	defer to.Close()
	runtime.LockOSThread() // and ends with it
	var took time.Duration
	for b.Loop() {
		b.StopTimer()
		for range packets {
			if _, err := from.Write(make([]byte, 200)); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		began := processorTime(b)
		for more := true; more; {
			if more, err = own.read(time.Now()); err != nil {
				b.Fatal(err)
			}
		}
		own.reporter.Node.Tick(uint64(time.Now().Add(time.Second).UnixNano()), &own.output)
		own.send()
		took += processorTime(b) - began
	}
	reports := own.reporter.Node.Stats().Count[node.Reported]
	b.ReportMetric(float64(took.Nanoseconds())/float64(reports), "ns/report")
	b.ReportMetric(float64(own.sent)/float64(reports), "datagrams/report")
	b.ReportMetric(0, "ns/op")
}

// processorTime returns what this thread has taken of processors, in the kernel too.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}
