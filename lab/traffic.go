//go:build linux

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// The range of source ports of conversations; the kernel chooses others.
const firstPort, lastPort = 10000, 59999

const framing = 24 // bytes that a frame takes on a link beyond its own: preamble, FCS and gap

// A flow is one direction of a conversation.
type flow struct {
	id, reverse uint32
	label       string
	src, dst    netip.AddrPort
	inner       *truth.Inner // of packets in a tunnel; nil: there is none
	udp         bool
	dscp        uint8
	startNs     int64

	mu       sync.Mutex
	over     bool // nothing more will be sent
	finished bool
	endNs    int64
	bytes    uint64 // that the receiver has read, of tcp
	resent   uint64 // of tcp
	heard    *sync.Cond
	track    tracked // for the truth
}

// A tuple is what the packets of a flow have.
type tuple struct {
	src, dst netip.AddrPort
	udp      bool
}

// begin makes a flow known before its first packet.
func (l *Lab) begin(label string, src, dst netip.AddrPort, udp bool, dscp uint8, reverse *flow) *flow {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flowCount++
	f := &flow{id: l.flowCount, label: label, src: src, dst: dst, udp: udp, dscp: dscp, startNs: l.now()}
	f.heard = sync.NewCond(&f.mu)
	if reverse != nil {
		f.reverse, reverse.reverse = reverse.id, f.id
	}
	l.flows[f.id], l.tuples[f.tuple()] = f, f
	return f
}

func (f *flow) tuple() tuple { return tuple{f.src, f.dst, f.udp} }

// forget is for a flow of which nothing is left.
func (l *Lab) forget(f *flow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.flows, f.id)
	if l.tuples[f.tuple()] == f { // ports come again
		delete(l.tuples, f.tuple())
	}
}

func (f *flow) end(l *Lab, finished bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.over, f.finished, f.endNs = true, finished, l.now()
	}
	f.heard.Broadcast()
	if l.tracker == nil {
		go l.forget(f)
	}
}

// address returns that of a host, with a source port that was not used for long.
func (l *Lab) address(h *host, v6 bool) netip.AddrPort {
	l.mu.Lock()
	defer l.mu.Unlock()
	port := h.nextPort
	if h.nextPort++; h.nextPort > lastPort {
		h.nextPort = firstPort
	}
	return netip.AddrPortFrom(h.address(v6), port)
}

func (h *host) address(v6 bool) netip.Addr {
	if v6 {
		return h.v6
	}
	return h.v4
}

// A talk is what all conversations of one traffic have in common.
type talk struct {
	label  string
	udp    bool
	bps    uint64
	packet uint64
	port   uint16
	tunnel *tunnel // nil: none
	vni    uint32
	dscp   uint8
	until  time.Duration
	random *rand.Rand
	v6     func() bool // of the next conversation
}

func (l *Lab) newTalk(i int, t *scenario.Traffic, kind string) *talk {
	last := t.IP != "6"
	return &talk{
		label: fmt.Sprintf("traffic[%d] %s", i, kind), udp: t.Transport == "udp", bps: uint64(t.Rate),
		packet: uint64(t.Packet), port: uint16(t.Port), tunnel: tunnels[t.Tunnel], vni: uint32(t.VNI),
		dscp:  uint8(t.DSCP),
		until: time.Duration(t.Stop), random: rand.New(rand.NewPCG(l.run.Seed, uint64(i))),
		v6: func() bool {
			if t.IP == "mixed" {
				last = !last
			}
			return !last
		},
	}
}

// talk does what a traffic says, and returns when nothing new is to be begun.
func (l *Lab) talk(ctx context.Context, i int, t *scenario.Traffic) {
	switch {
	case t.Tunnel != "" && t.Transport != "udp":
		return
	case t.Poisson != nil:
		l.poisson(ctx, l.newTalk(i, t, "poisson"), t)
	case t.Incast != nil:
		l.incast(ctx, l.newTalk(i, t, "incast"), t)
	case t.AllReduce != nil:
		l.allReduce(ctx, l.newTalk(i, t, "all_reduce"), t)
	default:
		c := t.Constant
		l.converse(ctx, l.newTalk(i, t, "constant"), l.hostNamed[c.From], l.hostNamed[c.To], uint64(c.Bytes),
			time.Duration(t.Start))
	}
}

// wait sleeps until a moment of the scenario; false if ctx is done before.
func (l *Lab) wait(ctx context.Context, at time.Duration) bool {
	d := at - time.Duration(l.now())
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Lab) poisson(ctx context.Context, t *talk, traffic *scenario.Traffic) {
	p := traffic.Poisson
	draw, mean := fabric.FlowSizes(p)
	from, to := l.hostsNamed(p.From), l.hostsNamed(p.To)
	bps := 0.0
	for _, h := range from {
		bps += float64(h.port.link.RateBps)
	}
	gap := mean * 8e9 / (bps * float64(p.Load))
	next := float64(traffic.Start)
	for {
		next += t.random.ExpFloat64() * gap
		if time.Duration(next) >= t.until || !l.wait(ctx, time.Duration(next)) {
			return
		}
		src, dst := from[t.random.IntN(len(from))], to[t.random.IntN(len(to))]
		for src == dst {
			src, dst = from[t.random.IntN(len(from))], to[t.random.IntN(len(to))]
		}
		l.converse(ctx, t, src, dst, draw(t.random), time.Duration(next))
	}
}

func (l *Lab) incast(ctx context.Context, t *talk, traffic *scenario.Traffic) {
	p := traffic.Incast
	to := l.hostNamed[p.To]
	for round := time.Duration(traffic.Start); round < t.until; round += time.Duration(p.Every) {
		for _, h := range l.hostsNamed(p.Senders) {
			at := round
			if p.Jitter > 0 {
				at += time.Duration(t.random.Int64N(int64(p.Jitter)))
			}
			l.converse(ctx, t, h, to, uint64(p.Bytes), at)
		}
		if p.Every == 0 || !l.wait(ctx, round+time.Duration(p.Every)) {
			return
		}
	}
}

// converse lets src send bytes to dst from a moment on, 0 for until the traffic stops. It does not wait for it.
func (l *Lab) converse(ctx context.Context, t *talk, src, dst *host, bytes uint64, at time.Duration) {
	v6 := t.v6()
	l.talks.Go(func() {
		if !l.wait(ctx, at) {
			return
		}
		var err error
		if t.udp {
			err = l.datagrams(ctx, t, l.address(src, v6), src, dst, bytes)
		} else {
			err = l.stream(ctx, t, src, dst, v6, bytes)
		}
		if err != nil && ctx.Err() == nil && l.now() < int64(l.scenario.Duration) {
			l.failed(t.label, err)
		}
	})
}

// datagrams sends UDP at the rate of the traffic.
func (l *Lab) datagrams(ctx context.Context, t *talk, from netip.AddrPort, src, dst *host, bytes uint64) error {
	v6 := from.Addr().Is6()
	to := netip.AddrPortFrom(dst.address(v6), t.port)
	if t.tunnel != nil {
		to = netip.AddrPortFrom(to.Addr(), t.tunnel.port)
	}
	f := l.begin(t.label, from, to, true, t.dscp, nil)
	l.mu.Lock()
	f.inner = t.inner(from, to)
	l.mu.Unlock()
	defer f.end(l, true)
	var c *net.UDPConn
	if err := src.ns.do(func() (err error) {
		c, err = net.DialUDP("udp", net.UDPAddrFromAddrPort(from), net.UDPAddrFromAddrPort(to))
		return err
	}); err != nil {
		return err
	}
	defer c.Close()
	if err := mark(c, v6, t.dscp); err != nil {
		return err
	}
	header := uint64(20 + 8)
	if v6 {
		header = 40 + 8
	}
	size := uint64(min(src.port.link.MTU, dst.port.link.MTU))
	if t.packet > 0 {
		size = min(size, t.packet)
	}
	size -= header
	front := uint64(len(t.wrap(from, to, 0)))
	size = max(size, front+12) // for who it is
	bps := t.bps
	if bps == 0 {
		bps = src.port.link.RateBps
	}
	buffer := make([]byte, size)
	binary.BigEndian.PutUint32(buffer[front:], f.id)
	for next, left := time.Now(), bytes; bytes == 0 || left > 0; {
		if time.Duration(l.now()) >= t.until && bytes == 0 || ctx.Err() != nil {
			break
		}
		n := size
		if bytes > 0 {
			n = min(size, front+left)
			left -= n - front
		}
		copy(buffer, t.wrap(from, to, int(n-front)))
		binary.BigEndian.PutUint64(buffer[front+4:], l.packets.Add(1))
		_, _ = c.Write(buffer[:n]) // what does not leave is not seen; an error is of an earlier packet
		next = next.Add(time.Duration((n + header + 14 + framing) * 8e9 / bps))
		if !l.pause(ctx, next) {
			break
		}
	}
	return nil
}

// pause sleeps until a moment. Short times are not worth a sleep: what is late is caught up with.
func (l *Lab) pause(ctx context.Context, until time.Time) bool {
	d := time.Until(until)
	if d < 50*time.Microsecond {
		return true
	}
	if d < 10*time.Millisecond {
		time.Sleep(d)
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// mark gives the packets of a socket a DSCP.
func mark(c syscall.Conn, v6 bool, dscp uint8) error {
	raw, err := c.SyscallConn()
	if err != nil || dscp == 0 {
		return err
	}
	wrong := raw.Control(func(fd uintptr) {
		if v6 {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, int(dscp)<<2)
		} else {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, int(dscp)<<2)
		}
	})
	return errors.Join(wrong, err)
}

// reuse lets a source port come again.
func reuse(_, _ string, c syscall.RawConn) (err error) {
	wrong := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	})
	return errors.Join(wrong, err)
}

// dial opens a TCP connection, and makes its two flows known before.
func (l *Lab) dial(ctx context.Context, t *talk, src, dst *host, v6 bool) (c *net.TCPConn, forth *flow, err error) {
	from, to := l.address(src, v6), netip.AddrPortFrom(dst.address(v6), t.port)
	forth = l.begin(t.label, from, to, false, t.dscp, nil)
	l.begin(t.label, to, from, false, 0, forth)
	err = src.ns.do(func() error {
		d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(from), Timeout: 30 * time.Second, Control: reuse}
		conn, err := d.DialContext(ctx, "tcp", to.String())
		if err == nil {
			c = conn.(*net.TCPConn)
		}
		return err
	})
	if err == nil {
		err = mark(c, v6, t.dscp)
	}
	if err != nil {
		l.endBoth(forth, false)
	}
	return c, forth, err
}

// endBoth ends the flows of a connection.
func (l *Lab) endBoth(forth *flow, finished bool) {
	forth.end(l, finished)
	l.mu.Lock()
	back := l.flows[forth.reverse]
	l.mu.Unlock()
	if back != nil {
		back.end(l, finished)
	}
}

// stream sends TCP, as fast as it goes.
func (l *Lab) stream(ctx context.Context, t *talk, src, dst *host, v6 bool, bytes uint64) error {
	c, f, err := l.dial(ctx, t, src, dst, v6)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })
	defer stop()
	buffer := make([]byte, 16<<10)
	for left := bytes; bytes == 0 || left > 0; {
		if bytes == 0 && time.Duration(l.now()) >= t.until {
			break
		}
		n := uint64(len(buffer))
		if bytes > 0 {
			n = min(n, left)
		}
		if _, err := c.Write(buffer[:n]); err != nil {
			l.endBoth(f, false)
			return err
		}
		left -= n
	}
	err = c.CloseWrite()
	if err == nil { // the receiver closes when it has everything
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, err = c.Read(buffer[:1])
	}
	again := resent(c)
	f.mu.Lock()
	f.resent = again
	f.mu.Unlock()
	l.endBoth(f, errors.Is(err, io.EOF))
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// resent returns how many packets of a connection were sent again.
func resent(c *net.TCPConn) (count uint64) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			count = uint64(info.Total_retrans)
		}
	})
	return count
}

// allReduce lets hosts around a ring sum up a vector: in each of 2(n-1) steps every host sends a piece to the next one,
// and begins a step when it has its piece of the one before.
func (l *Lab) allReduce(ctx context.Context, t *talk, traffic *scenario.Traffic) {
	p := traffic.AllReduce
	hosts := l.hostsNamed(p.Hosts)
	if !l.wait(ctx, time.Duration(traffic.Start)) {
		return
	}
	n := len(hosts)
	conns, flows := make([]*net.TCPConn, n), make([]*flow, n)
	for i, h := range hosts {
		var err error
		if conns[i], flows[i], err = l.dial(ctx, t, h, hosts[(i+1)%n], t.v6()); err != nil {
			l.failed(t.label, err)
			return
		}
		defer conns[i].Close()
		defer l.endBoth(flows[i], true)
	}
	stop := context.AfterFunc(ctx, func() {
		for i := range conns {
			_ = conns[i].SetDeadline(time.Now())
			flows[i].end(l, false)
		}
	})
	defer stop()
	piece := make([]byte, (uint64(p.Bytes)+uint64(n)-1)/uint64(n))
	for round, sent := time.Duration(traffic.Start), uint64(0); round < t.until && ctx.Err() == nil; {
		var all sync.WaitGroup
		for i := range hosts {
			all.Go(func() {
				for step := range uint64(2 * (n - 1)) {
					if step > 0 && !flows[(i+n-1)%n].await((sent+step)*uint64(len(piece))) {
						return
					}
					if _, err := conns[i].Write(piece); err != nil {
						return
					}
				}
			})
		}
		all.Wait()
		sent += uint64(2 * (n - 1))
		for i := range flows {
			flows[i].await(sent * uint64(len(piece)))
		}
		round = max(round+time.Duration(p.Every), time.Duration(l.now()))
		if !l.wait(ctx, round) {
			return
		}
	}
}

// await waits until so many bytes have arrived; false if the flow is over before.
func (f *flow) await(bytes uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes < bytes && !f.over {
		f.heard.Wait()
	}
	return f.bytes >= bytes
}

// A listener is a port of a host that takes what comes.
type listener struct {
	udp  bool
	port uint16
}

// listen opens all ports that somebody will talk to, at all hosts.
func (l *Lab) listen() error {
	wanted := map[listener]bool{}
	for i := range l.scenario.Traffic {
		t := &l.scenario.Traffic[i]
		wanted[listener{t.Transport == "udp", uint16(t.Port)}] = true
		if in := tunnels[t.Tunnel]; in != nil {
			wanted[listener{true, in.port}] = true
		}
	}
	for i := range l.scenario.Faults {
		if d := l.scenario.Faults[i].DDoS; d != nil {
			wanted[listener{true, uint16(d.Port)}] = true
		}
	}
	for _, h := range l.hosts {
		if err := h.ns.do(func() error {
			c, err := forgetHash()
			if err != nil {
				return err
			}
			l.closers = append(l.closers, c)
			for w := range wanted {
				address := ":" + strconv.Itoa(int(w.port))
				if w.udp {
					c, err := net.ListenPacket("udp", address)
					if err != nil {
						return err
					}
					_ = c.(*net.UDPConn).SetReadBuffer(1) // nobody reads: captures count what comes
					l.closers = append(l.closers, c)
					continue
				}
				c, err := net.Listen("tcp", address)
				if err != nil {
					return err
				}
				l.closers = append(l.closers, c)
				go l.accept(c)
			}
			return nil
		}); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	return nil
}

// accept reads what comes over TCP, and closes when the sender has.
func (l *Lab) accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			src, dst := c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort()
			unmap := func(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
			l.mu.Lock()
			f := l.tuples[tuple{unmap(src), unmap(dst), false}]
			l.mu.Unlock()
			buffer := make([]byte, 64<<10)
			for {
				n, err := c.Read(buffer)
				if f != nil {
					f.mu.Lock()
					f.bytes += uint64(n)
					f.heard.Broadcast()
					f.mu.Unlock()
				}
				if err != nil {
					return
				}
			}
		}()
	}
}

// flood lets devices flood a victim until a moment of the scenario.
func (l *Lab) flood(ctx context.Context, i int, d *scenario.DDoS, until time.Duration) {
	t := &talk{
		label: fmt.Sprintf("faults[%d] ddos", i), udp: true, bps: uint64(d.Rate), packet: uint64(d.Packet),
		port: uint16(d.Port), until: until, v6: func() bool { return d.IP == "6" },
	}
	for _, h := range l.hostsNamed(d.From) {
		l.talks.Go(func() {
			var err error
			from := l.address(h, d.IP == "6")
			if d.Send == scenario.FloodReflection {
				from = netip.AddrPortFrom(from.Addr(), reflector)
			}
			if d.Spoof || d.Send == scenario.FloodSYN {
				err = l.forge(ctx, t, h, l.hostNamed[d.To], d)
			} else {
				err = l.datagrams(ctx, t, from, h, l.hostNamed[d.To], 0)
			}
			if err != nil && ctx.Err() == nil {
				l.failed(t.label, err)
			}
		})
	}
}

const reflector = 53 // source port of what reflectors send: that of DNS

// forge floods with packets that no socket sends: SYNs, and from addresses that are not the host's.
func (l *Lab) forge(ctx context.Context, t *talk, src, dst *host, d *scenario.DDoS) error {
	syn := d.Send == scenario.FloodSYN
	v6 := t.v6()
	from, to := l.address(src, v6), netip.AddrPortFrom(dst.address(v6), t.port)
	if d.Send == scenario.FloodReflection {
		from = netip.AddrPortFrom(from.Addr(), reflector)
	}
	f := l.begin(t.label, from, to, !syn, 0, nil)
	defer f.end(l, true)
	fd, family := -1, unix.AF_INET
	var where unix.Sockaddr
	if v6 {
		family, where = unix.AF_INET6, &unix.SockaddrInet6{Addr: to.Addr().As16()}
	} else {
		where = &unix.SockaddrInet4{Addr: to.Addr().As4()}
	}
	if err := src.ns.do(func() (err error) {
		fd, err = unix.Socket(family, unix.SOCK_RAW, unix.IPPROTO_RAW)
		return err
	}); err != nil {
		return err
	}
	defer unix.Close(fd)
	random := rand.New(rand.NewPCG(l.run.Seed, uint64(f.id)))
	for next := time.Now(); time.Duration(l.now()) < t.until; {
		address := from.Addr()
		if d.Spoof {
			address = forged(random, v6)
		}
		number := l.packets.Add(1)
		frame := rawPacket(netip.AddrPortFrom(address, from.Port()), to, f.id, number, int(t.packet), syn)
		_ = unix.Sendto(fd, frame, 0, where)
		next = next.Add(time.Duration(uint64(len(frame)+14+framing) * 8e9 / t.bps))
		if !l.pause(ctx, next) {
			break
		}
	}
	return nil
}

// forged returns an address that nobody has.
func forged(random *rand.Rand, v6 bool) netip.Addr {
	a := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	for i := 4; i < len(a); i++ {
		a[i] = byte(random.Uint32())
	}
	if v6 {
		return netip.AddrFrom16(a)
	}
	return netip.AddrFrom4([4]byte{11, a[4], a[5], a[6]})
}

// rawPacket returns an IP packet: UDP with the numbers of flow and packet, or a SYN. The kernel fills in the checksum
// of IPv4.
func rawPacket(src, dst netip.AddrPort, id uint32, number uint64, length int, syn bool) []byte {
	const udp, tcp = 8, 20
	ip, addresses := 20, 12 // of the header, and where addresses begin in it
	if src.Addr().Is6() {
		ip, addresses = 40, 8
	}
	length = max(length, ip+udp+12)
	protocol := byte(unix.IPPROTO_UDP)
	if syn {
		length, protocol = ip+tcp, unix.IPPROTO_TCP
	}
	b := make([]byte, length)
	if ip == 20 {
		b[0], b[8], b[9] = 0x45, 64, protocol
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	} else {
		b[0], b[6], b[7] = 0x60, protocol, 64
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-ip))
	}
	n := copy(b[addresses:], src.Addr().AsSlice())
	copy(b[addresses+n:], dst.Addr().AsSlice())
	binary.BigEndian.PutUint16(b[ip:], src.Port())
	binary.BigEndian.PutUint16(b[ip+2:], dst.Port())
	l4, at := b[ip:], 6
	if syn {
		at = 16
		binary.BigEndian.PutUint32(l4[4:], uint32(number))
		l4[12], l4[13] = 5<<4, 2
		binary.BigEndian.PutUint16(l4[14:], 65535)
	} else {
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
		binary.BigEndian.PutUint32(l4[udp:], id)
		binary.BigEndian.PutUint64(l4[udp+4:], number)
	}
	sum := uint32(protocol) + uint32(len(l4))
	for _, part := range [][]byte{b[addresses:ip], l4} {
		for i := 0; i < len(part); i += 2 {
			sum += uint32(part[i]) << 8
			if i+1 < len(part) {
				sum += uint32(part[i+1])
			}
		}
	}
	for sum>>16 > 0 {
		sum = sum&0xFFFF + sum>>16
	}
	binary.BigEndian.PutUint16(l4[at:], ^uint16(sum))
	return b
}

// failed remembers that traffic could not be sent.
func (l *Lab) failed(label string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.failures, label) {
		l.failures = append(l.failures, label)
		l.options.Log.Warn("traffic", "of", label, "error", err)
	}
}
