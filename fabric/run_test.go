package fabric

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopacket/gopacket/pcapgo"
)

// With a pace, what happens at a moment of virtual time happens no earlier on the wall clock, and soon after.
func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, reports := time.Now(), 0
		device := &fixed{depart: func(_ *PacketState, q *Queued, out *Departure) {
			reports++
			late := time.Since(start) - time.Duration(q.DepartedNs-1e18-800)
			if late < 0 || late > time.Millisecond {
				t.Errorf("a packet %v after its time", late)
			}
		}}
		f := newFabric(t, lineUDP, Options{Device: on("s2", device), EpochNs: 1e18, Pace: RealTime()})
		run(t, f, 250*time.Millisecond)
		if took := time.Since(start); took < 250*time.Millisecond || took > 252*time.Millisecond || reports == 0 {
			t.Errorf("took %v, %d packets", took, reports)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := f.Run(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// Run ends with its context, also when it does not wait.
func TestRunCancelled(t *testing.T) {
	f := newFabric(t, lineUDP, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// full is a file without room.
type full struct{}

func (full) Write([]byte) (int, error)                { return 0, io.ErrShortWrite }
func (full) Frame(string, bool, uint64, []byte) error { return io.ErrShortWrite }

// An error of writing ends the run.
func TestWriteErrors(t *testing.T) {
	device := on("s2", &fixed{depart: func(_ *PacketState, _ *Queued, out *Departure) { out.Add(out.Frame) }})
	for name, o := range map[string]Options{
		"truth":   {Truth: full{}},
		"reports": {Device: device, Reports: &counter{err: io.ErrShortWrite}},
		"capture": {Tap: full{}},
	} {
		f := newFabric(t, lineUDP, o)
		err := f.Run(t.Context(), time.Second)
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: Run: %v", name, err)
		}
		if err := f.Close(); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
}

// Nothing is allocated for a packet when the network is full.
func TestNoAllocs(t *testing.T) {
	f := newFabric(t, twoSpines,
		Options{Truth: io.Discard, Reports: &counter{}, Device: func(NodeSpec) (Device, error) {
			return &fixed{depart: func(_ *PacketState, _ *Queued, out *Departure) { out.Add(out.Frame) }}, nil
		}})
	run(t, f, 100*time.Millisecond)
	if n := testing.AllocsPerRun(10, func() { run(t, f, f.Now()+10*time.Millisecond) }); n > 0 {
		t.Errorf("%v allocations for 70 hops", n)
	}
}

// reportFrame returns a report as a device makes it.
func reportFrame(t testing.TB, source string, v6 bool, length int) []byte {
	fl := flowOf(t, shape{udp: true, port: 8555}, v6)
	fl.src.v4 = [4]byte(net.ParseIP(source).To4())
	return fl.build(make([]byte, 0, 2000), &segment{length: length}, 1)
}

func TestPcapSink(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.pcap")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewPcapSink(file)
	if err != nil {
		t.Fatal(err)
	}
	report := reportFrame(t, "10.255.0.1", false, 100)
	if err := s.Report(1e18+7, report); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	if file, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := pcapgo.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	got, info, err := r.ReadPacketData()
	if err != nil || string(got) != string(report) || info.Timestamp.UnixNano() != 1e18+7 {
		t.Errorf("%v at %v: %x", err, info.Timestamp, got)
	}
}

// Reports reach a collector as datagrams; each switch has a source address.
func TestUDPSink(t *testing.T) {
	collector, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	s, err := NewUDPSink(collector.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := make([]byte, 2000)
	for i, source := range []string{"10.255.0.1", "10.255.0.2", "10.255.0.1"} {
		frame := reportFrame(t, source, false, 100+i)
		if err := s.Report(0, frame); err != nil {
			t.Fatal(err)
		}
		n, from, err := collector.ReadFromUDP(b)
		if err != nil || n != 100+i || "10"+from.IP.String()[3:] != source || string(b[:n]) != string(frame[42:]) {
			t.Errorf("%d bytes from %v, %v", n, from, err)
		}
	}
	if err := s.Report(0, reportFrame(t, "10.255.0.1", true, 50)); err != nil {
		t.Error(err)
	}
	if n, _, err := collector.ReadFromUDP(b); n != 50 || err != nil {
		t.Errorf("IPv6: %d bytes, %v", n, err)
	}
	for _, frame := range [][]byte{nil, make([]byte, 60), reportFrame(t, "10.0.0.1", false, 20)[:50]} {
		if err := s.Report(0, frame); err == nil {
			t.Errorf("took %x", frame)
		}
	}
	if sent, failed, last := s.Sent(); sent != 4 || failed != 0 || last != nil {
		t.Errorf("%d sent, %d failed, %v", sent, failed, last)
	}
}

// A collector that is not there is counted and does not end the run.
func TestUDPSinkWithoutCollector(t *testing.T) {
	s, err := NewUDPSink("127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 100 {
		if err := s.Report(0, reportFrame(t, "10.255.0.1", false, 10)); err != nil {
			t.Fatal(err)
		}
		if _, failed, last := s.Sent(); failed > 0 {
			if !strings.Contains(last.Error(), "refused") {
				t.Errorf("failed: %v", last)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Skip("something listens on port 9, or the system does not say that nothing does")
}

func TestSinks(t *testing.T) {
	a, b := &counter{}, &counter{err: io.ErrShortWrite}
	all := Sinks{a, b}
	if err := all.Report(1, nil); !errors.Is(err, io.ErrShortWrite) || a.count != 1 || b.count != 1 {
		t.Errorf("%v, %d and %d reports", err, a.count, b.count)
	}
	if err := all.Flush(); err != nil || a.flushed != 1 || b.flushed != 1 {
		t.Errorf("%v, flushed %d and %d times", err, a.flushed, b.flushed)
	}
}

func TestUDPSinkBadAddress(t *testing.T) {
	if _, err := NewUDPSink("nowhere"); err == nil {
		t.Error("no error")
	}
}
