package analyze

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Ports, what is behind them, and the places of hosts are those of the emulated network, for every scenario: all that
// packets showed, and nothing else.
func TestTopology(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	chosen, all := test.Seed(t)
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for m, mode := range []string{"md", "xd"} {
			if !all && (uint64(i+m)+chosen)%2 > 0 {
				continue
			}
			if test.RaceDetector && name != "gray-link" {
				continue
			}
			t.Run(name+"/"+mode, func(t *testing.T) {
				checkTopology(t,
					emulation{duration: 3 * time.Second, shards: 2, nodes: everyPacket + "mode: " + mode + "\n"}.run(t,
						name))
			})
		}
	}
}

func checkTopology(t *testing.T, v *virtualCollector) {
	type port struct{ node, port uint32 }
	links := map[port]port{}
	hosts := map[string]port{}
	used := map[port]uint64{} // packets that arrived
	talked := map[string]bool{}
	tells := map[uint32]bool{} // switches with INT
	// Ports to the others. A stack without TTLs does not say that there is one, so that what is next on it seems to be
	// there.
	hidden := map[port]bool{}
	v.each(func(r truth.Record) {
		switch r := r.(type) {
		case *truth.Switch:
			tells[r.Node] = r.INT
		case *truth.Link: // all switches stand before the first
			a, b := (port{r.NodeA, r.PortA}), (port{r.NodeB, r.PortB})
			if tells[a.node] && tells[b.node] {
				links[a], links[b] = b, a
			} else if a.node != 0 && b.node != 0 {
				hidden[a], hidden[b] = true, true
			}
		case *truth.Host:
			hosts[r.Address], hosts[r.Address6] = port{r.Node, r.Port}, port{r.Node, r.Port}
		case *truth.Flow:
			if r.PacketsDelivered > 0 {
				talked[r.Src], talked[r.Dst] = true, true
			}
		case *truth.Path:
			for _, h := range r.Hops {
				if !tells[h.Node] {
					continue
				}
				used[port{h.Node, h.In}] += r.Packets
				used[port{h.Node, h.Out}] += r.Packets
			}
		}
	})
	top := v.Topology()
	seen := map[string]bool{}
	for _, h := range top.Hosts {
		if h.Tunnel != "" {
			continue // whose ends are hosts of the network
		}
		seen[h.Address.String()] = true
		want, known := hosts[h.Address.String()]
		if at := h.Places[0]; !known || at.Node != want.node || at.Port == nil || *at.Port != want.port ||
			len(h.Places) != 1 {
			t.Errorf("%s: got %+v, want %v", h.Address, h.Places, want)
		}
	}
	for address := range talked {
		if !seen[address] {
			t.Errorf("no host %s", address)
		}
	}
	found := map[port]bool{}
	for _, n := range top.Nodes {
		for _, p := range n.Ports {
			at := port{n.ID, p.Port}
			found[at] = true
			if hidden[at] {
				continue
			}
			if to, inner := links[at]; inner != (p.ToNode != nil) && used[at] > 0 || inner && p.Hosts > 0 || inner &&
				p.ToNode != nil && (*p.ToNode != to.node || *p.ToPort != to.port) {
				t.Errorf("port %v: got %+v, want %v", at, p, to)
			}
			if n := p.Received + p.Sent; n < used[at]*8/10 {
				t.Errorf("port %v: got %d packets, at least %d passed", at, n, used[at])
			}
		}
	}
	for at := range used {
		if !found[at] {
			t.Errorf("no port %v", at)
		}
	}
}

// A host that moved is where it was seen last, and its earlier place is known.
func TestHostMoves(t *testing.T) {
	s := NewShard(DefaultConfig())
	c := &Collector{Owners: []Owner{s}}
	flow := func(node, in uint32, srcPort uint16) telemetry.Report {
		has := telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
		return telemetry.Report{
			Flags: telemetry.HasFlow | telemetry.Embedded | telemetry.Tracked, Version: telemetry.Version20,
			Flow: telemetry.FlowKey{
				Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}),
				Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: srcPort, DstPort: 80, Protocol: 6,
			},
			Hops: []telemetry.Hop{
				{Has: has, NodeID: node, IngressPort: in, EgressPort: 1},
				{Has: has, NodeID: 9, IngressPort: node, EgressPort: 7},
			},
		}
	}
	s.Process(&telemetry.Batch{Reports: []telemetry.Report{flow(1, 3, 1000)}}, second)
	s.Process(&telemetry.Batch{Reports: []telemetry.Report{flow(2, 4, 1001)}}, 2*second)
	s.Process(&telemetry.Batch{Reports: []telemetry.Report{flow(2, 4, 1001)}}, 3*second)
	hosts, _ := c.Hosts()
	if len(hosts) != 2 || len(hosts[0].Places) != 2 || len(hosts[1].Places) != 1 {
		t.Fatalf("got %+v", hosts)
	}
	now, before := hosts[0].Places[0], hosts[0].Places[1]
	if now.Node != 2 || *now.Port != 4 || now.Packets != 2 || now.First.UnixNano() != 2*second ||
		now.Last.UnixNano() != 3*second {
		t.Errorf("now: got %+v", now)
	}
	if before.Node != 1 || *before.Port != 3 || before.Last.UnixNano() != second {
		t.Errorf("before: got %+v", before)
	}
	if now.Confidence != 2.0/3 || before.Confidence != 1.0/2 {
		t.Errorf("it moved, so the one place says nothing of the other: got confidence %v and %v", now.Confidence,
			before.Confidence)
	}
	both := []telemetry.HostPlace{
		{Packets: 2, First: now.First, Last: now.Last},
		{Packets: 5, First: now.Last, Last: now.Last},
	}
	if topology.RatePlaces(both); both[0].Confidence != 2.0/8 || both[1].Confidence != 5.0/8 {
		t.Errorf("at two places at a time: got confidence %v and %v", both[0].Confidence, both[1].Confidence)
	}
}

// The more packets agree the surer a link is, and another one at the same port makes it doubtful.
func TestLinkConfidence(t *testing.T) {
	port := func(n uint32) *uint32 { return &n }
	links := []telemetry.Link{
		{From: 1, FromPort: port(1), To: 2, ToPort: port(1), Packets: 97},
		{From: 1, FromPort: port(1), To: 3, ToPort: port(1), Packets: 2}, // at the port of the one above
		{From: 4, FromPort: port(1), To: 3, ToPort: port(1), Packets: 1},
		{From: 2, FromPort: port(1), To: 1, ToPort: port(1), Packets: 1}, // the way back
		{From: 5, To: 6, Packets: 9},                                     // no port is known, so nothing contradicts
		{From: 5, To: 7, Packets: 9},
		{From: 5, To: 7, ToPort: port(2), Packets: 9},
	}
	topology.RateLinks(links)
	for i, want := range []float64{97.0 / 100, 2.0 / 100, 1.0 / 4, 1.0 / 2, 9.0 / 10, 9.0 / 10, 9.0 / 10} {
		if got := links[i].Confidence; got != want {
			t.Errorf("link %d: got %v, want %v", i, got, want)
		}
	}
}
