//go:build linux

// The programs and package node do the same: TestSameAsNode.
package bpf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/packet"
)

// needKernel skips a test that loads programs where that is not allowed, and says so.
func needKernel(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: programs are loaded by root only. Run: sudo make test")
	}
}

// A trial is programs that run without interfaces: their clock and routes are the test's.
type trial struct {
	t *testing.T
	*Programs
}

// trialTest is struct test of src/types.h.
type trialTest struct {
	Now        [2]uint64
	QueueBytes uint64
	Enqueued   uint64
	Out, MTU   uint32
	State      [56]byte
}

const (
	inIfindex  = 1 // that of test runs
	outIfindex = 1000
	lastL4     = 124 // LAST_L4 of src/packet.h
	maxTags    = 2   // TAGS of src/packet.h

	deniedByACL = 60 // reason of drops
)

func newTrial(t *testing.T, c Config) *trial {
	t.Helper()
	p, err := load(c, true)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return &trial{t, p}
}

func (r *trial) setPorts(inEdge, outEdge bool) {
	r.t.Helper()
	err := errors.Join(r.AddPort(Port{ID: 1, Edge: inEdge, Clone: true, Ifindex: inIfindex}),
		r.AddPort(Port{ID: 2, Edge: outEdge, Clone: true, Ifindex: outIfindex}))
	if err != nil {
		r.t.Fatal(err)
	}
}

// run lets a program have a frame, and returns what it leaves of it.
func (r *trial) run(p *ebpf.Program, frame []byte) (uint32, []byte) {
	r.t.Helper()
	o := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+256)}
	result, err := p.Run(&o)
	if err != nil {
		r.t.Fatalf("%v: %d bytes", err, len(frame))
	}
	return result, o.DataOut
}

// send lets a packet go through the switch; nil: it was dropped. noted says whether the egress knew when it came.
func (r *trial) send(frame []byte, e *node.Egress, arrived uint64) (out []byte, noted bool) {
	r.t.Helper()
	test := trialTest{
		Now: [2]uint64{arrived, e.DepartedNs}, QueueBytes: e.QueueBytes, Out: outIfindex, MTU: uint32(e.MTU),
	}
	if e.EnqueuedNs < e.DepartedNs {
		test.Enqueued = e.EnqueuedNs
	}
	if err := r.objects.Tests.Put(uint32(0), test); err != nil {
		r.t.Fatal(err)
	}
	const drop, pass = 1, 2
	verdict, out := r.run(r.objects.Arrive, frame)
	if verdict == drop {
		return nil, false
	}
	if verdict != pass {
		r.t.Fatalf("arrive: got %d", verdict)
	}
	if err := r.objects.Tests.Lookup(uint32(0), &test); err != nil {
		r.t.Fatal(err)
	}
	noted = test.State != [56]byte{}
	out = router(out)
	at := ipAt(out)
	ip := map[uint16]int{packet.EtherTypeIPv4: 20, packet.EtherTypeIPv6: 40}[binary.BigEndian.Uint16(out[at-2:])]
	if ip > 0 && len(out) >= at+ip { // test runs want whole IP headers
		_, out = r.run(r.objects.Depart, out)
	}
	return out, noted
}

// router does what routers do with a frame that it may change: TTL minus one, other MAC addresses.
func router(frame []byte) []byte {
	at := ipAt(frame)
	etherType := binary.BigEndian.Uint16(frame[at-2:])
	if len(frame) >= at+40 && etherType == packet.EtherTypeIPv6 && frame[at]>>4 == 6 {
		copy(frame, "\x02outerrouter")
		frame[at+7]--
		return frame
	}
	if len(frame) < at+20 || etherType != packet.EtherTypeIPv4 || frame[at]>>4 != 4 {
		return frame
	}
	copy(frame, "\x02outerrouter")
	ttl := at + 8
	before := [2]byte{frame[ttl], frame[ttl+1]}
	frame[ttl]--
	binary.BigEndian.PutUint16(frame[ttl+2:],
		packet.UpdateChecksum(binary.BigEndian.Uint16(frame[ttl+2:]), before[:], frame[ttl:ttl+2]))
	return frame
}

// A domainCase is what the programs are loaded for.
type domainCase struct{ text string }

var domainCases = []domainCase{
	{"mode: md"},
	{"mode: md\npoints: {int_dscp: 0x04, int_dscp_mask: 0x04}\nedge_int: accept"},
	{"mode: md\nomit: [queue, egress_ts]\nmax_hops: 3\nsink: in_stack"},
	{"mode: md\nclone: true"},
	{"mode: mx\nsink: separate"},
	{"mode: xd"},
	{"mode: md\ndomain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000"},
	{"mode: md\ncarrier: dst-port\npoints: {int_udp_port: 6003}"},
	{"mode: mx\ncarrier: dst-port\nedge_int: accept"},
	{"carrier: dst-port\ndomain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000"},
	{"carrier: geneve\ndomain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000"},
	{"mtu: report"},
	{"mtu: report\ncarrier: geneve\nmax_hops: 3"},
	{"version: 1.0"},
	{"version: 2016"},
	{"version: 2016\ncarrier: vxlan-gpe\nmax_hops: 3"},
	{"carrier: geneve"},
	{"carrier: vxlan-gpe"},
	{"mode: mx\ncarrier: vxlan-gpe\nsink: separate"},
	{"version: 1.0\ncarrier: geneve"},
	{"version: 1.0\ncarrier: vxlan-gpe"},
	{"version: 1.0\npoints: {int_dscp: 0x04, int_dscp_mask: 0x04}\nedge_int: accept\nmax_hops: 2"},
	{"mode: md\ncarrier: new-udp\npoints: {int_udp_port: 6010}"},
	{"queues: [{trigger: 30kB, reset: 15kB}, {port: 2, trigger_latency: 1ms, reset_latency: 10us, quota: 5}]"},
	{"mode: mx\nqueues: [{trigger: 300kB, reset: 100kB, quota: 3, trigger_latency: 4s, reset_latency: 3s}]"},
	{"mode: xd\nqueues: [{trigger: 30MB, quota: 2}]"},
	{"mode: md\nqueues: [{trigger: 1MB}]\nedge_int: accept"},
	{"mode: md\nqueues: [{trigger: 9MB, quota: 1}]\nsink: separate"},
	{"mtu: report\nqueues: [{trigger_latency: 1s, quota: 20}]"},
	{"version: 1.0\nqueues: [{trigger: 30kB, reset: 1kB, quota: 3}]"},
}

// lists are watchlists; each is for every domain that allows its modes.
var lists = []string{
	"watch: [{}]",
	"watch: [{report_all: true, instructions: [node_id]}]",
	"watch: [{protocol: tcp, mode: xd}, {protocol: udp}]",
	"watch: [{protocol: udp, ignore: true, priority: 1}, {src: 10.0.1.0/25, report_all: true}, " +
		"{dst_port: 6000-6007, mode: xd}]",
	"watch: [{sample: 3}]",
	"watch: [{protocol: udp, sample: 2}, {dst_port: 6003, ignore: true, priority: 1}, {sample: 5, report_all: true}]",
	"watch: [{src: 10.0.0.0/8}, {dst: 2001:db8:0:0::/112, report_all: true}, {src: 2001:db8::/121, mode: xd}]",
	"watch: [{dscp: 8, sample: 2, mode: mx}, {ingress_port: 2}, {dst: 10.0.2.0/26, dst_port: 6001, " +
		"instructions: [hop_latency, buffer, egress_tx_util, l2_interfaces]}]",
	"watch: [{vlan: 100, instructions: [node_id, egress_ts]}, {vlan: 0, mode: xd}, {vlan: 101, report_all: true}]",
	"watch: [{vni: 48879, report_all: true, sample: 2}, {mode: xd}]",
	"watch: []",
}

// manyEntries returns a watchlist of prefixes and ranges of ports that overlap.
func manyEntries(r *rand.Rand, n int) string {
	b := []byte("watch:\n")
	for range n {
		from, port := "src", 6000+r.IntN(16)
		if r.IntN(2) == 0 {
			from = "dst"
		}
		address4 := [4]byte{10, 0, byte(1 + r.IntN(2)), byte(r.Uint32())}
		prefix := netip.PrefixFrom(netip.AddrFrom4(address4), 22+r.IntN(11))
		if r.IntN(3) == 0 {
			address := [16]byte{0x20, 1, 0xd, 0xb8, 15: byte(r.Uint32())}
			prefix = netip.PrefixFrom(netip.AddrFrom16(address), 118+r.IntN(11))
		}
		b = fmt.Appendf(b, "  - {priority: %d, %s: \"%s\", dst_port: %d-%d", r.IntN(4), from, prefix.Masked(), port,
			port+r.IntN(4))
		b = append(b, []string{"}\n", ", protocol: udp}\n", ", ignore: true}\n", ", mode: xd}\n"}[r.IntN(4)]...)
	}
	return string(b)
}

func testSpec(id uint32, inEdge, outEdge bool) node.Spec {
	return node.Spec{
		NodeID: id, Name: "test", Source: netip.AddrFrom4([4]byte{192, 0, 2, byte(id)}),
		Collectors: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.200:8555")}, Queues: 1, Seed: 7,
		Ports: []node.Port{{Edge: inEdge}, {Edge: outEdge}},
	}
}

func newNode(t testing.TB, text string, s node.Spec, change func(*node.Config)) *node.Node {
	t.Helper()
	if !strings.Contains(text, "queues:") {
		text += "\nqueues: []\n"
	}
	c, err := node.Load([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c.Omit = append(c.Omit, "buffer", "l2_interfaces", "queue_congestion", "egress_tx_util")
	if change != nil {
		change(&c)
	}
	n, err := node.New(c, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n
}

// unsampled changes the watchlist of a node.
func unsampled(c *node.Config) {
	for i := range c.Watch {
		c.Watch[i].Sample = 0
	}
}

// TestSameAsNode sends random packets, with and without INT, whole, damaged and cut, with IP and TCP options, IPv6
// extension headers, VLAN tags and in fragments, through the programs and through a node.Node: what leaves is the same
// byte for byte, and so are the reports. What the programs leave alone, and a node does not, is named in compare.
func TestSameAsNode(t *testing.T) {
	needKernel(t)
	seed, all := test.Seed(t)
	packets := 4000 // for each domain, always the same
	if all {
		packets = 100_000 // minutes
	}
	const turns = 4
	for i, domain := range domainCases {
		if !all && uint64(i)%turns != seed%turns {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			config := domain.config(t)
			programs := newTrial(t, config)
			seen := map[string]int{}
			for round := 0; seen["packets"] < packets; round++ {
				lists := slices.Clone(lists)
				if round == 0 {
					lists = append(lists, manyEntries(r, config.Watched))
				}
				for _, list := range lists {
					if _, err := node.Load([]byte(domain.text + "\n" + list)); err != nil {
						continue // this domain has no such mode
					}
					if config.Clone && strings.Contains(list, "mode: mx") {
						continue // refused
					}
					s := sameCase{trial: programs, r: r, seen: seen, accepts: config.AcceptEdge}
					s.text = domain.text + "\n" + list
					s.compare(r.IntN(2) == 0, r.IntN(2) == 0)
				}
				if t.Failed() {
					return
				}
			}
			if err := programs.EachCounter(func(name string, count uint64) {
				if name == "popped_stack" || strings.HasPrefix(name, "congestion") {
					seen[name] = int(count)
				}
			}); err != nil {
				t.Fatal(err)
			}
			t.Log(seen)
			if config.Pop && seen["popped_stack"] < 20 {
				t.Errorf("only %d stacks were taken out", seen["popped_stack"])
			}
			if len(config.Queues) > 0 && config.Queues[1] != (event.Threshold{}) &&
				(seen["congestion_began"] < 20 || seen["congestion_ended"] < 20) {
				t.Error("hardly a queue was congested")
			}
			if config.Clone && seen["clones"] < 100 {
				t.Errorf("only %d clones", seen["clones"])
			}
			least := 20
			for _, name := range []string{
				"same", "changed", "changed, IPv6", "changed, IPv6 with extension headers", "changed, 1 tags",
				"changed, 2 tags", "reports",
			} {
				if seen[name] < least && (name[0] != 'c' || config.Mode != watch.ModeXD) {
					t.Errorf("%s: only %d", name, seen[name])
				}
			}
		})
	}
}

// config returns what the programs are loaded for.
func (d domainCase) config(t *testing.T) Config {
	t.Helper()
	base := newNode(t, d.text, testSpec(9, true, true), nil)
	config := Config{
		NodeID: 9, Mode: watch.ModeMD, Domain: base.Domain(), AcceptEdge: strings.Contains(d.text, "accept"),
		Known: base.Knows(), Truncate: 128, Slots: 16, Watched: 400, Clone: strings.Contains(d.text, "clone"),
		Pop: strings.Contains(d.text, "mtu: report"), Queues: base.Thresholds(),
	}
	if base.NamesDevice() {
		config.DeviceDomain, config.DSFlags = base.Domain().DomainID, base.Domain().DSFlags
	}
	switch {
	case strings.Contains(d.text, "mx"):
		config.Mode = watch.ModeMX
	case strings.Contains(d.text, "xd"):
		config.Mode = watch.ModeXD
	}
	return config
}

// A sameCase is one watchlist between ports of one kind.
type sameCase struct {
	*trial
	r    *rand.Rand
	seen map[string]int
	text string

	accepts bool // INT from edges

	inEdge, outEdge bool
	want            *node.Node
	reporter        Reporter
	state           node.State
	out, reported   node.Output
}

// begin makes the nodes, and gives the programs ports and the watchlist.
func (c *sameCase) begin(inEdge, outEdge bool) {
	c.t.Helper()
	c.inEdge, c.outEdge = inEdge, outEdge
	spec := testSpec(9, inEdge, outEdge)
	c.want = newNode(c.t, c.text, spec, nil)
	c.reporter = Reporter{
		Node: newNode(c.t, c.text, spec, unsampled),
		Why:  func(uint16, uint8) (node.Place, uint8) { return node.PlaceIngress, deniedByACL },
	}
	c.setPorts(inEdge, outEdge)
	if err := c.putQueues(c.want.Thresholds()); err != nil { // congested no more
		c.t.Fatal(err)
	}
	if err := c.Watch(c.want.FlowWatchlist()); err != nil {
		c.t.Fatal(err)
	}
}

// compare lets random packets pass.
func (c *sameCase) compare(inEdge, outEdge bool) {
	t, r := c.t, c.r
	t.Helper()
	c.begin(inEdge, outEdge)
	upstream := newNode(t, c.text, testSpec(3, true, false), nil)
	further := newNode(t, c.text, testSpec(4, false, false), nil)
	domain := c.want.Domain()
	now := uint64(1_700_000_000_000_000_000)
	var state node.State
	var out node.Output
	for range 30 {
		now += r.Uint64N(1e9)
		frame := c.frame(domain)
		if r.IntN(3) > 0 { // it comes from inside
			for n := range 1 + r.IntN(3) {
				from := further
				if n == 0 {
					from = upstream
				}
				from.Process(frame, node.Ingress{Port: 1, TimeNs: now}, func(*node.State) node.Egress {
					return node.Egress{Port: 2, DepartedNs: now + 100}
				}, &state, &out)
				if out.Frame == nil { // denied at the edge
					break
				}
				frame = append([]byte(nil), out.Frame...)
				now += 1000
			}
			c.damage(frame)
		}
		if r.IntN(20) == 0 {
			frame = frame[:r.IntN(len(frame))]
		}
		if len(frame) > 14 && r.IntN(8) == 0 {
			mutate(r, frame)
		}
		if !c.same(frame, now) {
			return
		}
	}
}

// same lets one packet pass both, and says whether they did the same.
func (c *sameCase) same(frame []byte, now uint64) bool {
	t, r, domain := c.t, c.r, c.want.Domain()
	t.Helper()
	var p embed.Packet
	parsed := domain.Parse(frame, &p)
	if len(frame) < 14 || p.IPVersion != 0 && p.TTL < 2 { // no link has such a frame, and routers drop these
		return true
	}
	queues := strings.Contains(c.text, "queues:")
	e := node.Egress{
		Port: 2, QueueBytes: r.Uint64N(1<<26) * r.Uint64N(2), DepartedNs: now + r.Uint64N(1<<33),
		MTU: []int{0, 1500, p.TotalLength + r.IntN(100)}[r.IntN(3)],
	}
	if strings.Contains(c.text, "mtu: report") && r.IntN(2) == 0 { // so that few records fit
		e.MTU = p.TotalLength + r.IntN(60)
	}
	if strings.Contains(c.text, "clone") {
		e.MTU = 0 // clones are short, and fit
	}
	if e.EnqueuedNs = e.DepartedNs; queues && r.IntN(2) == 0 {
		e.EnqueuedNs -= r.Uint64N(e.DepartedNs-now+1) >> r.IntN(32)
	}
	in := node.Ingress{Port: 1, TimeNs: now}
	before, passed := bytes.Clone(frame), router(bytes.Clone(frame))
	unread := parsed == nil && (p.IPVersion == 0 || p.L3 > 14+4*maxTags || p.L4 > lastL4)
	ip := map[uint8]int{4: 20, 6: 40}[p.IPVersion]
	if queues && (unread || ip == 0 || len(frame) < ipAt(frame)+ip) {
		return true // no router forwards it, and so it is in no queue
	}
	if c.inEdge && !p.INT.Present && isPartial(domain, frame) {
		return true // TestPartial
	}
	got, noted := c.send(bytes.Clone(frame), &e, now)

	by := c.want
	switch {
	case unread:
		by = nil // the programs do not read it
	case inTunnel(domain, frame) && !(p.INT.Present && (!c.inEdge || c.accepts || domain.Carrier != embed.DSCP)) &&
		!looksInto(domain, frame):
		in.Unwatched = true // nor look into tunnels
	case queues && p.INT.Malformed != 0 && (!c.inEdge || c.accepts):
		in.Unwatched = true // nor look whether it is watched for what it is without INT
	}
	if got != nil && !noted {
		in.Untimed = true
	}
	var frameWant []byte
	if by == nil {
		frameWant = passed
		c.out.Reports = c.out.Reports[:0]
	} else {
		verdict := by.Arrive(frame, in, &c.state)
		if got == nil { // dropped at the ingress
			e = node.Egress{Port: 2, EnqueuedNs: now, DepartedNs: now, Congestion: &event.Verdict{}}
		} else {
			frame = router(frame)
		}
		if verdict.Drop {
			by.Drop(frame, &c.state, node.Drop{Place: node.PlaceIngress, Reason: verdict.Reason, TimeNs: now}, &c.out)
			c.seen["denied"]++
		} else {
			by.Depart(frame, &c.state, e, &c.out)
		}
		frameWant = c.out.Frame
		if len(c.out.Copies) > 0 { // in a trial the packet becomes the clone
			frameWant = shortened(domain, c.out.Copies[0].Frame)
			c.seen["clones"]++
		}
		if frameWant == nil && !verdict.Drop && keepsINT(domain, before) {
			frameWant = passed // what cannot be stripped passes
			if !queues {
				c.out.Reports = c.out.Reports[:0]
			}
		}
	}
	if !bytes.Equal(got, frameWant) {
		t.Errorf("%s\nedges %v %v, %+v\ncame %x\ngot  %x\nwant %x", c.text, c.inEdge, c.outEdge, e, before, got,
			frameWant)
		return false
	}
	c.seen["packets"]++
	switch {
	case bytes.Equal(got, passed):
		c.seen["same"]++
	case p.L3 > 14:
		c.seen[fmt.Sprintf("changed, %d tags", (p.L3-14)/4)]++
	case p.IPVersion == 6 && p.L4 > p.L3+40:
		c.seen["changed, IPv6 with extension headers"]++
	case p.IPVersion == 6:
		c.seen["changed, IPv6"]++
	default:
		c.seen["changed"]++
	}
	c.readReports(&c.reporter, &c.reported)
	if len(c.reported.Reports) != len(c.out.Reports) {
		t.Errorf("%s\nedges %v %v, %+v\ncame %x\ngot %d reports, want %d", c.text, c.inEdge, c.outEdge, e, before,
			len(c.reported.Reports), len(c.out.Reports))
		return false
	}
	for i := range c.out.Reports {
		c.seen["reports"]++
		if !bytes.Equal(c.reported.Reports[i], c.out.Reports[i]) {
			t.Errorf("%s\nedges %v %v\ncame %x\ngot report  %x\nwant report %x", c.text, c.inEdge, c.outEdge, before,
				c.reported.Reports[i], c.out.Reports[i])
			return false
		}
	}
	return true
}

// shortened returns a clone as the kernel makes it: with 64 bytes of payload, and right checksums.
func shortened(d *embed.Domain, frame []byte) []byte {
	var p embed.Packet
	_ = d.Parse(frame, &p)
	end := p.End
	if p.Protocol == packet.ProtoUDP {
		end = p.L4 + int(binary.BigEndian.Uint16(frame[p.L4+4:]))
	}
	f := bytes.Clone(frame[:min(end, p.INT.End+64)])
	var pseudo uint32
	at := p.L3
	if p.IPVersion == 4 {
		binary.BigEndian.PutUint16(f[at+2:], uint16(len(f)-at))
		sum := packet.UpdateChecksum(binary.BigEndian.Uint16(f[at+10:]), frame[at+2:at+4], f[at+2:at+4])
		binary.BigEndian.PutUint16(f[at+10:], sum)
		var h packet.IPv4
		_, _ = h.Decode(f[at:])
		pseudo = packet.PseudoIPv4(h.Src, h.Dst, p.Protocol, len(f)-p.L4)
	} else {
		binary.BigEndian.PutUint16(f[at+4:], uint16(len(f)-at-40))
		var h packet.IPv6
		_, _ = h.Decode(f[at:])
		pseudo = packet.PseudoIPv6(h.Src, h.Dst, p.Protocol, len(f)-p.L4)
	}
	sum := p.L4 + 16
	if p.Protocol == packet.ProtoUDP {
		binary.BigEndian.PutUint16(f[p.L4+4:], uint16(len(f)-p.L4))
		if sum = p.L4 + 6; binary.BigEndian.Uint16(f[sum:]) == 0 {
			return f
		}
	}
	binary.BigEndian.PutUint16(f[sum:], 0)
	c := ^packet.Fold(packet.Sum(f[p.L4:], pseudo))
	if p.Protocol == packet.ProtoUDP {
		c = packet.UDPChecksum(c)
	}
	binary.BigEndian.PutUint16(f[sum:], c)
	return f
}

// inTunnel reports whether a packet is one of a tunnel, whatever its DSCP says.
func inTunnel(d *embed.Domain, frame []byte) bool {
	xd := *d
	xd.Mode = embed.XD
	var p embed.Packet
	return xd.Parse(frame, &p) == nil && !p.LaterFragment && (p.HasOuter || isTunnelPort(&p))
}

// looksInto reports whether the programs know the flow of the packet in a tunnel: an IP packet that is no tunnel
// itself.
func looksInto(d *embed.Domain, frame []byte) bool {
	if !isTunnelCarrier(d.Carrier) {
		return false
	}
	xd := *d
	xd.Mode = embed.XD
	var p, q embed.Packet
	if xd.Parse(frame, &p) != nil || p.Protocol != packet.ProtoUDP || p.LaterFragment || p.End < p.L4+16 {
		return false
	}
	at := p.L4 + 8
	b := frame[at:p.End]
	etherType := uint16(packet.EtherTypeTEB)
	switch binary.BigEndian.Uint16(frame[p.L4+2:]) {
	case packet.PortVXLAN:
		if b[0]&packet.VXLANFlagI == 0 {
			return false
		}
	case packet.PortVXLANGPE:
		var h packet.VXLANGPE
		if _, err := h.Decode(b); err != nil || h.P() && (h.NextProtocol < 1 || h.NextProtocol > 3) {
			return false
		}
		if h.P() && h.NextProtocol < packet.NextEthernet {
			etherType = packet.EtherTypeIPv4
		}
	case packet.PortGeneve:
		var h packet.Geneve
		if _, err := h.Decode(b); err != nil {
			return false
		}
		etherType = h.Protocol
		at += 4 * int(h.OptLen)
	default:
		return false
	}
	at += 8
	inner := bytes.Clone(frame[at:p.End])
	if etherType != packet.EtherTypeTEB {
		inner = append(append(make([]byte, 12), byte(etherType>>8), byte(etherType)), inner...)
	}
	return xd.Parse(inner, &q) == nil && q.IPVersion != 0 && q.L3 <= 14+4*maxTags && !q.HasOuter &&
		(q.LaterFragment || !isTunnelPort(&q))
}

func isTunnelCarrier(c embed.Carrier) bool { return c == embed.VXLANGPE || c == embed.Geneve }

func isTunnelPort(p *embed.Packet) bool {
	f := &p.Flow
	switch f.Protocol {
	case packet.ProtoUDP:
		return f.DstPort == packet.PortVXLAN || f.DstPort == packet.PortVXLANGPE || f.DstPort == packet.PortGeneve
	case packet.ProtoGRE, packet.ProtoIPv4, packet.ProtoIPv6:
		return true
	}
	return false
}

// keepsINT reports whether a packet has INT that cannot be removed, and is dropped for that by a node.
func keepsINT(d *embed.Domain, frame []byte) bool {
	var p embed.Packet
	if d.Parse(frame, &p) != nil {
		return false
	}
	out, s, _ := d.Strip(nil, &p)
	return s.Present && len(out) == 0
}

// frame makes a packet, most of them such that the programs do something.
func (c *sameCase) frame(d *embed.Domain) []byte {
	r := c.r
	s := packets.Random(r)
	s.Labels = 0
	if r.IntN(3) > 0 {
		s.Tags = 0
	}
	if r.IntN(4) > 0 {
		s.Kind = []packets.Kind{packets.UDP, packets.TCP, packets.UDPNoChecksum}[r.IntN(3)]
	}
	if isTunnelCarrier(d.Carrier) && r.IntN(10) > 0 {
		s.Kind = map[embed.Carrier]packets.Kind{embed.VXLANGPE: packets.GPE, embed.Geneve: packets.Geneve}[d.Carrier]
		if r.IntN(4) == 0 {
			s.Kind = []packets.Kind{packets.GPE, packets.Geneve, packets.VXLAN}[r.IntN(3)]
		}
	}
	if r.IntN(4) == 0 {
		s.DSCP = d.Points.INTDSCP
	}
	s.Port = uint16(6000 + r.IntN(16))
	frame := s.Frame(r)
	at := ipAt(frame)
	if s.IPv6 {
		frame[at+7] = 64
		return frame
	}
	var h packet.IPv4
	if _, err := h.Decode(frame[at:]); err != nil {
		c.t.Fatal(err)
	}
	h.TTL = 64 // routers drop others
	binary.BigEndian.PutUint16(frame[at+10:], h.HeaderChecksum())
	frame[at+8] = 64
	return frame
}

// damage changes some bytes of the INT of some packets, but for the id of the domain.
func (c *sameCase) damage(frame []byte) {
	at := ipAt(frame) + 20
	if frame[at-20]>>4 == 6 {
		at += 20
	}
	for range c.r.IntN(3) * c.r.IntN(2) {
		at := at + c.r.IntN(60)
		if at < len(frame) {
			frame[at] ^= 1 << c.r.IntN(8)
		}
	}
}

// mutate changes some bytes anywhere behind the MAC addresses.
func mutate(r *rand.Rand, frame []byte) {
	for range 1 + r.IntN(4) {
		if at := 12 + r.IntN(min(len(frame), 120)); at < len(frame) {
			frame[at] ^= 1 << r.IntN(8)
		}
	}
}

func (c *sameCase) readReports(r *Reporter, all *node.Output) {
	c.t.Helper()
	c.SetDeadline(time.Now())
	all.Reports = nil
	var e Event
	var one node.Output
	for {
		err := c.Read(&e)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			c.t.Fatal(err)
		}
		r.Report(&e, &one)
		for _, b := range one.Reports {
			all.Reports = append(all.Reports, bytes.Clone(b))
		}
	}
}
