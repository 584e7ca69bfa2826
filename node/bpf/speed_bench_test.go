//go:build linux

package bpf

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
)

// A bench is a router of the kernel between two links:
//
//	sender a - in router out - b, which drops and counts
//
// Packets come from a test run of a program that redirects live frames into a, so that no socket costs anything.
type bench struct {
	b         *testing.B
	namespace string   // of the router
	own       *os.File // namespace of the other ends
	in, out   int      // indices
	a         int
	arrived   *ebpf.Map
	noops     [2]*ebpf.Program // XDP and tcx
}

// newBench makes the router. The thread stays in the namespace of a and b.
func newBench(b *testing.B) *bench {
	b.Helper()
	if os.Geteuid() != 0 {
		b.Skip("programs are loaded by root only")
	}
	r := &bench{b: b, namespace: fmt.Sprintf("bench-%d", os.Getpid())}
	runtime.LockOSThread() // and ends with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		b.Fatal(err)
	}
	var err error
	if r.own, err = os.Open("/proc/thread-self/ns/net"); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.own.Close() })
	r.run("ip netns add %s", r.namespace)
	b.Cleanup(func() { r.run("ip netns del %s", r.namespace) })
	r.run("ip link add name a type veth peer name in netns %s", r.namespace)
	r.run("ip link add name b type veth peer name out netns %s", r.namespace)
	r.run("ip netns exec %s sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0", r.namespace)
	for i, name := range []string{"in", "out"} {
		r.run("ip -n %s addr add 10.9.%d.1/24 dev %s", r.namespace, i, name)
		r.run("ip -n %s link set dev %s mtu 2000 address 02:00:00:00:00:0%d up", r.namespace, name, i)
	}
	r.run("ip link set dev a mtu 2000 up")
	r.run("ip link set dev b mtu 2000 address 02:00:00:00:00:0b up")
	r.run("ip -n %s neigh add 10.9.1.2 lladdr 02:00:00:00:00:0b dev out", r.namespace)
	r.run("ip -n %s route add 10.0.0.0/8 via 10.9.1.2", r.namespace)
	a, err := net.InterfaceByName("a")
	if err != nil {
		b.Fatal(err)
	}
	r.a = a.Index
	r.noops[0] = r.load(ebpf.XDP, asm.Mov.Imm(asm.R0, 2))
	r.noops[1] = r.load(ebpf.SchedCLS, asm.Mov.Imm(asm.R0, -1))
	r.arrived, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.arrived.Close() })
	drop := r.load(ebpf.XDP,
		asm.StoreImm(asm.R10, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, r.arrived.FD()), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "drop"), asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord), asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord), asm.Mov.Imm(asm.R0, 1).WithSymbol("drop"))
	to, err := net.InterfaceByName("b")
	if err != nil {
		b.Fatal(err)
	}
	r.attach(drop, to.Index)
	r.enter(func() error {
		for name, index := range map[string]*int{"in": &r.in, "out": &r.out} {
			i, err := net.InterfaceByName(name)
			if err != nil {
				return err
			}
			*index = i.Index
		}
		return nil
	})
	return r
}

func (r *bench) run(command string, args ...any) {
	r.b.Helper()
	line := strings.Fields(fmt.Sprintf(command, args...))
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		r.b.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// load loads a program of some instructions that returns what they leave in R0.
func (r *bench) load(kind ebpf.ProgramType, code ...asm.Instruction) *ebpf.Program {
	r.b.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: kind, License: "GPL", Instructions: append(code, asm.Return()),
	})
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() { _ = p.Close() })
	return p
}

func (r *bench) attach(p *ebpf.Program, ifindex int) {
	r.b.Helper()
	l, err := link.AttachXDP(link.XDPOptions{Program: p, Interface: ifindex})
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() { _ = l.Close() })
}

// enter calls f in the namespace of the router.
func (r *bench) enter(f func() error) {
	r.b.Helper()
	file, err := os.Open("/run/netns/" + r.namespace)
	if err != nil {
		r.b.Fatal(err)
	}
	defer file.Close()
	err = errors.Join(unix.Setns(int(file.Fd()), unix.CLONE_NEWNET), f(),
		unix.Setns(int(r.own.Fd()), unix.CLONE_NEWNET))
	if err != nil {
		r.b.Fatal(err)
	}
}

// A task is what a router has to do.
type task struct {
	name, text      string
	inEdge, outEdge bool
	frames          [][]byte // that come in turn
	fast            bool
}

// A figure is what programs took.
type figure struct {
	xdp, tcx float64 // ns a packet
	rate     float64 // packets a second that came to b
}

// sender returns a program that sends frames in turn, which all have one length. The frames of a test run stay as the
// last one has left them: so it writes them anew.
func (r *bench) sender(frames [][]byte) *ebpf.Program {
	r.b.Helper()
	size := len(frames[0])
	next, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() { _ = next.Close() })
	all, err := ebpf.NewMap(&ebpf.MapSpec{
		Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: uint32(len(frames)),
	})
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() { _ = all.Close() })
	for i, f := range frames {
		if err := all.Put(uint32(i), f); err != nil {
			r.b.Fatal(err)
		}
	}
	return r.load(ebpf.XDP,
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.StoreImm(asm.R10, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, next.FD()), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "end"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.R1), asm.Add.Imm(asm.R2, 1),
		asm.StoreMem(asm.R0, 0, asm.R2, asm.Word), asm.Mod.Imm(asm.R1, int32(len(frames))),
		asm.StoreMem(asm.R10, -4, asm.R1, asm.Word), asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, all.FD()), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Reg(asm.R1, asm.R6), asm.Mov.Imm(asm.R2, 0), asm.Mov.Reg(asm.R3, asm.R0),
		asm.Mov.Imm(asm.R4, int32(size)), asm.FnXdpStoreBytes.Call(),
		asm.Mov.Imm(asm.R1, int32(r.a)), asm.Mov.Imm(asm.R2, 0), asm.FnRedirect.Call(), asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("end"))
}

// measure sends packets through the router, and returns how many a second came through. Then it does so once more,
// while the kernel counts what the two programs take, which takes time itself. What is sent before that has touched all
// memory that the programs use, also if few packets are reported: the first time a page of it takes some microseconds
// on a virtual machine. read takes what is in the ring, and returns its bytes.
func (r *bench) measure(arrive, depart, sender *ebpf.Program, size int, read func() int) (f figure) {
	r.b.Helper()
	const packets = 8000
	send := func() {
		const liveFrames = 2 // BPF_F_TEST_XDP_LIVE_FRAMES
		_, err := sender.Run(&ebpf.RunOptions{Data: make([]byte, size), Repeat: packets, Flags: liveFrames})
		if err != nil {
			r.b.Fatal(err)
		}
	}
	const ring = 4 << 20
	for n, filled := 1, 0; n > 0 && filled < ring; filled += n {
		send()
		n = read()
	}
	came, began := r.count(), time.Now()
	send()
	f.rate = float64(r.count()-came) / time.Since(began).Seconds()
	read()
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		r.b.Fatal(err)
	}
	defer stats.Close()
	before := [2]*ebpf.ProgramStats{r.stats(arrive), r.stats(depart)}
	send()
	for i, to := range []*float64{&f.xdp, &f.tcx} {
		s := r.stats([]*ebpf.Program{arrive, depart}[i])
		*to = float64(s.Runtime-before[i].Runtime) / max(1, float64(s.RunCount-before[i].RunCount))
	}
	return f
}

func (r *bench) stats(p *ebpf.Program) *ebpf.ProgramStats {
	s, err := p.Stats()
	if err != nil {
		r.b.Fatal(err)
	}
	return s
}

func (r *bench) count() (sum uint64) {
	var each []uint64
	if err := r.arrived.Lookup(uint32(0), &each); err != nil {
		r.b.Fatal(err)
	}
	for _, n := range each {
		sum += n
	}
	return sum
}

// withNode has the node's programs in the router while f runs.
func (r *bench) withNode(l *task, f func(p *Programs)) {
	r.b.Helper()
	n := benchNode(r.b, l.text, 2, l.inEdge, l.outEdge)
	c := Config{
		NodeID: 2, Mode: watch.ModeMD, Domain: n.Domain(), Known: n.Knows(),
		Truncate: 128, Slots: 4096, Watched: 10_000, Drops: false, Fast: l.fast,
	}
	if strings.Contains(l.text, "mode: xd") {
		c.Mode = watch.ModeXD
	}
	p, err := Load(c)
	if err != nil {
		r.b.Fatalf("%+v", err)
	}
	defer p.Close()
	if err := p.Watch(n.FlowWatchlist()); err != nil {
		r.b.Fatal(err)
	}
	for i := range uint32(c.Slots) { // a page that is touched for the first time is not what is measured
		if err := p.objects.Slots.Put(i, programsEvent{}); err != nil {
			r.b.Fatal(err)
		}
	}
	r.enter(func() error {
		return p.Attach([]Port{
			{ID: 1, Edge: l.inEdge, Ifindex: r.in, Fast: l.fast, MAC: [6]byte(l.frames[0])},
			{ID: 2, Edge: l.outEdge, Ifindex: r.out, Fast: l.fast},
		})
	})
	f(p)
}

// withNoops has programs there that do nothing.
func (r *bench) withNoops(f func()) {
	r.b.Helper()
	var links []link.Link
	r.enter(func() error {
		l, err := link.AttachTCX(link.TCXOptions{Interface: r.out, Program: r.noops[1], Attach: ebpf.AttachTCXEgress})
		if err != nil {
			return err
		}
		links = append(links, l)
		l, err = link.AttachXDP(link.XDPOptions{Program: r.noops[0], Interface: r.in})
		if err == nil {
			links = append(links, l)
		}
		return err
	})
	f()
	for _, l := range links {
		_ = l.Close()
	}
}

func benchNode(b *testing.B, text string, id uint32, inEdge, outEdge bool) *node.Node {
	b.Helper()
	c, err := node.Load([]byte(text + "\nqueues: []\n"))
	if err != nil {
		b.Fatal(err)
	}
	c.Omit = append(c.Omit, "buffer", "l2_interfaces", "queue_congestion", "egress_tx_util")
	n, err := node.New(c, testSpec(id, inEdge, outEdge))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// udpFrames returns packets of 200 bytes of so many flows.
func udpFrames(n int) (frames [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		f := make([]byte, 200)
		copy(f, "\x02\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x0a\x08\x00\x45\x00\x00\xba")
		f[18], f[19] = byte(r.Uint32()), byte(r.Uint32())
		f[22], f[23] = 64, 17
		copy(f[26:], []byte{10, 1, byte(r.Uint32()), byte(r.Uint32()), 10, 2, byte(r.Uint32()), byte(r.Uint32())})
		f[34], f[35], f[36], f[37] = 0x40, byte(r.Uint32()), 0x17, byte(r.Uint32()) // ports
		f[39] = 166
		for i := 42; i < len(f); i++ {
			f[i] = byte(r.Uint32())
		}
		sum(f[14:34], f[24:26], 0)
		pseudo := append(bytes.Clone(f[26:34]), 0, 17, 0, 166)
		sum(append(pseudo, f[34:]...), f[40:42], 0)
		frames = append(frames, f)
	}
	return frames
}

// sum writes the checksum of b.
func sum(b, to []byte, c uint32) {
	for i := 0; i+1 < len(b); i += 2 {
		c += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for c>>16 > 0 {
		c = c>>16 + c&0xFFFF
	}
	to[0], to[1] = byte(^c>>8), byte(^c)
}

// withINT lets packets go through a source and so many transit nodes.
func withINT(b *testing.B, frames [][]byte, transits int) (all [][]byte) {
	b.Helper()
	source := benchNode(b, "mode: md", 1, true, false)
	transit := benchNode(b, "mode: md", 3, false, false)
	var s node.State
	var out node.Output
	for _, f := range frames {
		for i := range 1 + transits {
			n := transit
			if i == 0 {
				n = source
			}
			n.Process(f, node.Ingress{Port: 1, TimeNs: 1e18}, func(*node.State) node.Egress {
				return node.Egress{Port: 2, EnqueuedNs: 1e18, DepartedNs: 1e18 + 1000}
			}, &s, &out)
			f = bytes.Clone(out.Frame)
		}
		all = append(all, f)
	}
	return all
}

// tenThousand returns a watchlist that the packets of udpFrames are not on.
func tenThousand() string {
	b := []byte("mode: xd\nwatch:\n")
	for i := range 10_000 {
		switch i % 4 {
		case 0:
			b = fmt.Appendf(b, "  - {dst: 10.%d.%d.%d}\n", 3+i%200, i>>8, i&0xFF)
		case 1:
			b = fmt.Appendf(b, "  - {dst: 10.%d.%d.0/24, protocol: tcp}\n", 3+i%200, i&0xFF)
		case 2:
			b = fmt.Appendf(b, "  - {src: 10.%d.%d.%d, dst_port: %d}\n", 3+i%200, i>>8, i&0xFF, i)
		case 3:
			b = fmt.Appendf(b, "  - {src: 10.%d.%d.0/24, dst: 10.%d.0.0/16}\n", 3+i%200, i&0xFF, 3+i/256)
		}
	}
	return string(b)
}

// BenchmarkPrograms is what the programs of a node take in a router of this kernel, by the kernel's own account
// (BPF_ENABLE_STATS), less what programs take that do nothing; and how many packets a second come through, as a ratio
// to those that come through with such programs. The figures are medians of runs by turns.
func BenchmarkPrograms(b *testing.B) {
	r := newBench(b)
	plain, many := udpFrames(16), udpFrames(1000)
	const all = "watch: [{report_all: true}]"
	for _, l := range []task{
		{"transit", "mode: md", false, false, withINT(b, plain, 1), false},
		{"transit-fast", "mode: md", false, false, withINT(b, plain, 1), true},
		{"plain-fast", "mode: md", false, false, plain, true},
		{"source", "mode: md\nwatch: [{}]", true, false, plain, false},
		{"sink", "mode: md\n" + all, false, true, withINT(b, plain, 2), false},
		{"xd", "mode: xd\n" + all, true, true, plain, false},
		{"xd-1in100", "mode: xd\nwatch: [{sample: 100}]", true, true, many, false},
		{"none", "mode: xd\nwatch: []", true, true, many, false},
		{"10000", tenThousand(), true, true, many, false},
	} {
		b.Run(l.name, func(b *testing.B) { r.program(b, &l) })
	}
}

func (r *bench) program(b *testing.B, l *task) {
	runtime.LockOSThread() // and ends with it
	var one unix.CPUSet
	one.Set(0)
	err := errors.Join(unix.Setns(int(r.own.Fd()), unix.CLONE_NEWNET), unix.SchedSetaffinity(0, &one))
	if err != nil {
		b.Fatal(err)
	}
	sender := r.sender(l.frames)
	size := len(l.frames[0])
	var xdp, tcx, ratio, rate []float64
	for b.Loop() {
		var bare, with figure
		r.withNoops(func() { bare = r.measure(r.noops[0], r.noops[1], sender, size, func() int { return 0 }) })
		r.withNode(l, func(p *Programs) {
			with = r.measure(p.objects.Arrive, p.objects.Depart, sender, size, func() (bytes int) {
				p.SetDeadline(time.Now()) // its ring has room for the events of one run
				for e := (Event{}); p.Read(&e) == nil; {
					bytes += len(e.Bytes)
				}
				return bytes
			})
		})
		xdp, tcx = append(xdp, with.xdp-bare.xdp), append(tcx, with.tcx-bare.tcx)
		ratio, rate = append(ratio, with.rate/bare.rate), append(rate, with.rate)
	}
	b.ReportMetric(median(xdp), "xdp-ns")
	b.ReportMetric(median(tcx), "tcx-ns")
	b.ReportMetric(median(ratio), "ratio")
	b.ReportMetric(median(rate), "packets/s")
	b.ReportMetric(0, "ns/op")
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
