package collect

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"golang.org/x/sys/unix"
)

// liveSender returns a function that sends n copies of a frame out of an interface, single frames as from another
// machine: a test run that redirects live frames, which takes a hundred nanoseconds for each.
func liveSender(b *testing.B, name string, frame []byte) func(n int) {
	inter, err := net.InterfaceByName(name)
	if err != nil {
		b.Fatal(err)
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, int32(inter.Index)),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { program.Close() })
	return func(n int) {
		_, err := program.Run(&ebpf.RunOptions{
			Data: frame, Repeat: uint32(n), Flags: unix.BPF_F_TEST_XDP_LIVE_FRAMES,
			Context: struct{ Data, End, Meta, Ingress, Queue, Egress uint32 }{End: uint32(len(frame)), Ingress: 1},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Verdicts of programs.
const (
	xdpDrop = 1
	xdpPass = 2
)

// count attaches the quickest program to an interface, which counts and has one verdict.
func count(b *testing.B, name string, verdict int32) (counted func() uint64, detach func()) {
	inter, err := net.InterfaceByName(name)
	if err != nil {
		b.Fatal(err)
	}
	counter, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		b.Fatal(err)
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.LoadMapValue(asm.R1, counter.FD(), 0),
		asm.Mov.Imm(asm.R2, 1),
		asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R0, verdict),
		asm.Return(),
	}})
	if err != nil {
		b.Fatal(err)
	}
	attached, err := link.AttachXDP(link.XDPOptions{
		Program: program, Interface: inter.Index, Flags: link.XDPDriverMode,
	})
	if err != nil {
		b.Fatal(err)
	}
	return func() (n uint64) {
			if err := counter.Lookup(uint32(0), &n); err != nil {
				b.Fatal(err)
			}
			return n
		}, func() {
			attached.Close()
			program.Close()
			counter.Close()
		}
}

// BenchmarkFrames sends single frames with a report over veth, by turns to a program that drops them, and to sockets of
// each kind, of which one goroutine reads and decodes them. ratio is how many were received a second, of what the
// program dropped in one; kept is how much of all was received: the rest is counted as dropped. Where others use the
// machine, cpu-ns/report says more: the processor time that the reader takes.
func BenchmarkFrames(b *testing.B) {
	frames, rounds := 1_000_000, 5
	if test.Once() {
		frames, rounds = 50_000, 1
	}
	for _, network := range []string{"udp", networkXDP, networkPacket} {
		b.Run(network, func(b *testing.B) {
			inNetwork(b)
			report := string(test.Report(test.Form20MD, 7, 9, 4))
			frame := udpFrame(false, 8555, report, nil)
			if len(frame) < 200 || len(frame) > 300 {
				b.Fatal(len(frame))
			}
			send := liveSender(b, "wa", frame)
			var ratios, kept, times []float64
			for b.Loop() {
				for range rounds {
					dropped, detach := count(b, "wb", xdpDrop)
					start := time.Now()
					send(frames)
					floor := float64(dropped()) / time.Since(start).Seconds()
					detach()
					rate, share, took := receiveFrames(b, network, frames, send)
					ratios, kept, times = append(ratios, rate/floor), append(kept, share), append(times, took)
				}
			}
			slices.Sort(ratios)
			slices.Sort(kept)
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "cpu-ns/report")
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(kept[len(kept)/2], "kept")
		})
	}
}

// receiveFrames returns how many frames a second were received, how many of all, and the processor time for each.
func receiveFrames(b *testing.B, network string, frames int, send func(n int)) (rate, share, cpuNs float64) {
	address := network + "://wb:8555"
	if network == "udp" {
		address = "192.0.2.2:8555"
	}
	if network != networkXDP { // veth takes frames from programs if it has one
		_, detach := count(b, "wb", xdpPass)
		defer detach()
	}
	s, err := Listen(Config{Address: address, Coalesce: true})
	if err != nil || s[0].Fallback() != nil {
		b.Fatal(err, s[0].Fallback())
	}
	var received int
	var last time.Time
	var before, after unix.Rusage
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		batch := NewBatch(DefaultBatchSize)
		points := codepoint.New()
		if err := points.Set("int_udp_port", test.INTPort); err != nil {
			done <- err
			return
		}
		points.Compile()
		decoder := telemetry.NewDecoder(points)
		var reports telemetry.Batch
		var h telemetry.Header
		_ = unix.Getrusage(unix.RUSAGE_THREAD, &before)
		for {
			n, err := s[0].ReadBatch(batch)
			if err != nil {
				_ = unix.Getrusage(unix.RUSAGE_THREAD, &after)
				done <- err
				return
			}
			reports.Reset()
			for i := range n {
				d := batch.Datagram(i)
				decoder.Decode(d.Payload, d.Source, 8555, &reports, &h)
			}
			if h.Outcome != telemetry.Decoded || len(reports.Reports) != n {
				done <- fmt.Errorf("%d reports in %d datagrams: %v", len(reports.Reports), n, h.Reason)
				return
			}
			received, last = received+n, time.Now()
		}
	}()
	start := time.Now()
	send(frames)
	_ = s[0].SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		b.Fatal(err)
	}
	drops, err := s[0].Drops()
	if err != nil || received == 0 || received+int(drops) > frames {
		b.Fatal(received, drops, err)
	}
	s[0].Close()
	seconds := math.Max(last.Sub(start).Seconds(), 1e-9)
	spent := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	return float64(received) / seconds, float64(received) / float64(frames), float64(spent) / float64(received)
}
