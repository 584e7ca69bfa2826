package watch

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// matcher compares a packet with one entry after the other, field by field.
type matcher []Entry

func (m matcher) match(k *Key) (entry int, ok bool) {
	entry = -1
	for i := range m {
		if (entry < 0 || m[i].Priority > m[entry].Priority) && matches(&m[i], k) {
			entry = i
		}
	}
	return entry, entry >= 0 && !m[entry].Ignore
}

func matches(e *Entry, k *Key) bool {
	inTunnel := k.Tunnel != telemetry.TunnelNone && k.Tunnel != telemetry.TunnelIP
	return contains(e.Src, k.Src.IP()) && contains(e.Dst, k.Dst.IP()) &&
		(e.SrcPort == nil || k.SrcPort >= e.SrcPort.Low && k.SrcPort <= e.SrcPort.High) &&
		(e.DstPort == nil || k.DstPort >= e.DstPort.Low && k.DstPort <= e.DstPort.High) &&
		(e.Protocol == nil || k.Protocol == uint8(*e.Protocol)) &&
		(e.DSCP == nil || k.DSCP == *e.DSCP) &&
		(e.VLAN == nil || k.VLAN == *e.VLAN) &&
		(e.VNI == nil || inTunnel && k.TunnelID == *e.VNI) &&
		(e.IngressPort == nil || k.IngressPort == *e.IngressPort)
}

func contains(p Prefix, a netip.Addr) bool { return !p.IsValid() || p.Contains(a) }

// check compares Match with the matcher.
func check(t *testing.T, entries []Entry, l *List, k *Key) {
	t.Helper()
	want, wantOK := matcher(entries).match(k)
	action, ok := l.Match(k)
	if ok != wantOK || ok && action.Entry != want {
		t.Fatalf("%+v:\ngot  %+v, %v\nwant entry %d, %v", k, action, ok, want, wantOK)
	}
}

func TestMatchIsThatOfALinearSearch(t *testing.T) {
	for mix := range mixes {
		for _, n := range []int{0, 1, 2, 10, 100, 1000} {
			t.Run(fmt.Sprintf("%s/%d", mixes[mix].name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				entries := generate(mix, n, uint64(n))
				for i := range entries {
					entries[i].Ignore = i%5 == 4
				}
				l, err := Compile(entries)
				if err != nil {
					t.Fatal(err)
				}
				for range 300 {
					e := mixes[mix].entry(r) // any packet of the kind
					if n > 0 && r.IntN(2) == 0 {
						e = entries[r.IntN(n)]
					}
					k := keyFor(r, &e)
					check(t, entries, l, &k)
				}
			})
		}
	}
}

// Ranges of both ports that overlap are split, and buckets grow: the answer stays.
func TestMatchOfOverlappingRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	kinds := map[string]func(i int) Entry{
		"random": func(int) Entry {
			return Entry{SrcPort: &PortRange{Low: p(r), High: p(r)}, DstPort: &PortRange{Low: p(r), High: p(r)}}.fix()
		},
		"nested, narrow first": func(i int) Entry {
			return Entry{Priority: i, DstPort: &PortRange{Low: uint16(20 * i), High: uint16(65535 - 20*i)}}
		},
		"nested, wide first": func(i int) Entry {
			return Entry{SrcPort: &PortRange{Low: uint16(20 * i), High: uint16(65535 - 20*i)}}
		},
		"neighbours": func(i int) Entry {
			return Entry{DstPort: &PortRange{Low: uint16(37 * i), High: uint16(37*i + 36)}, Protocol: new(Protocol(6))}
		},
	}
	for name, entry := range kinds {
		t.Run(name, func(t *testing.T) {
			entries := make([]Entry, 1000)
			for i := range entries {
				entries[i] = entry(i)
			}
			l, err := Compile(entries)
			if err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				k := keyFor(r, &entries[r.IntN(len(entries))])
				check(t, entries, l, &k)
			}
		})
	}
}

func TestMatchTakesTheFirstOfEquals(t *testing.T) {
	l := compile(t, Entry{VLAN: new(uint16(1))}, Entry{}, Entry{VLAN: new(uint16(2))}, Entry{Priority: -1})
	for vlan, want := range map[uint16]int{1: 0, 2: 1, 3: 1} {
		if action, ok := l.Match(&Key{VLAN: vlan}); !ok || action.Entry != want {
			t.Errorf("VLAN %d: got %+v, want entry %d", vlan, action, want)
		}
	}
}

func TestMatchKeepsFamiliesApart(t *testing.T) {
	entries := []Entry{
		{Src: Prefix{Prefix: netip.MustParsePrefix("0.0.0.0/0")}},
		{Src: Prefix{Prefix: netip.MustParsePrefix("::/0")}},
		{VLAN: new(uint16(9)), Priority: 1},
	}
	l := compile(t, entries...)
	for _, tc := range []struct {
		src  string
		vlan uint16
		want int
	}{{"10.0.0.1", 0, 0}, {"2001:db8::1", 0, 1}, {"10.0.0.1", 9, 2}, {"2001:db8::1", 9, 2}, {"::", 0, 1}} {
		addr := telemetry.AddrFrom(netip.MustParseAddr(tc.src))
		k := Key{FlowKey: telemetry.FlowKey{Src: addr, Dst: addr}, VLAN: tc.vlan}
		check(t, entries, l, &k)
		if action, ok := l.Match(&k); !ok || action.Entry != tc.want {
			t.Errorf("%s, VLAN %d: got %+v, want entry %d", tc.src, tc.vlan, action, tc.want)
		}
	}
}

func TestMatchOfAnIDNeedsATunnelWithIDs(t *testing.T) {
	l := compile(t, Entry{VNI: new(uint32(0))})
	for tunnel, want := range map[telemetry.Tunnel]bool{
		telemetry.TunnelNone: false, telemetry.TunnelIP: false, telemetry.TunnelVXLAN: true,
		telemetry.TunnelVXLANGPE: true,
		telemetry.TunnelGeneve:   true, telemetry.TunnelGRE: true,
	} {
		if _, ok := l.Match(&Key{FlowKey: telemetry.FlowKey{Tunnel: tunnel}}); ok != want {
			t.Errorf("tunnel %q: got %v, want %v", tunnel, ok, want)
		}
	}
}

func TestMatchReturnsTheAction(t *testing.T) {
	l := compile(t, Entry{Ignore: true, VLAN: new(uint16(1)), Priority: 1}, Entry{
		Instructions: NodeID, Mode: ModeMX, Sample: 5, Sampling: SampleAtRandom, ReportAll: true,
	})
	want := Action{Entry: 1, Instructions: NodeID, Mode: ModeMX, Sample: 5, Sampling: SampleAtRandom, ReportAll: true}
	if got, ok := l.Match(&Key{}); !ok || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, ok := l.Match(&Key{VLAN: 1}); ok || got != nil {
		t.Errorf("a packet to ignore: got %+v", got)
	}
	if l.Len() != 2 {
		t.Errorf("Len: got %d, want 2", l.Len())
	}
	var empty List
	if _, ok := empty.Match(&Key{}); ok {
		t.Error("the zero List matches")
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	l := compile(t, generate(5, 100, 1)...)
	k := Key{}
	if n := testing.AllocsPerRun(100, func() { l.Match(&k) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// A node replaces a list by another while packets are matched.
func TestMatchWhileListsAreReplaced(t *testing.T) {
	lists := []*List{
		compile(t, Entry{Name: "a", ReportAll: true}),
		compile(t, Entry{}, Entry{Priority: 1, ReportAll: true}),
	}
	var current atomic.Pointer[List]
	current.Store(lists[0])
	var nodes sync.WaitGroup
	for range 2 {
		nodes.Go(func() {
			for range 1000 {
				if a, ok := current.Load().Match(&Key{}); !ok || !a.ReportAll {
					t.Errorf("got %+v, %v", a, ok)
				}
			}
		})
	}
	for i := range 1000 {
		current.Store(lists[i%2])
	}
	nodes.Wait()
}

func compile(t testing.TB, entries ...Entry) *List {
	t.Helper()
	l, err := Compile(entries)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
