//go:build linux

// What is known to break traffic or INT on Linux, and that a node does not.
package kernel

import (
	"regexp"
	"strings"
	"testing"
)

// TestPartialChecksums has INT put into packets of sockets that leave their checksums to a network card, which no node
// can do without breaking them: the kernel computes the sum where L4 was. Such packets stay as they are.
func TestPartialChecksums(t *testing.T) {
	n := makeNetwork(t, true)
	n.insert = true
	const text = "  watch: [{report_all: true}]\n"
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	for _, later := range []string{"on", "off"} { // the card behind the nodes, or the kernel in its stead
		n.run(3, "ethtool -K r tx %s", later)
		n.run(1, "ethtool -K l tx %s", later)
		n.udp(host4, 6001, 100)
		n.tcp(host4, 6002, 1<<20)
		n.udp(host6, 6001, 100)
		n.tcp(host6, 6002, 1<<20)
	}
	stop()
	n.expectHarmless()
	if got := c.reports(nodes); len(got) > 0 {
		t.Errorf("%d reports of packets that cannot have INT", len(got))
	}
	for i, node := range nodes {
		all := counters(t, node)
		if sink := i == 1; (all["kernel_partial"] == 0) != sink || all["kernel_partial"] != all["not_inserted"] ||
			all["inserted"] > 0 {
			t.Errorf("s%d: %v", i+1, all)
		}
	}
}

// TestChecksumsBehind lets nodes choose what they do at veth, which hands over packets without checksums: they send
// clones. Behind that the kernel computes the checksums (tx off), also those of the clones, which have got a record
// meanwhile. What the clones tell is right, and so is all that the hosts get.
func TestChecksumsBehind(t *testing.T) {
	const packets = 200
	n := makeNetwork(t, true)
	for _, router := range []int{2, 3} {
		n.run(router, "ethtool -K l tx off")
		n.run(router, "ethtool -K r tx off")
	}
	const text = "  watch: [{report_all: true}]\n"
	c := newCollector(t, text)
	nodes, stop := n.start(text, c.conn.LocalAddr().String())
	n.udp(host4, 6001, packets)
	n.tcp(host4, 6002, 1<<20)
	n.udp(host6, 6001, packets)
	n.tcp(host6, 6002, 1<<20)
	stop()
	n.expectHarmless()
	check(t, "md", nodes, c.reports(nodes), 2*packets)
	for i, node := range nodes {
		if all := counters(t, node); all["copies"] != all["inserted"] || all["copies"] == 0 && i != 1 {
			t.Errorf("s%d: %v", i+1, all)
		}
	}
}

// TestJoinedBelow puts a node on top of an interface that joins packets (GRO), as generic XDP then sees them: INT of
// all but the first would come to the host. The node refuses that, says what to do, and when that is done all is right.
func TestJoinedBelow(t *testing.T) {
	n := newNetwork(t)
	n.left = "up"
	for _, command := range []string{
		"ip link add name up type bridge", "ip addr flush dev l", "ip link set dev up mtu 2000",
		"ip link set dev l master up",
		"ip addr add 10.0.1.2/24 dev up", "ip addr add fd00:1::2/64 dev up nodad", "ip link set dev up up",
		"ip route replace 10.0.0.0/24 via 10.0.1.1 dev up", "ip route replace fd00::/64 via fd00:1::1 dev up",
		"ethtool -K l gro on",
	} {
		n.run(2, "%s", command)
	}
	const text, do = "  watch: [{report_all: true}]\n", "ethtool -K l gro off"
	c := newCollector(t, text)
	to := c.conn.LocalAddr().String()
	config := n.config(2, text, to)
	node, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	n.in(2, func() error {
		if err := node.Attach(); err == nil || !strings.Contains(err.Error(), do) {
			t.Errorf("attached: %v, want %q", err, do)
		}
		if f := finding(config, "port up GRO"); f.Verdict != Bad || f.Do != do {
			t.Errorf("doctor: %+v", f)
		}
		return node.Close()
	})
	n.run(2, "%s", do)
	n.in(2, func() error {
		if f := finding(config, "port up GRO"); f.What != "" {
			t.Errorf("doctor: %+v", f)
		}
		return nil
	})
	nodes, stop := n.start(text, to)
	n.udp(host4, 6001, 100)
	n.tcp(host4, 6002, 1<<20)
	n.udp(host6, 6001, 100)
	n.tcp(host6, 6002, 1<<20)
	stop()
	n.expectHarmless()
	check(t, "md", nodes, c.reports(nodes), 200)
}

// finding returns what the doctor finds about one thing.
func finding(c *Config, what string) (f Finding) {
	d := &doctor{config: c}
	for i := range c.Ports {
		d.port(&c.Ports[i])
	}
	for _, f := range d.findings {
		if f.What == what {
			return f
		}
	}
	return Finding{}
}

// TestPeersWithoutPrograms has a node at one router alone. At the other ends of its links there are no programs,
// without which veth does not take what XDP sends: all passes, and is reported.
func TestPeersWithoutPrograms(t *testing.T) {
	const packets = 100
	n := newNetwork(t)
	const text = "  mode: xd\n  watch: [{report_all: true}]\n"
	c := newCollector(t, text)
	nodes, stop := n.startAll([]*Config{nil, n.config(2, text, c.conn.LocalAddr().String()), nil})
	n.udp(host4, 6001, packets)
	n.tcp(host4, 6002, 1<<20)
	n.udp(host6, 6001, packets)
	n.tcp(host6, 6002, 1<<20)
	stop()
	n.expectHarmless()
	paths := 0
	for _, r := range c.reports(nodes) {
		if r.Flow.DstPort == 6001 {
			paths++
		}
	}
	if all := counters(t, nodes[0]); paths+int(all["kernel_ring_full"]+all["kernel_overwritten"]) != 2*packets {
		t.Errorf("%d reports of %d packets: %v", paths, 2*packets, all)
	}
}

// TestSourceMode expects what a node chooses at an edge, and that doctor and Dump say it.
func TestSourceMode(t *testing.T) {
	n := makeNetwork(t, true)
	n.run(1, "ip link add name br type bridge")
	const card = "lo" // stands in for a network card: its driver is none of veth and the like
	for _, row := range []struct {
		port, text string
		clone      bool
		verdict    Verdict
		why        string
	}{
		{"l, edge: true", "mode: md", true, Good, "veth"},
		{"l, edge: true, clone: false", "mode: md", false, Poor, "the file says so"},
		{"l, edge: true", "mode: xd", false, Good, "mode xd"},
		{"l, edge: true", "mode: mx", false, Poor, "clones are of mode md"},
		{"l, edge: true", "carrier: new-udp", false, Poor, "clones are of carrier dscp"},
		{"l, edge: true", "version: 1.0", false, Poor, "clones are of version 2.x"},
		{"l, edge: true", "watch: [{mode: mx}]", false, Poor, "an entry of int.watch is of mode mx"},
		{"br, edge: true", "mode: md", true, Good, "bridge"},
		{card + ", edge: true", "mode: md", false, Good, "a link"},
		{card + ", edge: true, clone: true", "mode: md", true, Good, "the file says so"},
		{card + ", edge: true", "clone: true", true, Good, "int.clone says so"},
	} {
		c, err := Parse([]byte("name: s1\nid: 1\nports: [{interface: " + row.port + "}]\nint:\n  " + row.text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		n.in(1, func() error {
			p := &c.Ports[0]
			if clone, why := c.sourceMode(p); clone != row.clone || !strings.Contains(why, row.why) {
				t.Errorf("%s, %s: clones %v, %s", row.port, row.text, clone, why)
			}
			f := finding(c, "port "+p.Interface+" mode")
			if f.Verdict != row.verdict || !strings.Contains(f.Found, row.why) {
				t.Errorf("%s, %s: %+v", row.port, row.text, f)
			}
			text, err := c.Dump()
			if err != nil || !strings.Contains(string(text), row.why) {
				t.Errorf("%s, %s: %v\n%s", row.port, row.text, err, text)
			}
			again, err := Parse(text)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", row.port, row.text, err, text)
				return nil
			}
			whole, err := again.Dump()
			why := regexp.MustCompile(" # .*") // that the file says so, now
			if err != nil || why.ReplaceAllString(string(whole), "") != why.ReplaceAllString(string(text), "") {
				t.Errorf("%s, %s: %v, got\n%s\nwant\n%s", row.port, row.text, err, whole, text)
			}
			return nil
		})
	}
}
