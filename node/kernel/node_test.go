//go:build linux

// Three routers of this kernel between two hosts, each in a network namespace of its own, with a node on each router.
package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A network is hostA - s1 - s2 - s3 - hostB. The names of the namespaces end in the id of the process.
type network struct {
	t       testing.TB
	routers []string // and the hosts around them
	mtu     int      // between routers
	queue   string   // bridge around interface r of s2; "": none
	left    string   // interface of s2 in place of l; "": none
	offload bool     // hosts and routers leave checksums and segments to their network cards
	insert  bool     // INT goes into packets, whatever a node would choose
}

// run runs a command in the namespace of a machine.
func (n *network) run(machine int, command string, args ...any) {
	n.t.Helper()
	line := fmt.Sprintf(command, args...)
	if machine >= 0 {
		line = "ip netns exec " + n.routers[machine] + " " + line
	}
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

const (
	hostA, hostB = 0, 4
	host4, host6 = "10.0.3.2", "fd00:3::2" // hostB
)

// newNetwork makes the machines and links: machine i has interfaces l (to i-1) and r (to i+1).
func newNetwork(t testing.TB) *network { return makeNetwork(t, false) }

func makeNetwork(t testing.TB, offload bool) *network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: network namespaces and programs in the kernel are for root. Run: sudo make test")
	}
	for _, tool := range []string{"ip", "ethtool"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("not run: no %s. Run: sudo scripts/setup test", tool)
		}
	}
	n := &network{t: t, mtu: 2000, offload: offload, insert: !offload} // else checksums are in the packets
	for i, name := range []string{"a", "s1", "s2", "s3", "b"} {
		name += "-" + strconv.Itoa(os.Getpid())
		n.routers = append(n.routers, name)
		n.run(-1, "ip netns add %s", name)
		t.Cleanup(func() { n.run(-1, "ip netns del %s", name) })
		n.run(i, "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.all.rp_filter=0")
		n.run(i, "ip link set dev lo up")
	}
	for i := range hostB {
		n.run(-1, "ip link add name r netns %s type veth peer name l netns %s", n.routers[i], n.routers[i+1])
		for side, name := range []string{"r", "l"} {
			n.run(i+side, "ip addr add 10.0.%d.%d/24 dev %s", i, 1+side, name)
			n.run(i+side, "ip addr add fd00:%d::%d/64 dev %s nodad", i, 1+side, name)
			if edge := i == 0 || i == hostB-1; !edge {
				n.run(i+side, "ip link set dev %s mtu %d", name, n.mtu)
			}
			if !offload {
				n.run(i+side, "ethtool -K %s tx off", name) // checksums have to be in the packets
			}
			n.run(i+side, "ip link set dev %s up", name)
		}
	}
	for i := range n.routers {
		for subnet := range hostB {
			switch {
			case subnet > i:
				n.run(i, "ip route add 10.0.%d.0/24 via 10.0.%d.2", subnet, i)
				n.run(i, "ip route add fd00:%d::/64 via fd00:%d::2", subnet, i)
			case subnet < i-1:
				n.run(i, "ip route add 10.0.%d.0/24 via 10.0.%d.1", subnet, i-1)
				n.run(i, "ip route add fd00:%d::/64 via fd00:%d::1", subnet, i-1)
			}
		}
	}
	return n
}

// in calls f in the namespace of a machine.
func (n *network) in(machine int, f func() error) {
	n.t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		done <- func() error {
			file, err := os.Open("/run/netns/" + n.routers[machine])
			if err != nil {
				return err
			}
			defer file.Close()
			if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			return f()
		}()
	}()
	if err := <-done; err != nil {
		n.t.Fatalf("%s: %v", n.routers[machine], err)
	}
}

// config returns the configuration of the node on a router.
func (n *network) config(i int, text, collector string) *Config {
	n.t.Helper()
	queue, clone, left := "", "", "l"
	if i == 2 && n.queue != "" {
		queue = ", queue: " + n.queue
	}
	if i == 2 && n.left != "" {
		left = n.left
	}
	if n.insert {
		clone = ", clone: false"
	}
	config, err := Parse([]byte(fmt.Sprintf(`name: s%d
id: %d
ports:
  - {interface: %s, edge: %v%s}
  - {interface: r, edge: %v%s%s}
int:
  reports: {to: ["%s"]}
%s`, i, i, left, i == 1, clone, i == 3, clone, queue, collector, text)))
	if err != nil {
		n.t.Fatal(err)
	}
	return config
}

// start runs a node on each router, with one configuration, until the test ends; stop ends them.
func (n *network) start(text, collector string) (nodes []*Node, stop func()) {
	n.t.Helper()
	var configs []*Config
	for i := 1; i <= 3; i++ {
		configs = append(configs, n.config(i, text, collector))
	}
	return n.startAll(configs)
}

// startAll runs nodes on the three routers, or on all five machines, but for those whose configuration is nil.
func (n *network) startAll(configs []*Config) (nodes []*Node, stop func()) {
	n.t.Helper()
	return n.startWith(configs, func(*Node) error { return nil })
}

// startWith calls prepare for each node before it runs, in the namespace of its machine.
func (n *network) startWith(configs []*Config, prepare func(*Node) error) (nodes []*Node, stop func()) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for k := len(configs) - 1; k >= 0; k-- { // the sinks first
		if configs[k] == nil {
			continue
		}
		i := k + 1 - len(configs)/5 // all five: from hostA on
		node, err := New(configs[k])
		if err != nil {
			n.t.Fatal(err)
		}
		n.in(i, func() error { return prepare(node) })
		n.in(i, node.Attach)
		nodes = append([]*Node{node}, nodes...)
		all.Go(func() {
			if err := node.Run(ctx); err != nil {
				n.t.Error(err)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	n.t.Cleanup(func() {
		stop()
		for _, node := range nodes {
			if err := node.Close(); err != nil {
				n.t.Error(err)
			}
		}
	})
	return nodes, stop
}

// counter returns a counter of a protocol at a machine, as /proc/net/snmp has it.
func (n *network) counter(machine int, protocol, name string) (count int) {
	n.t.Helper()
	n.in(machine, func() error {
		text, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err != nil {
			return err
		}
		var names []string
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if fields[0] != protocol+":" {
				continue
			}
			if names == nil {
				names = fields
				continue
			}
			for i := range names {
				if names[i] == name {
					count, err = strconv.Atoi(fields[i])
				}
			}
		}
		return err
	})
	return count
}

// tcp sends bytes from hostA to hostB, by its address, and back.
func (n *network) tcp(host string, port, size int) {
	n.t.Helper()
	enough := make(chan struct{})
	close(enough)
	n.tcpUntil(host, port, size, enough)
}

// tcpUntil does so again and again in one connection, until enough is closed.
func (n *network) tcpUntil(host string, port, size int, enough <-chan struct{}) {
	n.t.Helper()
	var listener net.Listener
	n.in(hostB, func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		return err
	})
	defer listener.Close()
	go func() {
		if c, err := listener.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	var c net.Conn
	n.in(hostA, func() (err error) {
		c, err = net.DialTimeout("tcp", listener.Addr().String(), 10*time.Second)
		return err
	})
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(60 * time.Second))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	all, wrote := sha256.New(), make(chan struct{})
	go func() {
		defer close(wrote)
		for over := false; !over; {
			select {
			case <-enough:
				over = true
			default:
			}
			all.Write(data)
			_, _ = c.Write(data)
		}
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	sum := sha256.New()
	if _, err := io.Copy(sum, c); err != nil {
		n.t.Fatalf("tcp: %v", err)
	}
	<-wrote
	if !bytes.Equal(sum.Sum(nil), all.Sum(nil)) {
		n.t.Error("tcp: the bytes that came back are not those that were sent")
	}
}

// dial opens sockets at hostA and, by its address, hostB.
func (n *network) dial(host string, port int) (from, to *net.UDPConn) {
	n.t.Helper()
	at := net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(host), uint16(port)))
	n.in(hostB, func() (err error) { to, err = net.ListenUDP("udp", at); return err })
	n.in(hostA, func() (err error) { from, err = net.DialUDP("udp", nil, at); return err })
	return from, to
}

// udp sends packets of all sizes from hostA to hostB, by its address, and expects each as it was sent.
func (n *network) udp(host string, port, packets int) {
	n.t.Helper()
	from, to := n.dial(host, port)
	defer from.Close()
	defer to.Close()
	n.exchange(from, to, packets)
}

// exchange is udp with sockets that are open.
func (n *network) exchange(from, to *net.UDPConn, packets int) {
	n.t.Helper()
	_ = to.SetReadDeadline(time.Now().Add(30 * time.Second))
	got := make([]byte, 2000)
	for i := range packets {
		data := bytes.Repeat([]byte{byte(i)}, (i*37)%1453)
		if _, err := from.Write(data); err != nil {
			n.t.Fatal(err)
		}
		size, err := to.Read(got)
		if err != nil {
			n.t.Fatalf("udp: packet %d of %d bytes: %v", i, len(data), err)
		}
		if !bytes.Equal(got[:size], data) {
			n.t.Fatalf("udp: packet %d is not what was sent", i)
		}
	}
}

// A collector receives reports.
type collector struct {
	t         *testing.T
	conn      *net.UDPConn
	datagrams atomic.Uint64
	done      chan []telemetry.Report
}

func newCollector(t *testing.T, text string) *collector {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { // room for all reports: what a collector loses is not looked for here
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{t: t, conn: conn, done: make(chan []telemetry.Report)}
	domain, err := node.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	config := codepoint.New()
	if config.Points, err = domain.CodePoints(); err != nil {
		t.Fatal(err)
	}
	config.Compile()
	decoder := telemetry.NewDecoder(config)
	go func() {
		var all []telemetry.Report
		b := make([]byte, 65536)
		for {
			size, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				c.done <- all
				return
			}
			var batch telemetry.Batch
			var h telemetry.Header
			decoder.Decode(bytes.Clone(b[:size]), from, 8555, &batch, &h)
			if h.Outcome != telemetry.Decoded {
				t.Errorf("a report that cannot be read: %v", h.Reason)
			}
			all = append(all, batch.Reports...)
			c.datagrams.Add(1)
		}
	}()
	return c
}

// reports returns what nodes that have stopped sent, when all of it was read: a socket that is closed forgets what is
// not. A test whose collector loses datagrams fails, for it cannot tell that from what the nodes lost.
func (c *collector) reports(nodes []*Node) []telemetry.Report {
	c.t.Helper()
	sent := uint64(0)
	for _, n := range nodes {
		sent += n.sent
	}
	last, since := uint64(0), time.Now()
	for got := c.datagrams.Load(); got < sent; got = c.datagrams.Load() {
		if got > last {
			last, since = got, time.Now()
		} else if time.Since(since) > 20*time.Second {
			c.t.Errorf("the collector got %d datagrams of %d", got, sent)
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = c.conn.Close()
	return <-c.done
}

// path returns the nodes of a report, source first.
func path(r *telemetry.Report) (ids []uint32) {
	for i := range r.Hops {
		ids = append(ids, r.Hops[i].NodeID)
	}
	return append(ids, r.NodeID)
}

func counters(t *testing.T, n *Node) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	if err := n.Each(func(name string, count uint64) { all[name] = count }); err != nil {
		t.Fatal(err)
	}
	return all
}

func addr(text string) telemetry.Addr { return telemetry.AddrFrom(netip.MustParseAddr(text)) }

// TestRealNetwork sends real TCP and UDP through the routers: nothing is lost or changed, and the reports tell the path
// with latencies.
func TestRealNetwork(t *testing.T) {
	const tcpBytes, udpPackets = 4 << 20, 300
	n := newNetwork(t)
	for _, mode := range []string{"md", "mx", "xd", "md\n  carrier: dst-port", "md\n  version: 1.0"} {
		t.Run(mode, func(t *testing.T) {
			n.t = t
			text := "  mode: " + mode + "\n  watch: [{report_all: true}]\n"
			c := newCollector(t, text)
			sums := func() int {
				return n.counter(hostA, "Tcp", "InCsumErrors") + n.counter(hostB, "Tcp", "InCsumErrors")
			}
			before := sums()
			nodes, stop := n.start(text, c.conn.LocalAddr().String())
			n.udp(host4, 6001, udpPackets)
			n.tcp(host4, 6002, tcpBytes)
			n.udp(host6, 6001, udpPackets)
			n.tcp(host6, 6002, tcpBytes/4)
			stop()
			reports := c.reports(nodes)
			for i, node := range nodes {
				t.Logf("s%d: %v", i+1, counters(t, node))
			}
			for host := hostA; host <= hostB; host += hostB {
				if udp := n.counter(host, "Udp", "InErrors"); udp != 0 {
					t.Errorf("%s: %d packets that UDP did not take", n.routers[host], udp)
				}
			}
			if wrong := sums() - before; wrong != 0 {
				t.Errorf("%d wrong TCP checksums", wrong)
			}
			check(t, mode, nodes, reports, 2*udpPackets)
		})
	}
}

// check compares what the reports tell with what was sent.
func check(t *testing.T, mode string, nodes []*Node, reports []telemetry.Report, udpPackets int) {
	t.Helper()
	want := map[string][]string{"md": {"[1 2 3]"}, "mx": {"[1]", "[2]", "[3]"}, "xd": {"[1]", "[2]", "[3]"}}[mode[:2]]
	paths, tcp := map[string]int{}, 0
	for i := range reports {
		r := &reports[i]
		if r.Flow.Dst != addr(host4) && r.Flow.Dst != addr(host6) { // back to hostA: the other way around
			continue
		}
		if r.Flow.DstPort == 6002 {
			tcp++
			continue
		}
		paths[fmt.Sprint(path(r))]++
		hops := append(append([]telemetry.Hop{}, r.Hops...), r.Local)
		for k := range hops {
			h := &hops[k]
			if h.Has&telemetry.HasLatency == 0 || h.LatencyNs == 0 || h.LatencyNs > 10e9 {
				t.Fatalf("hop %d of %v: latency %d", k, path(r), h.LatencyNs)
			}
			if h.IngressPort != 1 || h.EgressPort != 2 {
				t.Fatalf("hop %d of %v: ports %d and %d", k, path(r), h.IngressPort, h.EgressPort)
			}
			if h.EgressNs-h.IngressNs != h.LatencyNs {
				t.Fatalf("hop %d of %v: %d to %d took %d", k, path(r), h.IngressNs, h.EgressNs, h.LatencyNs)
			}
			if k < len(r.Hops) && strings.Contains(mode, "version: 1.0") {
				continue // its timestamps have four bytes
			}
			if off := time.Since(time.Unix(0, int64(h.IngressNs))).Abs(); off > time.Minute {
				t.Fatalf("hop %d of %v: the clock is off by %s", k, path(r), off)
			}
		}
	}
	if tcp == 0 {
		t.Error("no report of TCP")
	}
	lost := uint64(0)
	for _, node := range nodes {
		all := counters(t, node)
		lost += all["kernel_ring_full"] + all["kernel_overwritten"]
		if all["reported"] != all["kernel_events"] {
			t.Errorf("%d reports of %d events", all["reported"], all["kernel_events"])
		}
		for _, name := range []string{
			"unreadable", "not_inserted", "inserted_empty", "not_pushed", "marked_mtu", "stripped_bad", "kernel_moved",
			"kernel_no_metadata", "kernel_not_edited", "kernel_not_stripped", "datagrams_failed", "not_reported",
		} {
			if all[name] != 0 {
				t.Errorf("%s: %d", name, all[name])
			}
		}
	}
	for _, p := range want {
		if got := paths[p]; got > udpPackets || uint64(got)+lost < uint64(udpPackets) {
			t.Errorf("path %s: %d reports of %d packets", p, got, udpPackets)
		}
		delete(paths, p)
	}
	if len(paths) > 0 {
		t.Errorf("paths that are not: %v", paths)
	}
}

// addQueue makes a bridge around interface r of s2, whose queue has a rate in bits a second, and room for limit bytes.
func (n *network) addQueue(rate float64, burst, limit int) {
	n.t.Helper()
	n.queue = "br"
	for _, command := range []string{
		"ip link add name br type bridge", "ip addr flush dev r", "ip link set dev br mtu 2000",
		"ip link set dev r master br", "ip addr add 10.0.2.1/24 dev br", "ip link set dev br up",
		"ip route add 10.0.3.0/24 via 10.0.2.2",
		fmt.Sprintf("tc qdisc add dev br root tbf rate %.0f burst %d limit %d", rate, burst, limit),
	} {
		n.run(2, "%s", command)
	}
}

// TestQueue lets packets wait in a queue of s2, which has a bridge around its port. Whatever the speed of this machine,
// a packet waits at least as long as the queue takes for what is in front of it.
func TestQueue(t *testing.T) {
	const rate, burst, packets, size = 5e6, 5000, 60, 1400
	n := newNetwork(t)
	n.addQueue(rate, burst, 400_000)
	const text = "  watch: [{report_all: true, protocol: udp}]\n"
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	n.udp(host4, 6001, 1) // neighbours know each other now
	from, to := n.dial(host4, 6002)
	defer from.Close()
	defer to.Close()
	for range packets {
		if _, err := from.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	_ = to.SetReadDeadline(time.Now().Add(30 * time.Second))
	for i := range packets {
		if _, err := to.Read(make([]byte, size)); err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
	}
	stop()
	seen, longest := 0, uint64(0)
	for _, r := range c.reports(nodes) {
		if r.Flow.DstPort != 6002 || len(r.Hops) != 2 {
			continue
		}
		seen++
		h := &r.Hops[1]
		least := uint64(max(0, float64(h.QueueOccupancy)-burst) * 8 / rate * 1e9)
		if h.NodeID != 2 || h.LatencyNs < least {
			t.Errorf("node %d: %d ns with %d bytes in front, want at least %d ns", h.NodeID, h.LatencyNs,
				h.QueueOccupancy, least)
		}
		longest = max(longest, h.LatencyNs)
		if first := &r.Hops[0]; first.QueueOccupancy != 0 {
			t.Errorf("s1 has no queue, and says %d bytes", first.QueueOccupancy)
		}
	}
	// That is what the packets take on the link, if hostA did not pause.
	if all := uint64(packets * size * 8 / rate * 1e9); seen != packets || longest < all/4 {
		t.Errorf("%d reports of %d packets, the longest wait %d ns, want about %d ns", seen, packets, longest, all)
	}
	t.Logf("the longest wait: %s", time.Duration(longest))
}

// TestReplace replaces the flow watchlist of the source while packets pass: each has the INT of all nodes, or none.
func TestReplace(t *testing.T) {
	const packets = 2000
	n := newNetwork(t)
	const all, none = "  watch: [{report_all: true}]\n", "  watch: []\n"
	c := newCollector(t, all)
	to := c.conn.LocalAddr().String()
	nodes, stop := n.start(all, to)
	ctx, cancel := context.WithCancel(t.Context())
	lists := []*Config{n.config(1, none, to), n.config(1, all, to)}
	var replacing sync.WaitGroup
	replaced := 0
	replacing.Go(func() {
		for ctx.Err() == nil {
			if err := nodes[0].Replace(ctx, lists[replaced%2]); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			replaced++
		}
	})
	for range 5 { // what else a configuration says, it cannot change
		if err := nodes[0].Replace(ctx, n.config(1, all+"  max_hops: 3\n", to)); err == nil {
			t.Error("max_hops was replaced")
		}
		n.udp(host4, 6001, packets/5)
	}
	cancel()
	replacing.Wait()
	stop()
	reports := c.reports(nodes)
	for i := range reports {
		if got := fmt.Sprint(path(&reports[i])); got != "[1 2 3]" || reports[i].Flow.DstPort != 6001 {
			t.Errorf("path %s", got)
		}
	}
	t.Logf("%d of %d packets had INT, %d watchlists", len(reports), packets, replaced)
	if replaced < 2 || len(reports) > packets {
		t.Errorf("%d reports of %d packets, %d watchlists", len(reports), packets, replaced)
	}
}
