//go:build linux

package kernel

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/telemetry"
)

// TestDrops lets s2 lose packets for several reasons, and expects a report of each one that says so. What was lost the
// test knows, for it made each loss: what was sent to a port of its own less what arrived there.
func TestDrops(t *testing.T) {
	const packets = 50
	n := newNetwork(t)
	n.run(2, "ip route add blackhole 10.0.77.0/24")
	n.run(2, "tc qdisc add dev r root tbf rate 80kbit burst 1600 limit 1600")
	for _, router := range []int{0, 1} {
		n.run(router, "ip route add 10.0.64.0/18 via 10.0.%d.2", router)
	}
	const text = "  watch: [{report_all: true, protocol: udp}]\n  drops: [{protocol: udp, dst_port: 7000-7010}]\n"
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	n.udp(host4, 6001, 1) // neighbours know each other now
	_, to := n.dial(host4, 7003)
	defer to.Close()
	rows := []struct {
		to     string
		reason int
		ttl    int
		hops   int // in front of s2, in the packet
	}{
		{"10.0.77.1:7001", 0, 64, 1},
		{"10.0.66.1:7002", 29, 64, 0}, // no route: the domain ends here, and s2 has taken INT out and reported it
		{host4 + ":7003", 51, 64, 1},
		{host4 + ":7004", 26, 2, 1},
	}
	var from *net.UDPConn
	n.in(hostA, func() (err error) { from, err = net.ListenUDP("udp4", nil); return err })
	defer from.Close()
	raw, err := from.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		at := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(row.to))
		if err := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, row.ttl)
		}); err != nil {
			t.Fatal(err)
		}
		for i := range packets {
			if _, err := from.WriteToUDP(make([]byte, 100+i), at); err != nil {
				t.Fatal(err)
			}
		}
	}
	passed := 0
	for passed < packets {
		_ = to.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := to.Read(make([]byte, 2000)); err != nil {
			break
		}
		passed++
	}
	stop()
	for i, node := range nodes {
		t.Logf("s%d: %v", i+1, counters(t, node))
	}
	got := map[string]int{}
	for _, r := range c.reports(nodes) {
		if r.Flags&telemetry.Dropped == 0 {
			continue
		}
		got[fmt.Sprintf("s%d %d reason %d ports %d %d hops %d", r.NodeID, r.Flow.DstPort, r.Local.DropReason,
			r.Local.IngressPort, r.Local.EgressPort, len(r.Hops))]++
	}
	for i, row := range rows {
		lost, out := packets, 0
		if i == 2 {
			lost, out = packets-passed, 2 // in the queue of this port
		}
		name := fmt.Sprintf("s2 %d reason %d ports 1 %d hops %d", 7001+i, row.reason, out, row.hops)
		if lost == 0 || got[name] != lost {
			t.Errorf("%s: %d reports, want %d", name, got[name], lost)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("other drops: %v", got)
	}
}

// TestLostReports lets the reports of s2 leave by the queue that is full: nothing is told of reports that are lost
// there, or each would make another one.
func TestLostReports(t *testing.T) {
	const packets = 300
	n := newNetwork(t)
	n.run(2, "tc qdisc add dev r root tbf rate 200kbit burst 1600 limit 1600")
	const text = "  watch: [{report_all: true, protocol: udp, dst_port: 7000}]\n  drops: [{}]\n"
	nodes, stop := n.startWith([]*Config{
		n.config(1, text, host4+":8555"), n.config(2, text, host4+":8555"),
		n.config(3, text, host4+":8555"),
	}, func(node *Node) error {
		var err error
		if node.conns[0], err = net.ListenUDP("udp4", nil); err == nil {
			err = node.ignore(0)
		}
		return err
	})
	_, to := n.dial(host4, 7000)
	defer to.Close()
	from, other := n.dial(host4, 7001)
	defer from.Close()
	defer other.Close()
	for range packets {
		if _, err := from.Write(make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	read := 0
	for ; read < packets; read++ { // as long as any comes
		_ = other.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := other.Read(make([]byte, 2000)); err != nil {
			break
		}
	}
	stop()
	got := counters(t, nodes[1])
	t.Logf("%d came, %v", read, got)
	if got["drop_reports"] == 0 || got["drop_reports"] > uint64(packets-read) {
		t.Errorf("%d drop reports of %d packets that were lost", got["drop_reports"], packets-read)
	}
}
