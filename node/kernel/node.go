//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/bpf"
	"github.com/waybill-int/waybill/node/watch"
)

// A Node is an INT node on interfaces of this machine.
type Node struct {
	first    *Config // that it began with
	config   *Config // that counts; for Run, after New
	programs *bpf.Programs
	reporter bpf.Reporter
	conns    [2]*net.UDPConn // for IPv4 and IPv6
	cookies  [2]uint64       // of those, by which the programs know them
	outboxes [2]outbox       // of those
	output   node.Output

	do      chan func() // for Run, between two packets
	started time.Time
	watched []watch.Entry // by the node that reports
	drops   []watch.Entry // its drop watchlist
	filters []*Filter     // that hold
	fast    fastPorts

	sent, failed uint64
	last         error
}

// slots is how many packets that will be reported can be on their way through the switch: 8 MiB.
const slots = 4096

// New loads the programs into the kernel. Nothing is attached yet.
func New(c *Config) (*Node, error) {
	n := &Node{first: c, config: c, do: make(chan func()), started: time.Now()}
	var err error
	if n.reporter.Node, err = c.newNode(); err != nil {
		return nil, err
	}
	names, err := bpf.DropReasons()
	if err != nil {
		return nil, err
	}
	n.reporter.Why = func(reason uint16, ttl uint8) (node.Place, uint8) {
		if reason == bpf.ReasonFiltered || reason == bpf.ReasonForeignINT {
			return node.PlaceIngress, filtered
		}
		return where(names[reason], ttl)
	}
	domain := n.reporter.Node.Domain()
	config := bpf.Config{
		NodeID: c.ID, Mode: watch.ModeMD, Domain: domain,
		AcceptEdge: c.edgeINT() == "accept", Known: n.reporter.Node.Knows(), Truncate: c.node.Reports.Truncate,
		Slots: slots, Watched: c.watched(), Clone: c.mayClone(), Local: c.Local, Fast: c.hasFast(),
		Queues: n.reporter.Node.Thresholds(), FullReasons: fullReasons(names),
		Drops: true, Pop: c.mtu() == "report", Pins: pinDir(c.ID), Keep: c.Pin,
	}
	if n.reporter.Node.NamesDevice() {
		config.DeviceDomain, config.DSFlags = domain.DomainID, domain.DSFlags
	}
	switch c.node.Mode {
	case "xd":
		config.Mode = watch.ModeXD
	case "mx":
		config.Mode = watch.ModeMX
	}
	if n.programs, err = bpf.Load(config); err != nil {
		return nil, err
	}
	if err := errors.Join(n.watch(c), n.setClock()); err != nil {
		return nil, errors.Join(err, n.programs.Close())
	}
	return n, nil
}

// watch makes the programs and the node that reports follow the watchlists of c, or if that cannot be the old ones.
// The programs sample, and the node does not.
func (n *Node) watch(c *Config) error {
	for i := range c.node.Watch {
		if err := n.first.refuseEntry(&c.node.Watch[i]); err != nil {
			return err
		}
	}
	if err := n.reporter.Node.Replace(node.Watchlists{Flows: c.node.Watch, Drops: c.node.Drops}); err != nil {
		return err
	}
	err := n.programs.Watch(n.reporter.Node.FlowWatchlist())
	if err == nil {
		n.config, n.watched, n.drops = c, c.unsampled(), c.node.Drops
	}
	return errors.Join(err, n.reporter.Node.Replace(node.Watchlists{Flows: n.watched, Drops: n.drops}))
}

// Replace puts the watchlists of c in the place of those that count, between two packets. Everything else in c
// must be as it was. It is for use while Run is running, and returns when the new one counts.
func (n *Node) Replace(ctx context.Context, c *Config) error {
	if key := n.first.differs(c); key != "" {
		return fmt.Errorf("%s: it has changed, and only int.watch and int.drops can while the node runs; start it again", key)
	}
	var err error
	if stopped := n.between(ctx, func() { err = n.watch(c) }); stopped != nil {
		return stopped
	}
	return err
}

// between calls f while Run reads no packet. It fails if ctx ends before.
func (n *Node) between(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case n.do <- func() { f(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mtu returns what becomes of packets that have no room for a record of this node.
func (c *Config) mtu() string {
	if o := c.node.Nodes[c.Name]; o.MTU != "" {
		return o.MTU
	}
	return c.node.MTU
}

// edgeINT returns what becomes of INT from edges at this node.
func (c *Config) edgeINT() string {
	if o := c.node.Nodes[c.Name]; o.EdgeINT != "" {
		return o.EdgeINT
	}
	return c.node.EdgeINT
}

// setClock makes the programs' clock that of the machine, which is TAI less the seconds that TAI is ahead.
func (n *Node) setClock() error {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	return n.programs.SetClock(-time.Duration(t.Tai) * time.Second)
}

// Attach attaches the programs to the interfaces. From then on packets are changed.
func (n *Node) Attach() error {
	vlans, err := vlanDevices()
	if err != nil {
		return fmt.Errorf("VLAN interfaces: %w", err)
	}
	ports := make([]bpf.Port, len(n.first.Ports))
	for i, p := range n.first.Ports {
		if err := n.first.refuseJoined(&p); err != nil {
			return err
		}
		ports[i] = bpf.Port{ID: uint32(i + 1), Edge: p.Edge}
		ports[i].Clone, _ = n.first.sourceMode(&p)
		n.first.cloned = n.first.cloned || ports[i].Clone
		var err error
		if ports[i].Ifindex, err = index(p.Interface); err == nil && p.Queue != "" {
			ports[i].Queue, err = index(p.Queue)
		}
		if err != nil {
			return err
		}
		for _, name := range []string{p.Interface, p.Queue} {
			if err := addVLANs(n.programs, ports[i], name, nil, vlans); err != nil {
				return err
			}
		}
	}
	if err := n.programs.Attach(ports); err != nil || !n.first.hasFast() {
		return err
	}
	for i := range ports {
		if n.first.Ports[i].Fast {
			n.fast.ports = append(n.fast.ports, ports[i])
		}
	}
	return n.fast.begin(n.programs)
}

func index(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("interface %s: %w", name, err)
	}
	return i.Index, nil
}

// pinDir is the folder of what the node with that id leaves in the kernel.
func pinDir(id uint32) string { return fmt.Sprintf("%s/node-%d", pinRoot, id) }

var pinRoot = "/sys/fs/bpf/waybill" // another one in tests

// Unpin takes the programs that the node with that id has left from their interfaces, and says how many there were.
func Unpin(id uint32) (programs int, err error) { return bpf.Unpin(pinDir(id)) }

// Stays says whether the programs stay at their interfaces when the node ends.
func (n *Node) Stays() bool { return n.first.Pin }

// secondly tells collectors what could not be reported, and, where the programs go on without this process, keeps
// filters from ending.
func (n *Node) secondly() error {
	const most = 1 << 16 // in one gap, so that it is taken for one
	lost, err := n.programs.Untold()
	if lost = min(lost, most); lost > 0 && n.reporter.Node.Lose(uint32(lost)) {
		err = errors.Join(err, n.programs.SetTold(lost))
	}
	if n.first.Pin {
		err = errors.Join(err, n.programs.HoldFilters(filtersHold))
	}
	return errors.Join(err, n.fast.look(n.programs))
}

// filtersHold is how long filters outlive a process that was killed.
var filtersHold = 30 * time.Second // shorter in tests

// Run sends reports until ctx is done, then takes the programs from the interfaces and sends what is left. Programs
// that are pinned stay, and what they say from now on is for the next process.
func (n *Node) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { n.programs.SetDeadline(time.Now()) })
	defer stop()
	var clock time.Time
	for ctx.Err() == nil {
		select {
		case f := <-n.do:
			f()
		default:
		}
		now := time.Now()
		if now.Sub(clock) > time.Second { // TAI changes its distance when NTP learns of it
			if clock = now; n.setClock() != nil {
				clock = clock.Add(time.Minute)
			}
			n.endFilters(now)
			if err := n.secondly(); err != nil {
				return err
			}
		}
		if _, err := n.read(now.Add(tick)); err != nil {
			return err
		}
		n.reporter.Node.Tick(uint64(time.Now().UnixNano()), &n.output)
		n.send()
	}
	var err error
	if !n.first.Pin {
		err = n.programs.Detach()
		for more := err == nil; more && err == nil; {
			more, err = n.read(time.Now())
		}
	}
	n.reporter.Node.Close(uint64(time.Now().UnixNano()), &n.output)
	n.send()
	return err
}

// tick is how long reports wait for others, beyond what the configuration says.
const tick = 5 * time.Millisecond

// read takes events until the deadline, or says that there may be more.
func (n *Node) read(deadline time.Time) (more bool, err error) {
	n.programs.SetDeadline(deadline)
	var e bpf.Event
	for range 1000 { // then others have their turn
		err := n.programs.Read(&e)
		if err != nil {
			n.flush()
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			return false, err
		}
		for range e.Segments { // each of them is lost
			n.reporter.Report(&e, &n.output)
			n.collect()
		}
		if !n.programs.Waiting() { // a lone report does not wait
			n.flush()
		}
	}
	n.flush()
	return true, nil
}

// send sends the reports of the last call, and those that wait.
func (n *Node) send() {
	n.collect()
	n.flush()
}

// collect lets the reports of the last call wait for others.
func (n *Node) collect() {
	for _, frame := range n.output.Reports {
		b, to, err := payload(frame)
		family := 0
		if to.Addr().Is6() {
			family = 1
		}
		if err == nil && n.conns[family] == nil {
			err = n.listen(family)
		}
		if err != nil {
			n.failed, n.last = n.failed+1, err
		} else if n.outboxes[family].add(b, to) {
			n.flush()
		}
	}
	n.output.Reports = n.output.Reports[:0]
}

// flush sends what waits.
func (n *Node) flush() {
	for family := range n.outboxes {
		o := &n.outboxes[family]
		if len(o.waiting) == 0 {
			continue
		}
		if o.conn == nil {
			o.conn = ipv4.NewPacketConn(n.conns[family])
		}
		sent, failed, err := o.flush()
		n.sent, n.failed = n.sent+sent, n.failed+failed
		if err != nil {
			n.last = err
		}
	}
}

// listen opens the socket for a family of addresses.
func (n *Node) listen(family int) (err error) {
	network := [...]string{"udp4", "udp6"}[family]
	var from *net.UDPAddr
	if a := n.first.Address; a.IsValid() && a.Is6() == (family == 1) {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	if n.conns[family], err = net.ListenUDP(network, from); err != nil {
		return err
	}
	return n.ignore(family)
}

// ignore makes the programs ignore what a socket of reports sends.
func (n *Node) ignore(family int) error {
	raw, err := n.conns[family].SyscallConn()
	if err != nil {
		return err
	}
	var cookie uint64
	if wrong := raw.Control(func(fd uintptr) {
		cookie, err = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE)
	}); wrong != nil || err != nil {
		return errors.Join(wrong, err)
	}
	n.cookies[family] = cookie
	return n.programs.Ignore(n.cookies)
}

// Each calls f for every counter that is not 0: first of the programs, then what became of events. Names are those of
// node.Stats; those that begin with kernel_ are of the programs alone. It is not for use while Run is running.
func (n *Node) Each(f func(name string, count uint64)) error {
	err := n.programs.EachCounter(f)
	s := n.reporter.Node.Stats()
	for _, o := range []node.Outcome{
		node.Reported, node.Suppressed, node.NotReported, node.FlowEnded, node.HiddenHops, node.DropReports,
		node.DropsSuppressed, node.QueueReports,
	} {
		if s.Count[o] > 0 {
			f(o.String(), s.Count[o])
		}
	}
	if n.sent > 0 {
		f("datagrams", n.sent)
	}
	if n.failed > 0 {
		f("datagrams_failed", n.failed)
	}
	return err
}

// LastError returns why a report could last not be sent.
func (n *Node) LastError() error { return n.last }

// Close takes everything out of the kernel but what is pinned.
func (n *Node) Close() error {
	errs := []error{n.programs.Close(), n.fast.close()}
	for _, c := range n.conns {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
