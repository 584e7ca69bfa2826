package collect

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

func permits(t testing.TB, list ...Permit) *AllowList {
	t.Helper()
	p, err := NewAllowList(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewPermitsRefuses(t *testing.T) {
	any4 := netip.MustParsePrefix("0.0.0.0/0")
	for want, list := range map[string][]Permit{
		"want a prefix": {{}},
		"a prefix such": {{Source: netip.MustParsePrefix("::ffff:10.0.0.0/104")}},
		"there twice": {
			{Source: netip.MustParsePrefix("10.0.0.1/8")},
			{Source: any4},
			{Source: netip.MustParsePrefix("10.2.0.0/8")},
		},
		"nodes is empty": {{Source: any4, Nodes: []uint32{}}},
	} {
		if _, err := NewAllowList(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", list, err, want)
		}
	}
}

// The permit is that of the longest prefix, as looking at all of them finds it.
func TestFindPermit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	address := func() netip.Addr { // few distinct ones, so that prefixes hold them and each other
		if r.IntN(2) == 0 {
			return netip.AddrFrom4([4]byte{10, byte(r.IntN(3)), byte(r.IntN(3)), byte(r.IntN(8))})
		}
		return netip.AddrFrom16([16]byte{0x20, 1, 0x0d, 0xb8, byte(r.IntN(3)), 15: byte(r.IntN(8))})
	}
	for range 200 {
		seen, list := map[netip.Prefix]bool{}, []Permit{}
		for range r.IntN(12) {
			a := address()
			p, _ := a.Prefix(r.IntN(a.BitLen() + 1))
			if !seen[p] {
				seen[p] = true
				list = append(list, Permit{Source: p, Name: p.String()})
			}
		}
		g := gate{permits: permits(t, list...)}
		for range 200 {
			a := address()
			want := ""
			bits := -1
			for _, p := range list {
				if p.Source.Contains(a) && p.Source.Bits() > bits {
					want, bits = p.Name, p.Source.Bits()
				}
			}
			got := ""
			if p := g.find(a); p != nil {
				got = p.Name
			}
			if got != want {
				t.Fatalf("%v: got %q, want %q of %v", a, got, want, list)
			}
		}
	}
}

// Sources that may not send, and nodes that a source may not report as, are refused and counted exactly; neither an
// account nor a table sees anything of them.
func TestReceiversRefuse(t *testing.T) {
	for _, owners := range []int{1, 2} {
		sockets, err := Listen(Config{Address: "127.0.0.1:0", Sockets: 2})
		if err != nil {
			t.Fatal(err)
		}
		to := net.UDPAddrFromAddrPort(sockets[0].Addr())
		only := permits(t,
			Permit{Source: netip.MustParsePrefix("127.0.0.2/32"), Nodes: []uint32{1}, Name: "leaf1"},
			Permit{Source: netip.MustParsePrefix("127.0.0.3/32"), Nodes: []uint32{3, 2}},
			Permit{Source: netip.MustParsePrefix("127.0.8.0/24")})
		receivers, accounts, tables, stop := startWith(t, sockets, owners, only)
		refused, sent := map[string]uint64{}, 0
		accepted := map[string]int{}
		const rounds = 50
		for source, nodes := range map[string]map[uint32]bool{
			"127.0.0.2": {1: true, 2: false},
			"127.0.0.3": {1: false, 2: true, 3: true},
			"127.0.0.4": {1: false, 2: false},
			"127.0.8.9": {1: true, 77: true},
		} {
			conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(source)}, to)
			if err != nil {
				t.Fatal(err)
			}
			send := func(payload []byte, ok bool) {
				if _, err := conn.Write(payload); err != nil {
					t.Fatal(err)
				}
				sent++
				if ok {
					accepted[source]++
				} else {
					refused[source]++
				}
			}
			for round := range uint32(rounds) {
				for node, ok := range nodes {
					for _, form := range []test.Form{test.Form10MD, test.Form20XD, test.Form05Local} {
						send(named(form, round, node), ok)
					}
				}
				send(test.Report(test.Form05MD, round, round, 2), source != "127.0.0.4") // names no node
				send([]byte{0xf0}, source != "127.0.0.4")                                // names nothing
			}
			conn.Close()
		}
		stop()
		var total Stats
		listed := map[string]uint64{}
		for _, r := range receivers {
			s := r.Stats()
			total.Received += s.Received
			total.Decoded += s.Decoded
			total.Damaged += s.Damaged
			total.Malformed += s.Malformed
			total.Refused += s.Refused
			if s.KernelDrops+s.RefusedUnlisted > 0 {
				t.Errorf("got %+v", s)
			}
			for _, x := range r.Refused() {
				listed[x.Source.String()] += x.Datagrams
				if (x.Permit == nil) != (x.Source == netip.MustParseAddr("127.0.0.4")) || x.Last.Before(x.First) ||
					x.First.IsZero() {
					t.Errorf("got %+v", x)
				}
				if x.Permit != nil && x.Permit.Name == "leaf1" && x.Node != 2 || x.Permit != nil &&
					x.Permit.Name == "" && x.Node != 1 {
					t.Errorf("got %+v", x)
				}
			}
		}
		if fmt.Sprint(listed) != fmt.Sprint(refused) {
			t.Errorf("refused: got %v, want %v", listed, refused)
		}
		if total.Received != uint64(sent) || total.Decoded+total.Damaged+total.Malformed+
			total.Refused != total.Received || total.Malformed != 3*rounds {
			t.Errorf("sent %d: %+v", sent, total)
		}
		observed := map[string]int{}
		for _, account := range accounts {
			for _, h := range account.headers {
				observed[h.Source.String()]++
			}
		}
		if fmt.Sprint(observed) != fmt.Sprint(accepted) {
			t.Errorf("accounts: got %v, want %v", observed, accepted)
		}
		reports := 0
		for _, table := range tables {
			for _, n := range table.reports {
				reports += n
			}
		}
		if uint64(reports) != total.Decoded+total.Damaged {
			t.Errorf("tables: got %d reports, want %d", reports, total.Decoded+total.Damaged)
		}
	}
}

// named returns a report that says it is of node.
func named(form test.Form, flow, node uint32) []byte {
	payload := test.Report(form, flow, flow, 1)
	at := map[test.Form]int{test.Form10MD: 4, test.Form20XD: 4, test.Form05Local: 12}[form]
	payload[at], payload[at+1], payload[at+2], payload[at+3] = byte(node>>24), byte(node>>16), byte(node>>8), byte(node)
	return payload
}

// Strangers that make up addresses fill no memory, and are counted all the same.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	source := netip.MustParseAddr("10.0.0.0")
	const sources = 3 * maxRefused
	for range sources {
		source = source.Next()
		r.add(source, nil, nil, 1)
		r.add(source, nil, nil, 2)
	}
	total, unlisted := r.counts()
	if total != 2*sources || unlisted != 2*(sources-maxRefused) || len(r.sources) != maxRefused {
		t.Errorf("got %d, %d unlisted, %d sources", total, unlisted, len(r.sources))
	}
}

// gated returns a receiver without a socket, and a batch of datagrams from four switches for it.
func gated(t testing.TB, only *AllowList) (*Receiver, []Datagram) {
	points := codepoint.New()
	points.Compile()
	r := &Receiver{decoder: telemetry.NewDecoder(points), headers: make([]telemetry.Header, 64)}
	if only != nil {
		r.gate = &gate{permits: only}
	}
	var datagrams []Datagram
	for i := range 64 {
		source := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i % 2), byte(i % 4)}), 5000)
		datagrams = append(datagrams, Datagram{Source: source, Payload: named(test.Form20XD, uint32(i), uint32(i%4))})
	}
	return r, datagrams
}

// decodeAll does what take does with the datagrams of a batch, one by one.
func (r *Receiver) decodeAll(datagrams []Datagram, into *telemetry.Batch) (kept int) {
	into.Reset()
	for i := range datagrams {
		d := datagrams[i]
		h := &r.headers[kept]
		if r.gate == nil {
			r.decoder.Decode(d.Payload, d.Source, 8555, into, h)
		} else if !r.decodeAllowed(&d, 8555, into, h, 1e18) {
			continue
		}
		kept++
	}
	return kept
}

var gates = map[string][]Permit{
	"none": nil,
	"one":  {{Source: netip.MustParsePrefix("10.0.0.0/8")}},
	"nodes": {
		{Source: netip.MustParsePrefix("10.0.0.0/24"), Nodes: []uint32{0, 2}},
		{Source: netip.MustParsePrefix("10.0.1.0/24"), Nodes: []uint32{1, 3}},
		{Source: netip.MustParsePrefix("172.16.0.0/12")},
		{Source: netip.MustParsePrefix("192.0.2.1/32")},
	},
	"strangers": {{Source: netip.MustParsePrefix("192.0.2.0/24")}},
	"foreign":   {{Source: netip.MustParsePrefix("10.0.0.0/8"), Nodes: []uint32{9}}},
}

func TestGateNoAllocs(t *testing.T) {
	for name, list := range gates {
		var only *AllowList
		if list != nil {
			only = permits(t, list...)
		}
		r, datagrams := gated(t, only)
		var into telemetry.Batch
		want := map[string]int{"strangers": 0, "foreign": 0}
		kept := r.decodeAll(datagrams, &into)
		if n, refused := want[name]; kept != 64 && !refused || refused && kept != n || len(into.Reports) != kept {
			t.Errorf("%s: kept %d, %d reports", name, kept, len(into.Reports))
		}
		if allocs := testing.AllocsPerRun(10, func() { r.decodeAll(datagrams, &into) }); allocs != 0 {
			t.Errorf("%s: got %v allocations", name, allocs)
		}
	}
}

func BenchmarkGate(b *testing.B) {
	for _, name := range []string{"none", "one", "nodes", "strangers", "foreign"} {
		b.Run(name, func(b *testing.B) {
			var only *AllowList
			if gates[name] != nil {
				only = permits(b, gates[name]...)
			}
			r, datagrams := gated(b, only)
			var into telemetry.Batch
			b.ReportAllocs()
			for b.Loop() {
				r.decodeAll(datagrams, &into)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/datagram")
		})
	}
}
