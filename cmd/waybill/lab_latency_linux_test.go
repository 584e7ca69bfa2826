package main

import (
	"bytes"
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/lab"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// latencyScenario has flows of both versions of IP, and a queue that they wait in. Nothing is lost.
const latencyScenario = `
duration: 2s
topology:
  leaf_spine:
    {leaves: 2, spines: 2, hosts: 2, host_link: {rate: 20M}, fabric_link: {rate: 40M}}
switch: {buffer: 4MB}
truth: {sample_packets: 1}
traffic:
  - {constant: {from: h1, to: h3}, transport: udp, rate: 2M, packet: 500, port: 6001}
  - {constant: {from: h2, to: h4}, transport: udp, rate: 2M, packet: 500, port: 6002, ip: "6"}
  - {incast: {senders: [h1, h2, h3], to: h4, bytes: 80kB}, transport: udp, start: 500ms, port: 9000, ip: mixed}
`

// TestLabLatency compares the times that nodes take of a packet with those of captures around them, of each packet at
// each hop. A capture where a packet comes in stands between XDP and tcx, one where it leaves behind tcx: whatever the
// speed of the machine, the four times have that order, and the capture at the other end of the link is before them.
func TestLabLatency(t *testing.T) {
	if test.RaceDetector {
		t.Skip("captures do not keep up with it")
	}
	needLab(t)
	modes := []string{"md", "mx", "xd"}
	chosen, all := test.Seed(t)
	for i, mode := range modes {
		if !all && uint64(i) != chosen%uint64(len(modes)) {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			for try := 1; !proveLatency(t, mode); try++ {
				if try == 5 {
					t.Fatal("the machine was too busy for captures")
				}
			}
		})
	}
}

// A hopPlace is where packets of a flow pass a node.
type hopPlace struct {
	flow string
	node uint32
}

// hopTimes are those of a packet at a node, of node or capture.
type hopTimes struct{ in, out, before int64 } // before: left the node in front, by a capture; 0: came from a host

// proveLatency is false if the machine was so busy that something was missed.
func proveLatency(t *testing.T, mode string) bool {
	text := "watch: [{report_all: true}]\ndrops: []\nqueues: []\nmode: " + mode + "\n"
	s, err := scenario.Parse("lab.yaml", []byte(latencyScenario))
	if err != nil {
		t.Fatal(err)
	}
	s.INT = scenario.Raw{Text: []byte(text)}
	to, reports := collectReports(t, text)
	var written bytes.Buffer
	l, err := lab.New(s, lab.Options{
		Reports: to, Truth: &written, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err = l.Start(t.Context()); err == nil {
		err = l.Run(t.Context(), nil)
	}
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	sum := l.Summary()
	list := reports()
	lost := sum.Nodes["kernel_ring_full"] + sum.Nodes["kernel_overwritten"]
	if len(sum.Doubts) > 0 || lost > 0 || len(sum.Packets.Dropped) > 0 {
		t.Logf("again: captures %v, nodes missed %d events, dropped %v", sum.Doubts, lost, sum.Packets.Dropped)
		return false
	}
	w := readTruth(t, &written)
	want, have := map[hopPlace][]hopTimes{}, map[hopPlace][]hopTimes{}
	for _, hops := range w.hops {
		slices.SortFunc(hops, func(a, b *truth.Hop) int { return cmp.Compare(a.Hop, b.Hop) })
		for i, h := range hops {
			one := hopTimes{in: int64(h.InClock), out: int64(h.OutClock)}
			if i > 0 {
				one.before = int64(hops[i-1].OutClock)
			}
			at := hopPlace{w.name(h.Flow), h.Node}
			want[at] = append(want[at], one)
		}
	}
	for i := range list {
		r := &list[i]
		endpoints := telemetry.EndpointsOf(&r.Flow)
		flow := nameOf(&endpoints)
		for _, h := range append(slices.Clone(r.Hops), r.Local) {
			const full = telemetry.HasLatency | telemetry.HasIngressTime | telemetry.HasEgressTime
			if h.Has&full != full {
				t.Fatalf("a hop without times: %+v of %+v", h, r)
			}
			if h.LatencyNs != h.EgressNs-h.IngressNs {
				t.Errorf("latency %d, from %d to %d", h.LatencyNs, h.IngressNs, h.EgressNs)
			}
			at := hopPlace{flow, cmp.Or(h.NodeID, r.NodeID)}
			have[at] = append(have[at], hopTimes{in: int64(h.IngressNs), out: int64(h.EgressNs)})
		}
	}
	var captured, told, arriving, leaving []time.Duration
	for at, want := range want {
		have := have[at]
		if len(have) != len(want) {
			t.Errorf("%s at node %d: %d reports of %d packets", at.flow, at.node, len(have), len(want))
			continue
		}
		for _, some := range [][]hopTimes{want, have} { // a queue is first in, first out
			slices.SortFunc(some, func(a, b hopTimes) int {
				return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out))
			})
		}
		for i, w := range want {
			h := have[i]
			if h.in < w.before || h.in > w.in || h.out < w.in || h.out > w.out {
				t.Errorf("%s at node %d, packet %d: left the node before at %d, came at %d, by a capture at %d, "+
					"left at %d, by a capture at %d, want that order",
					at.flow, at.node, i, w.before, h.in, w.in, h.out, w.out)
			}
			captured = append(captured, time.Duration(w.out-w.in))
			told = append(told, time.Duration(h.out-h.in))
			arriving = append(arriving, time.Duration(w.in-h.in))
			leaving = append(leaving, time.Duration(w.out-h.out))
		}
	}
	if len(have) != len(want) || len(told) == 0 {
		t.Errorf("reports of %d flows and nodes, want %d", len(have), len(want))
	}
	t.Logf("%d hops", len(told))
	for _, d := range []struct {
		name string
		list []time.Duration
	}{
		{"latency by captures", captured},
		{"latency by nodes", told},
		{"from XDP to the capture", arriving},
		{"from tcx to the capture", leaving},
	} {
		slices.Sort(d.list)
		if n := len(d.list); n > 0 {
			t.Logf("%s: median %v, 99 %% below %v, longest %v", d.name, d.list[n/2], d.list[n*99/100], d.list[n-1])
		}
	}
	return true
}

// collectReports listens for reports; those that came by then are read when nodes have ended.
func collectReports(t *testing.T, text string) (netip.AddrPort, func() []telemetry.Report) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	wrong := raw.Control(func(fd uintptr) { // room for all: they are read at the end
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 256<<20)
	})
	domain, failed := node.Load([]byte(text))
	if err := errors.Join(err, wrong, failed); err != nil {
		t.Fatal(err)
	}
	config := codepoint.New()
	if config.Points, err = domain.CodePoints(); err != nil {
		t.Fatal(err)
	}
	config.Compile()
	decoder := telemetry.NewDecoder(config)
	return conn.LocalAddr().(*net.UDPAddr).AddrPort(), func() (all []telemetry.Report) {
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond)) // what was sent over the loopback is there
		for b := make([]byte, 65536); ; {
			size, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return all
			}
			var batch telemetry.Batch
			var h telemetry.Header
			if decoder.Decode(bytes.Clone(b[:size]), from, 8555, &batch, &h); h.Outcome != telemetry.Decoded {
				t.Errorf("a report that cannot be read: %v", h.Reason)
			}
			all = append(all, batch.Reports...)
		}
	}
}
