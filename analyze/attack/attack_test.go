package attack

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/report"
)

// one is a shard of its own.
type one struct{ *Counts }

func (o one) TakeTallies(empty Tallies) Tallies { return o.Take(empty) }

func (o one) WatchTarget(w WatchOf) { o.Watch(w) }

func (o one) UnwatchTarget(number uint32) { o.Unwatch(number) }

func (o one) WatchedSources(number uint32, classes Classes) Watched {
	return o.Watched(number, classes)
}

// A network sends packets to a Search, look by look.
type network struct {
	t      *testing.T
	counts *Counts
	search *Search
	nowNs  int64
	found  map[string]*Attack // the latest state, by target and begin
}

func newNetwork(t *testing.T, change func(*Config)) *network {
	c := DefaultConfig()
	c.Floor, c.Learn, c.EndAfter = Limit{PPS: 1000}, 2*time.Second, 3*time.Second
	if change != nil {
		change(&c)
	}
	n := &network{t: t, counts: NewCounts(1024, 1), search: NewSearch(c), nowNs: 1e18, found: map[string]*Attack{}}
	n.search.Look([]Shard{one{n.counts}}, n.nowNs)
	return n
}

// look sends what each wants in a fifth of a second, and looks.
func (n *network) look(times int, send ...func()) {
	for range times {
		n.nowNs += LookNs
		for _, s := range send {
			s()
		}
		for _, a := range n.search.Look([]Shard{one{n.counts}}, n.nowNs) {
			n.found[fmt.Sprint(a.Target.Addr, a.BeginNs)] = a
		}
	}
}

// only returns the one attack that was found.
func (n *network) only() *Attack {
	n.t.Helper()
	if len(n.found) != 1 {
		n.t.Fatalf("got %d attacks, want one: %v", len(n.found), n.found)
	}
	for _, a := range n.found {
		return a
	}
	return nil
}

func key(src, dst string, protocol uint8, port uint16) telemetry.FlowKey {
	return telemetry.FlowKey{
		Src: telemetry.AddrFrom(netip.MustParseAddr(src)), Dst: telemetry.AddrFrom(netip.MustParseAddr(dst)),
		SrcPort: 40000, DstPort: port, Protocol: protocol,
	}
}

// flood returns what sends so many UDP packets of a device in each look, which a filter drops or not.
func (n *network) flood(device uint64, dst string, packets int, filtered bool) func() {
	k := key(fmt.Sprintf("10.0.0.%d", device>>16&0xff), dst, 17, 53)
	var ends Ends
	first := int64(0)
	return func() {
		if first == 0 {
			first = n.nowNs
		}
		for range packets {
			var w *Watch
			if filtered {
				w = n.counts.Dropped(&ends, &k, UDP, 500, 1, true)
			} else {
				w = n.counts.Passed(&ends, &k, UDP, 500, 1)
			}
			if w != nil {
				w.Count(&ends, &Packet{
					Class: UDP, Bytes: 500, Weight: 1, Filtered: filtered, Device: device, HasDevice: true, Src: k.Src,
					Port: 53, FlowNs: first, NowNs: n.nowNs, Last: 7, HasLast: !filtered,
				})
			}
		}
	}
}

const camera, printer = 0xa61af6b16401 << 16, 0xa61af6b16402 << 16

// What an attack is begins, goes on and ends with its packets. Twice what is usual is none; ten times it is.
func TestSearch(t *testing.T) {
	n := newNetwork(t, nil)
	usual := n.flood(printer, "192.0.2.2", 200, false)
	n.look(15, usual)
	n.look(10, usual, usual)
	if len(n.found) > 0 {
		t.Fatalf("got %+v", n.only())
	}
	begin := n.nowNs
	n.look(10, n.flood(camera, "192.0.2.1", 150, false), n.flood(printer, "192.0.2.1", 150, false), usual)
	a := n.only()
	if a.Kind != telemetry.AttackUDP || a.BeginNs != begin || a.Offered != (Amount{3000, 1_500_000}) ||
		a.Now.PPS != 1500 || a.State != telemetry.AttackActive || a.Sources.DevicesTotal != 2 {
		t.Errorf("got %+v", a)
	}
	n.look(14, usual)
	if a.EndNs != 0 {
		t.Errorf("it ended too early")
	}
	n.look(2, usual)
	if a.EndNs != begin+10*LookNs || a.State != telemetry.AttackEnded {
		t.Errorf("got %v, ended after %d ms", a.State, (a.EndNs-begin)/1e6)
	}
	if n.search.watched != 0 || n.counts.watches[0] != nil {
		t.Error("its target is still watched")
	}
}

// Pulses that are too short to be told one by one are an attack, which begins with the first of them and has the
// packets of all. What was no attack is forgotten.
func TestShortPulses(t *testing.T) {
	n := newNetwork(t, nil)
	pulse := n.flood(camera, "192.0.2.1", 400, false)
	n.look(15)
	n.look(2, pulse)
	n.look(25)
	begin := n.nowNs
	n.look(2, pulse)
	n.look(8)
	n.look(1, pulse)
	a := n.only()
	if a.BeginNs != begin || a.Offered.Packets != 3*400 || a.Pulses != 1 {
		t.Errorf("begins %d ms behind the first pulse, with %d packets and %d pulses", (a.BeginNs-begin)/1e6,
			a.Offered.Packets, a.Pulses)
	}
}

// onEvent is a network whose nodes tell of some packets only.
type onEvent struct{}

func (onEvent) Partly(uint32) bool  { return true }
func (onEvent) SomePartly() bool    { return true }
func (onEvent) Unknown(uint32) bool { return false }

// Where nodes tell of some packets only, what gets through filters is not known, unless nothing does, and data that
// nobody acknowledges is no flood: the acknowledgements may not be told of. A flood that nobody answers is one.
func TestPartlyReported(t *testing.T) {
	n := newNetwork(t, nil)
	n.search.Reporting = onEvent{}
	n.look(15)
	data, ack := key("10.0.9.9", "192.0.2.9", 6, 443), key("192.0.2.9", "10.0.9.9", 6, 443)
	var there, back Ends
	upload := func() {
		for range 400 {
			n.counts.Passed(&there, &data, TCP, 1400, 1)
		}
		n.counts.Passed(&back, &ack, TCP, 40, 1)
	}
	through, filtered := n.flood(camera, "192.0.2.1", 200, false), n.flood(camera, "192.0.2.1", 200, true)
	n.look(10, upload, through, filtered)
	a := n.only()
	r := a.Record("1", time.Unix(0, a.BeginNs), nil)
	if a.Kind != telemetry.AttackUDP || a.State != telemetry.AttackActive || r.Effectiveness != nil ||
		r.Devices[0].Effectiveness != nil || !strings.Contains(r.Text, "filters drop some of it") {
		t.Errorf("got %v %v of %v: %s", a.State, a.Kind, r.Effectiveness, r.Text)
	}
	n.look(12, filtered, filtered)
	r = a.Record("1", time.Unix(0, a.BeginNs), nil)
	if a.State != telemetry.AttackMitigated || r.Effectiveness == nil || *r.Effectiveness != 1 {
		t.Errorf("got %v of %v: %s", a.State, r.Effectiveness, r.Text)
	}
}

// A rule of Transparent Security that tells a key and no flow is one of the attack whose device it names. It goes on as
// long as the rule drops, although nothing reaches the target.
func TestDropKeys(t *testing.T) {
	n := newNetwork(t, nil)
	n.look(15)
	n.look(10, n.flood(camera, "192.0.2.1", 300, false), n.flood(printer, "192.0.2.1", 300, false))
	rule := func(device uint64, node uint32, packets uint64) func() {
		var mac [6]byte
		for i := range mac {
			mac[i] = byte(device >> (56 - 8*i))
		}
		k := RuleKey{report.TSDropKey(mac, 53, netip.MustParseAddr("192.0.2.1"), netip.Addr{}), node}
		return func() { n.counts.DroppedByRule(k, packets, n.nowNs) }
	}
	n.look(30, rule(camera, 1, 300), rule(printer, 2, 100), rule(0x1<<16, 3, 77))
	a := n.only()
	if a.State != telemetry.AttackMitigated || a.Effect < 0.99 || a.EndNs != 0 {
		t.Errorf("got %v, effect %v", a.State, a.Effect)
	}
	n.look(20)
	dropped := map[uint32]uint64{}
	for _, f := range a.Sources.Filters {
		dropped[f.Node] = f.Packets
	}
	if a.Filtered.Packets != 12000 || dropped[1] != 9000 || dropped[2] != 3000 || len(dropped) != 2 {
		t.Errorf("filters dropped %d: %v", a.Filtered.Packets, dropped)
	}
	if a.State != telemetry.AttackEnded || n.search.Totals().Rules != 1 {
		t.Errorf("got %v, %d rules unresolved", a.State, n.search.Totals().Rules)
	}
}

// A filter at one of two gateways is told by its device, and by its place: it drops all of the one, and nothing of the
// other.
func TestEffectOfEach(t *testing.T) {
	n := newNetwork(t, nil)
	n.look(15)
	other := n.flood(printer, "192.0.2.1", 300, false)
	n.look(10, n.flood(camera, "192.0.2.1", 300, false), other)
	n.look(10, n.flood(camera, "192.0.2.1", 300, true), other)
	effects := map[uint64]float64{}
	for _, s := range n.only().Sources.Devices {
		effects[s.Device] = s.Effect
	}
	if effects[camera] != 1 || effects[printer] != -1 {
		t.Errorf("got %v", effects)
	}
	n.look(10, n.flood(camera, "192.0.2.1", 200, true), n.flood(camera, "192.0.2.1", 100, false), other)
	for _, s := range n.only().Sources.Devices {
		if s.Device == camera && (s.Effect < 0.66 || s.Effect > 0.67) {
			t.Errorf("two thirds are dropped: got %v", s.Effect)
		}
	}
}

// Limits hold as they are configured: addresses in the safe-list are no targets, groups have limits of their own, and a
// fixed one holds while everything else is learned, and for what is answered.
func TestLimits(t *testing.T) {
	n := newNetwork(t, func(c *Config) {
		c.Safe = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
		c.Groups = []Group{
			{Prefixes: []netip.Prefix{netip.MustParsePrefix("192.0.3.0/24")}, Fixed: Limit{PPS: 100}},
			{Prefixes: []netip.Prefix{netip.MustParsePrefix("192.0.4.0/24")}, Floor: Limit{PPS: 100_000}},
		}
	})
	n.look(5, n.flood(camera, "192.0.3.1", 30, false))
	if a := n.only(); !a.Fixed || a.Target.Addr != telemetry.AddrFrom(netip.MustParseAddr("192.0.3.1")) {
		t.Errorf("got %+v", a)
	}
	clear(n.found)
	n.look(30)
	clear(n.found)
	for _, device := range []uint64{camera, printer} {
		for _, to := range []string{"192.0.2.1", "192.0.4.1"} {
			n.look(10, n.flood(device, to, 1000, false))
		}
	}
	if len(n.found) > 0 {
		t.Errorf("got %+v", n.only())
	}
}

// Large transfers do not keep the watches from an attack that comes later: its sources are counted.
func TestAttackAmongTransfers(t *testing.T) {
	n := newNetwork(t, nil)
	n.look(15)
	var all []func()
	for i := range 2 * MaxWatches { // each with ten connections of one peer, which is no crowd
		var ends, back [10]Ends
		host := fmt.Sprintf("192.0.%d.1", i+2)
		all = append(all, func() {
			for c := range 10 {
				k := key(fmt.Sprintf("10.0.%d.1", i+1), host, 6, uint16(c+1))
				r := key(host, fmt.Sprintf("10.0.%d.1", i+1), 6, uint16(c+1))
				for range 50 {
					w := n.counts.Passed(&ends[c], &k, TCP, 1500, 1)
					if w != nil {
						w.Count(&ends[c], &Packet{Class: TCP, Bytes: 1500, Src: k.Src, FlowNs: n.nowNs, NowNs: n.nowNs})
					}
					n.counts.Passed(&back[c], &r, TCP, 60, 1)
				}
			}
		})
	}
	n.look(10, all...)
	if len(n.found) > 0 {
		t.Fatalf("got %+v", n.found)
	}
	for _, device := range []uint64{camera, printer} {
		all = append(all, n.flood(device, "198.51.100.1", 300, false))
	}
	n.look(10, all...)
	if a := n.only(); a.Sources.DevicesTotal != 2 || n.search.Totals().Unwatched > 0 {
		t.Errorf("got %d devices of %+v, %d unwatched", a.Sources.DevicesTotal, a.Target, n.search.Totals().Unwatched)
	}
}

// A prefix is bombed if most of its addresses get what there is too much of. Films for some of them, beside other
// traffic for the rest, are none.
func TestCarpet(t *testing.T) {
	n := newNetwork(t, nil)
	n.look(15)
	var usual, films, bombs []func()
	for i := range 9 {
		to := fmt.Sprintf("192.0.2.%d", i+1)
		k := key("198.51.100.1", to, 6, 443)
		var ends Ends
		usual = append(usual, func() {
			for range 5 {
				n.counts.Passed(&ends, &k, TCP, 1500, 1)
			}
		})
		if i < 3 {
			films = append(films, n.flood(uint64(i+1)<<16, to, 100, false))
		}
		for _, device := range []uint64{camera, printer} {
			bombs = append(bombs, n.flood(device, to, 20, false))
		}
	}
	n.look(15, append(films, usual...)...)
	if len(n.found) > 0 {
		t.Errorf("films: got %+v", n.only())
	}
	n.look(15, usual...)
	n.look(10, append(bombs, usual...)...)
	if a := n.only(); a.Kind != telemetry.AttackCarpet || a.Bits != 96+24 {
		t.Errorf("got %+v", a)
	}
}

// What was attacked before a restart is found again at once, and is not learned.
func TestExpected(t *testing.T) {
	for _, expects := range []bool{false, true} {
		n := newNetwork(t, func(c *Config) { c.Learn = time.Minute })
		if expects {
			n.search.Expect(Target{Addr: telemetry.AddrFrom(netip.MustParseAddr("192.0.2.1"))}, 128)
		}
		n.look(5, n.flood(camera, "192.0.2.1", 300, false), n.flood(printer, "192.0.2.1", 300, false))
		if found := len(n.found) == 1; found != expects {
			t.Errorf("got %v, want %v", found, expects)
		}
	}
}

// What was usual before a restart still is: as much is no attack, and an attack is one at once. After a long time it is
// learned again.
func TestUsualOverRestart(t *testing.T) {
	before := newNetwork(t, nil)
	before.look(50, before.flood(printer, "192.0.2.2", 2000, false))
	text, err := json.Marshal(before.search.Usual())
	if err != nil {
		t.Fatal(err)
	}
	if len(before.found) > 0 || !strings.Contains(string(text), `"target":"192.0.2.2/32"`) {
		t.Fatalf("found %v; usual is %s", before.found, text)
	}
	for _, ago := range []time.Duration{time.Minute, 2 * time.Hour} {
		var u Usual
		if err := json.Unmarshal(text, &u); err != nil {
			t.Fatal(err)
		}
		n := newNetwork(t, func(c *Config) { c.Learn = time.Minute })
		n.search.Restore(&u, ago)
		n.look(15, n.flood(printer, "192.0.2.2", 2000, false))
		if len(n.found) > 0 {
			t.Errorf("%v: what was usual is an attack: %+v", ago, n.only())
		}
		n.look(5, n.flood(printer, "192.0.2.2", 2000, false), n.flood(camera, "192.0.2.2", 9000, false))
		if found := len(n.found) == 1; found != (ago == time.Minute) {
			t.Errorf("%v: an attack is found: %v", ago, found)
		}
	}
}

// Forged addresses do not take more memory than there is, nor push out who sends the most; how much too many is counted
// is told. Nothing is allocated for a packet.
func TestBounds(t *testing.T) {
	n := newNetwork(t, nil)
	n.look(15)
	big := n.flood(camera, "192.0.2.1", 500, false)
	n.look(3, big)
	k := key("10.0.0.1", "192.0.2.1", 17, 53)
	i := uint64(0)
	forge := func() {
		i++
		k.Src.Lo = 0xffff_0000_0000 | i*2654435761&0xffffffff
		var ends Ends
		if w := n.counts.Passed(&ends, &k, UDP, 100, 1); w != nil {
			w.Count(&ends, &Packet{
				Class: UDP, Bytes: 100, Weight: 1, Device: i << 16, HasDevice: true, Src: k.Src, Port: 53,
				FlowNs: n.nowNs, NowNs: n.nowNs,
			})
		}
	}
	n.look(10, big, func() {
		for range 20_000 {
			forge()
		}
	})
	a := n.only()
	if len(a.Sources.Addresses) > maxAddresses || len(a.Sources.Devices) > maxDevices {
		t.Errorf("got %d addresses, %d devices", len(a.Sources.Addresses), len(a.Sources.Devices))
	}
	if d := a.Sources.Devices[0]; d.Device != camera || d.Packets-d.TooMany > 6500 || d.Packets < 4000 {
		t.Errorf("got %+v", d)
	}
	if a.Sources.TooMany == 0 || n.counts.Overflow > 0 {
		t.Errorf("sources may have %d too many, %d packets had no row", a.Sources.TooMany, n.counts.Overflow)
	}
	// Forged targets take the rows of nobody.
	spray := key("10.0.0.1", "192.0.2.1", 17, 53)
	n.look(2, big, func() {
		for i := range uint64(20_000) {
			spray.Dst.Lo = 0xffff_0000_0000 | i*2654435761&0xffffffff
			var ends Ends
			n.counts.Passed(&ends, &spray, UDP, 100, 1)
		}
	})
	if n.counts.Overflow == 0 || a.EndNs != 0 || a.Now.PPS < 2000 {
		t.Errorf("%d packets had no row, %d packets a second", n.counts.Overflow, a.Now.PPS)
	}
	if !test.RaceDetector {
		if allocs := testing.AllocsPerRun(1000, forge); allocs != 0 {
			t.Errorf("%g allocations for a packet", allocs)
		}
	}
}

// BenchmarkCount is what a packet costs: to a target that nobody watches, and to one that somebody does, from one
// device, from 2,000 devices behind 20 gateways, when a filter drops these, and from addresses that are forged, each in
// one packet.
func BenchmarkCount(b *testing.B) {
	for _, c := range []struct {
		name             string
		watched          bool
		flows            int
		filtered, forged bool
	}{
		{"watched=false", false, 1, false, false},
		{"watched=true", true, 1, false, false},
		{"devices=2000", true, 2000, false, false},
		{"filtered", true, 2000, true, false},
		{"forged", true, 2000, false, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			counts := NewCounts(4096, 1)
			type sender struct {
				key  telemetry.FlowKey
				ends Ends
				Packet
			}
			senders := make([]sender, c.flows)
			for i := range senders {
				s := &senders[i]
				s.key = key("10.0.0.1", "192.0.2.1", 17, 53)
				s.key.Src.Lo += uint64(i)
				s.Packet = Packet{
					Bytes: 500, Weight: 1, Filtered: c.filtered, Filter: uint32(i % 20), Device: camera + uint64(i)<<16,
					Gateway: uint32(i % 20), Path: uint64(i%20) * 0x9e3779b97f4a7c15, HasDevice: true, HasNode: true,
					HasPath: true, Src: s.key.Src, Port: 53, FlowNs: 1, NowNs: 2,
				}
			}
			if c.watched {
				counts.Watch(WatchOf{Target: TargetOf(&senders[0].key), Bits: 128, Classes: Classes{UDP: true}})
			}
			i, forged := 0, uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				s := &senders[i]
				if i++; i == len(senders) {
					i = 0
				}
				if c.forged { // a later one, as reports are decoded some at a time
					forged += 2654435761
					at := i + 16
					if at >= len(senders) {
						at -= len(senders)
					}
					later := &senders[at]
					later.key.Src.Lo = 0xffff_0000_0000 | forged&0xffffffff
					later.ends, later.Src.Lo = Ends{}, later.key.Src.Lo
				}
				var w *Watch
				if class := ClassOf(&s.key, false); c.filtered {
					w = counts.Dropped(&s.ends, &s.key, class, 500, 1, true)
				} else {
					w = counts.Passed(&s.ends, &s.key, class, 500, 1)
				}
				if w != nil {
					w.Count(&s.ends, &s.Packet)
				}
			}
		})
	}
}

// A port is told if most packets go there, and none if they go to many: a rule about one of these would drop nothing.
func TestPortOfMost(t *testing.T) {
	var udp Classes
	udp[UDP] = true
	for _, c := range []struct {
		others int // in 100 packets, each to a port of its own
		want   bool
	}{{0, true}, {30, true}, {60, false}, {100, false}} {
		w := newWatch(WatchOf{Target: Target{}, Bits: 128, Classes: udp})
		for i := range 100 {
			port := uint16(53)
			if i%100 < c.others {
				port = uint16(1000 + i)
			}
			w.Count(&Ends{}, &Packet{Class: UDP, Bytes: 100, Port: port, NowNs: 1})
		}
		s := NewSearch(DefaultConfig())
		got := s.sources(&state{watch: &watching{}}, []Shard{lone{watch: w}}, udp)
		if got.HasPort != c.want || c.want && got.Port != 53 {
			t.Errorf("%d of 100 to other ports: got port %d (%v), want %v", c.others, got.Port, got.HasPort, c.want)
		}
	}
}

// A device may have several addresses, each of which is counted; one that forges a new one for each packet does not
// push out those of others, and its own packets and bytes are counted to the last.
func TestAddressesOfDevices(t *testing.T) {
	var udp Classes
	udp[UDP] = true
	w := newWatch(WatchOf{Target: Target{}, Bits: 128, Classes: udp})
	const rounds = 100_000
	count := func(device, address uint64) {
		w.Count(&Ends{}, &Packet{
			Class: UDP, Bytes: 100, Device: device, HasDevice: true, Src: telemetry.Addr{Lo: address}, NowNs: 1,
		})
	}
	for i := range uint64(rounds) {
		count(1, i%3)
		count(2, 7)
		count(3, 1<<40|i)
	}
	w.settleAll()
	for device := uint64(1); device <= 3; device++ {
		if s := w.devices.find(device, 0); s == nil || s.packets != rounds || s.bytes != 100*rounds {
			t.Errorf("device %d: got %+v", device, s)
		}
	}
	for address, want := range map[uint64]uint64{0: rounds/3 + 1, 1: rounds / 3, 2: rounds / 3, 7: rounds} {
		s := w.addresses.find(0, address)
		if s == nil || s.packets < want || s.packets-s.packetsTooMany > want || s.packetsTooMany > want/1000 {
			t.Errorf("address %d: got %+v, want %d packets", address, s, want)
		}
	}
}

// Where a flow remembers its sources to be changes nothing of what is counted, also where they gave way to others and
// where it was in another watch.
func TestPlacesOfSources(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var udp Classes
	udp[UDP] = true
	search := NewSearch(DefaultConfig())
	of := WatchOf{Target: Target{}, Bits: 128, Classes: udp}
	got, want := newWatch(of), newWatch(of)
	ends := make([]Ends, 4*maxAddresses)
	told := func(w *Watch) Sources {
		return search.sources(&state{watch: &watching{}}, []Shard{lone{watch: w}}, udp)
	}
	for i := range 50_000 {
		flow := random.IntN(len(ends))
		p := Packet{
			Class: UDP, Bytes: 100, Weight: uint32(random.IntN(3)), Filtered: random.IntN(3) == 0,
			Filter: uint32(random.IntN(100)), Device: uint64(flow/2 + random.IntN(2)), HasDevice: flow%4 > 0,
			Src: telemetry.Addr{Lo: uint64(flow)}, Exporter: uint32(flow % 3), NowNs: int64(i + 1),
			Gateway: uint32(random.IntN(2 * maxGateways)), HasNode: random.IntN(4) > 0,
			Path: uint64(random.IntN(2 * maxPaths)), HasPath: random.IntN(4) > 0,
		}
		q := p
		got.Count(&ends[flow], &p)
		want.Count(&Ends{}, &q)
		if i == 25_000 {
			got, want = newWatch(of), newWatch(of)
		}
	}
	a, b := told(got), told(want)
	if !reflect.DeepEqual(a, b) || b.TooMany == 0 || len(b.Filters) != 100 {
		t.Errorf("got %d devices, %d addresses, %d gateways, %d paths, %d filters; they differ from those of new flows",
			len(a.Devices), len(a.Addresses), len(a.Gateways), len(a.Paths), len(a.Filters))
	}
}

// What a watch keeps together of packets that are alike is counted at the end as if each had been counted by itself,
// whenever somebody looks.
func TestSourcesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var udp Classes
	udp[UDP] = true
	search, w := NewSearch(DefaultConfig()), newWatch(WatchOf{Target: Target{}, Bits: 128, Classes: udp})
	type sum struct{ packets, bytes, filtered, first, last uint64 }
	want := map[string]*sum{}
	ends := make([]Ends, 60)
	for i := range 20_000 {
		flow := random.IntN(len(ends))
		p := Packet{
			Class: UDP, Bytes: uint32(100 + flow), Weight: uint32(1 + random.IntN(3)), Device: uint64(flow % 5),
			HasDevice: flow%3 > 0, Src: telemetry.Addr{Lo: uint64(flow % 7)}, NowNs: int64(i + 1),
			Gateway: uint32(1 + flow%5 + random.IntN(30)/29), HasNode: true,
			Path: uint64(flow%4 + random.IntN(30)/29), Filtered: random.IntN(10) == 0, Filter: uint32(flow % 2),
		}
		p.HasPath = !p.Filtered
		n, bytes := uint64(p.Weight), uint64(p.Weight)*uint64(p.Bytes)
		told := func(of string, is bool, key uint64) {
			name := fmt.Sprint(of, key)
			if !is {
				return
			}
			if want[name] == nil {
				want[name] = &sum{first: uint64(p.NowNs)}
			}
			to := want[name]
			to.packets, to.bytes, to.last = to.packets+n, to.bytes+bytes, uint64(p.NowNs)
			if p.Filtered {
				to.filtered += n
			}
		}
		told("device ", p.HasDevice, p.Device)
		told("address ", true, p.Src.Lo)
		told("gateway ", true, uint64(p.Gateway))
		told("path ", p.HasPath, p.Path)
		told("filter ", p.Filtered, uint64(p.Filter))
		w.Count(&ends[flow], &p)
		if i%1000 > 0 && i != 19_999 {
			continue
		}
		all := search.sources(&state{watch: &watching{}}, []Shard{lone{watch: w}}, udp)
		got := map[string]*sum{}
		for of, list := range map[string][]Source{
			"device ": all.Devices, "address ": all.Addresses, "gateway ": all.Gateways, "path ": all.Paths,
		} {
			for j := range list {
				o := &list[j]
				key := map[string]uint64{
					"device ": o.Device, "address ": o.Addr.Lo, "gateway ": uint64(o.Node), "path ": o.Path,
				}[of]
				got[fmt.Sprint(of, key)] = &sum{o.Packets, o.Bytes, o.Filtered, uint64(o.FirstNs), uint64(o.LastNs)}
			}
		}
		for _, f := range all.Filters {
			name := fmt.Sprint("filter ", f.Node)
			got[name] = &sum{}
			if s := want[name]; s != nil {
				*got[name] = *s
			}
			got[name].packets = f.Packets
		}
		if !reflect.DeepEqual(got, want) {
			for name, s := range want {
				if got[name] == nil || *got[name] != *s {
					t.Errorf("after %d packets, %s: got %v, want %v", i+1, name, got[name], s)
				}
			}
			t.FailNow()
		}
	}
}

// lone is a shard with nothing but a watch.
type lone struct {
	Shard
	watch *Watch
}

func (l lone) WatchedSources(uint32, Classes) Watched { return l.watch.watched() }

// What was counted as passed is taken back when a filter turns out to have dropped it; what somebody has looked at
// stays.
func TestTakeBack(t *testing.T) {
	c, ends, k := NewCounts(64, 1), Ends{}, key("10.0.0.1", "192.0.2.1", 17, 53)
	looked := func() (sum Tally) {
		c.Look(func(_ Target, tally *Tally) { sum.merge(tally) }, func(RuleKey, *Rule) {})
		return sum
	}
	c.Passed(&ends, &k, UDP, 500, 10)
	c.Passed(&ends, &k, UDP, 500, 10)
	c.TakeBack(&ends, &k, UDP, 500, 10)
	c.Dropped(&ends, &k, UDP, 500, 1, true)
	if got := looked(); got.Passed[UDP] != (Amount{10, 5000}) || got.Filtered[UDP] != (Amount{1, 500}) ||
		got.Squares != 90 || got.flows() != 1 {
		t.Errorf("got %+v", got)
	}
	c.TakeBack(&ends, &k, UDP, 500, 10)
	if got := looked(); got != (Tally{}) {
		t.Errorf("looked at: got %+v", got)
	}
}

// A target answers each packet of a forged address in a flow of its own: what it sends is told, and whether sources are
// looked for does not change it but by chance.
func TestAnswersToStrangers(t *testing.T) {
	c, random := NewCounts(4096, 1), rand.New(rand.NewPCG(1, 2))
	forged := func() telemetry.FlowKey {
		k := key("10.0.0.1", "192.0.2.1", 6, 80)
		k.Src.Lo = 0xffff_0000_0000 | uint64(random.Uint32())
		return k
	}
	answers := uint64(0)
	for range 200_000 {
		k := forged()
		if random.IntN(10) == 0 { // it answers some, in bursts
			for range 20 {
				k.Src, k.Dst = k.Dst, k.Src
				c.Passed(&Ends{}, &k, TCP, 60, 1)
				answers++
				k = forged()
			}
			continue
		}
		for range 10 {
			k = forged()
			c.Passed(&Ends{}, &k, SYN, 60, 1)
		}
	}
	c.Look(func(target Target, tally *Tally) {
		if target.Addr == key("10.0.0.1", "192.0.2.1", 6, 80).Dst {
			if off := float64(tally.Out.Packets)/float64(answers) - 1; off < -0.02 || off > 0.02 {
				t.Errorf("%d packets from the target, want %d", tally.Out.Packets, answers)
			}
		}
	}, func(RuleKey, *Rule) {})
}
