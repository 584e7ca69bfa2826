//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/telemetry"
)

// TestClones sends real TCP and UDP through machines whose network cards compute checksums and cut segments. Sources
// leave all of it alone and send clones, and no host gets a clone, so that it gets exactly what was sent. Once routers
// are the sources, and once the hosts themselves.
func TestClones(t *testing.T) {
	const tcpBytes, udpPackets = 4 << 20, 200
	for _, row := range []struct{ name, path string }{
		{"routers", "[1 2 3]"}, {"hosts", "[10 1 2 3 11]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := makeNetwork(t, true)
			const text = "  clone: true\n  watch: [{report_all: true}]\n"
			c := newCollector(t, text)
			to := c.conn.LocalAddr().String()
			var configs []*Config
			for i := 1; i <= 3; i++ {
				config := n.config(i, text, to)
				if row.name == "hosts" {
					config.Ports[0].Edge, config.Ports[1].Edge = false, false
				}
				configs = append(configs, config)
			}
			if row.name == "hosts" {
				configs = append([]*Config{hostConfig(t, 10, "r", to)}, append(configs, hostConfig(t, 11, "l", to))...)
			}
			nodes, stop := n.startAll(configs)
			n.udp(host4, 6001, udpPackets)
			n.tcp(host4, 6002, tcpBytes)
			n.udp(host6, 6001, udpPackets)
			n.tcp(host6, 6002, tcpBytes)
			stop()
			all := map[string]uint64{}
			for i, node := range nodes {
				own := counters(t, node)
				t.Logf("%d: %v", i, own)
				for name, count := range own {
					all[name] += count
				}
			}
			n.expectHarmless()
			for host, want := range map[int]int{hostA: 0, hostB: udpPackets} {
				if got := n.counter(host, "Udp", "InDatagrams"); got != want {
					t.Errorf("%s got %d packets of UDP over IPv4, want %d", n.routers[host], got, want)
				}
			}
			lost := all["kernel_ring_full"] + all["kernel_overwritten"]
			if all["copies"] == 0 || all["copies"] != all["inserted"] || all["kernel_not_stripped"] > 0 ||
				all["copies"]-all["kernel_not_cloned"] != all["discarded"] || all["reported"]+lost != all["discarded"] {
				t.Errorf("clones sent, taken out and reported: %v", all)
			}
			paths := map[string]int{}
			for _, r := range c.reports(nodes) {
				lost := r.Flags&telemetry.Dropped != 0 // a ring was full: TCP sends it again
				if !lost && (r.Flow.Dst == addr(host4) || r.Flow.Dst == addr(host6)) {
					paths[fmt.Sprint(r.Flow.DstPort, " ", path(&r))]++
				}
			}
			t.Log(paths)
			got := paths["6001 "+row.path]
			if got+int(lost) < 2*udpPackets || paths["6002 "+row.path] == 0 || len(paths) > 2 {
				t.Errorf("paths %v, want %s", paths, row.path)
			}
		})
	}
}

// TestSegments sends several datagrams by one call, for the network card to take apart: a host counts them as packets.
func TestSegments(t *testing.T) {
	const calls, datagrams, size = 20, 9, 500
	n := makeNetwork(t, true)
	const to = "127.0.0.1:9"
	nodes, stop := n.startAll([]*Config{hostConfig(t, 10, "r", to), nil, nil, nil, hostConfig(t, 11, "l", to)})
	for _, host := range []string{host4, host6} {
		from, to := n.dial(host, 6001)
		setSegments(t, from, size)
		_ = to.SetReadDeadline(time.Now().Add(30 * time.Second))
		for range calls {
			if _, err := from.Write(make([]byte, datagrams*size-7)); err != nil {
				t.Fatal(err)
			}
			for i := range datagrams {
				if _, err := to.Read(make([]byte, 2000)); err != nil {
					t.Fatalf("datagram %d: %v", i, err)
				}
			}
		}
		_, _ = from.Close(), to.Close()
	}
	stop()
	n.expectHarmless()
	const want = 2 * calls * datagrams
	if all := counters(t, nodes[0]); all["watched"] != want || all["copies"] == 0 || all["copies"] > 2*calls {
		t.Errorf("watched %d packets, want %d: %v", all["watched"], want, all)
	}
}

// TestSegmentsDropped drops such packets on the way to the card: each datagram is a drop.
func TestSegmentsDropped(t *testing.T) {
	const calls, datagrams, size = 20, 9, 500
	n := makeNetwork(t, true)
	n.run(hostA, "nft add table inet t")
	n.run(hostA, "nft 'add chain inet t c { type filter hook postrouting priority 0; }'")
	n.run(hostA, "nft add rule inet t c udp dport 6001 drop")
	c := newCollector(t, "")
	nodes, stop := n.startAll([]*Config{hostConfig(t, 10, "r", c.conn.LocalAddr().String()), nil, nil, nil, nil})
	from, to := n.dial(host4, 6001)
	defer from.Close()
	defer to.Close()
	setSegments(t, from, size)
	for range calls {
		_, _ = from.Write(make([]byte, datagrams*size-7)) // the filter is an error
	}
	n.await(func() bool {
		s, err := nodes[0].Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := s.Counters
		return all["kernel_drops"]+all["kernel_drops_untold"] >= calls*datagrams
	})
	stop()
	drops := 0
	for _, r := range c.reports(nodes) {
		if r.Flags&telemetry.Dropped != 0 && r.Flow.DstPort == 6001 {
			drops++
		}
	}
	if all := counters(t, nodes[0]); drops+int(all["kernel_drops_untold"]) != calls*datagrams {
		t.Errorf("%d drop reports of %d datagrams: %v", drops, calls*datagrams, all)
	}
}

// setSegments lets a socket leave it to the network card to make datagrams of a size.
func setSegments(t *testing.T, conn *net.UDPConn, size int) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	wrong := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT, size) })
	if err := errors.Join(wrong, err); err != nil {
		t.Fatal(err)
	}
}

// hostConfig returns the configuration of a node on a host: its own traffic is watched.
func hostConfig(t *testing.T, id int, port, collector string) *Config {
	t.Helper()
	c, err := Parse([]byte(fmt.Sprintf(`name: host%d
id: %d
local: true
ports: [{interface: %s}]
int:
  watch: [{report_all: true, src_port: 1-65535}]
  reports: {to: ["%s"]}
`, id, id, port, collector)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// expectHarmless expects that no host got a packet that it could not take.
func (n *network) expectHarmless() {
	n.t.Helper()
	for _, host := range []int{hostA, hostB} {
		for _, c := range [][2]string{{"Tcp", "InCsumErrors"}, {"Udp", "InErrors"}, {"Udp", "InCsumErrors"}} {
			if got := n.counter(host, c[0], c[1]); got != 0 {
				n.t.Errorf("%s: %s %s: %d", n.routers[host], c[0], c[1], got)
			}
		}
	}
}
