package ecmp

import (
	"math"
	"testing"
)

// unlikely never calls chance unlikely: its bound lies below the exact probability, by little where it matters.
func TestUnlikely(t *testing.T) {
	for _, test := range []struct {
		n, all uint64
		ports  int
	}{{8, 8, 2}, {8, 8, 8}, {15, 20, 2}, {30, 30, 2}, {20, 40, 4}, {60, 100, 2}, {14, 40, 8}} {
		p := 0.0 // of the binomial distribution, for one port
		for n := test.n; n <= test.all; n++ {
			choose, _ := math.Lgamma(float64(test.all + 1))
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(test.all - n + 1))
			fair := 1 / float64(test.ports)
			p += math.Exp(choose - a - b + float64(n)*math.Log(fair) + float64(test.all-n)*math.Log(1-fair))
		}
		exact := -math.Log(p) - math.Log(float64(test.ports))
		if got := unlikely(test.n, test.all, test.ports); got > exact+1e-9 || got < exact-4 {
			t.Errorf("%d of %d flows on one of %d ports: got %.2f, exactly %.2f", test.n, test.all, test.ports, got,
				exact)
		}
	}
	if unlikely(8, 8, 2) >= unevenFlows || unlikely(8, 8, 4) >= unevenFlows || unlikely(8, 8, 8) >= unevenFlows {
		t.Error("eight flows may all choose the same port")
	}
}

// carry is a scan in which ports carried so many packets, and returns which share them.
func carry(g *Group, nowNs int64, packets ...uint64) (live []uint32) {
	g.Begin()
	for i, n := range packets {
		if n > 0 {
			g.Member(uint32(i + 1)).Packets += n
		}
	}
	for _, m := range g.Live(nil, nowNs, func(*Member) bool { return false }) {
		live = append(live, m.Port)
	}
	return live
}

// Ports share what leaves by them together. One that stood in for another does not, nor one by which a few packets left
// once; one that is silent stays for ten minutes.
func TestLive(t *testing.T) {
	at := int64(1e18)
	for _, row := range []struct {
		name  string
		scans [][]uint64 // packets by port
		want  int        // ports that share at the last
	}{
		{"both carry", [][]uint64{{50, 50}, {50, 50}}, 2},
		{"one falls silent", [][]uint64{{50, 50}, {50, 50}, {100, 0}}, 2},
		{"a few went another way once", [][]uint64{{100, 2}, {100, 0}}, 1},
		{"one stood in for the other", [][]uint64{{100}, {50, 50}, {0, 100}, {0, 100}, {50, 50}, {100, 0}}, 1},
	} {
		g := &Group{}
		var live []uint32
		for i, packets := range row.scans {
			live = carry(g, at+int64(i)*scanNs, packets...)
		}
		if len(live) != row.want {
			t.Errorf("%s: ports %v share, want %d", row.name, live, row.want)
		}
	}
	g := &Group{}
	carry(g, at, 50, 50)
	if live := carry(g, at+memberNs, 100, 0); len(live) != 2 {
		t.Errorf("after ten minutes: %v", live)
	}
	if live := carry(g, at+memberNs+scanNs, 100, 0); len(live) != 1 || len(g.Members) != 1 {
		t.Errorf("later: %v of %d", live, len(g.Members))
	}
}

// A port is suspect for two scans in a row before it is certain, and in the first of them flows must be uneven too.
func TestSuspect(t *testing.T) {
	even := []Member{{Port: 1, Packets: 180, Flows: 20}, {Port: 2, Packets: 20, Flows: 20}}
	uneven := []Member{{Port: 1, Packets: 180, Flows: 40}, {Port: 2, Packets: 20}}
	of := func(members []Member) *Share { s := ShareOf(members); return &s }
	u, certain := of(even).Suspect(nil, 0, 1)
	if u != nil || certain {
		t.Errorf("flows that are even: %+v", u)
	}
	if u, certain = of(uneven).Suspect(u, 1, 2); u == nil || certain || u.FirstNs != 1 {
		t.Errorf("the first scan: %+v, %v", u, certain)
	}
	if u, certain = of(uneven).Suspect(u, 2, 3); !certain || u.ScanNs != 3 {
		t.Errorf("the second scan: %+v, %v", u, certain)
	}
}
