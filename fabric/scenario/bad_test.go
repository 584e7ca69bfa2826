package scenario

import (
	"strings"
	"testing"
)

// bad has a file for each rule, and how the error begins. Those without "duration" are parts that small goes before.
var bad = []struct{ text, want string }{
	{"", "1: the file is empty"},
	{
		"- duration: 1s",
		"1: got a list, want keys and values; known are clocks, duration, faults, host, int, name, nodes, reports, routing, seed, start, switch, topology, traffic, truth",
	},
	{"duration: 1s\ntopology: [", "2: did not find expected node content"},
	{"duration: 1s\n---\nseed: 1\n", "3: a second YAML document, want one"},
	{"duration: 1s\nduration: 2s\n", "2: duration: the key is there twice, first in line 1"},
	{"duration: &a 1s\nname: *a\n" + topology, "1: duration: want a plain value, without tags, anchors and aliases"},
	{"faults: !x []", "4: faults: want a plain value, without tags"},
	{"duration: 1s\n", "1: topology: got 0 shapes"},
	{"duration: 1s\ntopology:\n  ring: {nodes: 3, hosts: 1}\n  fat_tree: {k: 2}\n", "3: topology: got 2 shapes"},
	{"duration: 0s\n" + topology, "1: duration: want how long"},
	{"topology:\n  ring: {nodes: 3, hosts: 1}\n", "1: duration: want how long"},
	{"duration: 10\n" + topology, `1: duration: got "10", want a duration with its unit, for`},
	{"duration: [1s]\n" + topology, "1: duration: got a list, want a duration with its"},
	{"seeed: 1", `4: unknown key "seeed"; did you mean seed?`},
	{"seed: -1", `4: seed: got "-1", want a whole number from 0`},
	{"seed: 1.5", `4: seed: got "1.5", want a whole number from 0`},
	{"start: now", `4: start: got "now", want a time as in`},
	{"clocks: {offset: -1s}", `4: clocks.offset: got "-1s", want a duration with its`},
	{"clocks: {drift: much}", `4: clocks.drift: got "much", want a number`},
	{"clocks: {drift: .inf}", `4: clocks.drift: got ".inf", want a number`},
	{"routing: {reconvergence: -1s}", `4: routing.reconvergence: got "-1s", want a duration with its unit, for`},
	{"host: {queue: 1kB}", "4: host: want"},
	{"host: {queue: 1kb}", `4: host.queue: got "1kb", want a number of bytes, for`},
	{"truth: {burst_above: 10kB, burst_below: 10kB}", "4: truth.burst_below: got 10000, want less"},
	{"switch: {latency: 2s}", "4: switch.latency: want"},
	{"switch: {buffer: 100}", "4: switch.buffer: got 100"},
	{"switch: {alpha: 0}", "4: switch.alpha: got 0"},
	{"switch: {ttl: 256}", "4: switch.ttl: got 256"},
	{"switch: {queues: []}", "4: switch.queues: got 0"},
	{"switch:\n  queues:\n    - {dscp: [1]}\n", "6: switch.queues: 0 queues list no dscp"},
	{"switch:\n  queues:\n    - {}\n    - {dscp: [64]}\n", "7: switch.queues[1].dscp: got 64"},
	{"switch:\n  queues:\n    - {weight: 101}\n", "6: switch.queues[0].weight: got 101"},
	{"nodes:\n  - {name: h1}\n", `5: nodes[0].name: got "h1"`},
	{"nodes:\n  - {name: leaf1, clock: {drift: 1e6}}\n", "5: nodes[0].clock.drift: got"},
	{"nodes:\n  - {name: leaf1, buffer: 1}\n", "5: nodes[0].buffer: got 1"},

	{
		"duration: 1s\ntopology:\n  leaf_spine: {leaves: 0, spines: 1, hosts: 1}\n",
		"3: topology.leaf_spine.leaves: got 0",
	},
	{"duration: 1s\ntopology:\n  fat_tree: {k: 3}\n", "3: topology.fat_tree.k: got 3"},
	{"duration: 1s\ntopology:\n  ring: {nodes: 2, hosts: 1}\n", "3: topology.ring.nodes: got 2"},
	{
		"duration: 1s\ntopology:\n  ring:\n    nodes: 3\n    hosts: 1\n    host_link: {mtu: 1000}\n",
		"6: topology.ring.host_link.mtu: got 1000",
	},
	{
		"duration: 1s\ntopology:\n  ring:\n    nodes: 3\n    hosts: 1\n    ring_link: {delay: -1s}\n",
		`6: topology.ring.ring_link.delay: got "-1s", want a duration with its unit,`,
	},
	{
		"duration: 1s\ntopology:\n  ring:\n    nodes: 3\n    hosts: 1\n    ring_link: {rate: fast}\n",
		`6: topology.ring.ring_link.rate: got "fast", want a rate in bit/s`,
	},
	{"duration: 1s\ntopology:\n  graph: {}\n", "3: topology: got 0 switches"},
	{graph + "    hosts: [{name: a, at: a}]\n", `6: topology.graph.hosts[0].name: got "a"`},
	{graph + "    hosts: [{name: ../h, at: a}]\n", `6: topology.graph.hosts[0].name: got "../h"`},
	{graph + "    hosts: [{name: h, at: x}]\n", `6: topology.graph.hosts[0].at: got "x"`},
	{
		graph + "    hosts: [{name: h, at: a, address: x}]\n",
		`6: topology.graph.hosts[0].address: got "x", want an IP address`,
	},
	{graph + "    hosts: [{name: h, at: a, address: '::1'}]\n", "6: topology.graph.hosts[0].address: got ::1"},
	{
		graph + "    hosts: [{name: h, at: a, address6: 10.0.0.1}]\n",
		"6: topology.graph.hosts[0].address6: got 10.0.0.1",
	},
	{graph + "    hosts: [{name: h, at: a, mac: '01:00:00:00:00:01'}]\n", "6: topology.graph.hosts[0].mac: is a group"},
	{graph + "    hosts: [{name: h, at: a, mac: 1}]\n", `6: topology.graph.hosts[0].mac: got "1", want a MAC address,`},
	{graph + "    links: [{between: [a, b]}, {between: [a, a]}]\n", "6: topology.graph.links[1].between: got [a, a]"},
	{
		graph + "    links: [{between: [a, b]}, {between: [b, a]}]\n" +
			"faults: [{at: 1s, for: 1s, link_down: {link: [b, a]}}]\n",
		"7: faults[0].link_down.link: got [b, a], want two nodes that have one link, and not 2",
	},
	{graph + "    links: [{between: [a, b], mtu: 1}]\n", "6: topology.graph.links[0].mtu: got 1"},
	{graph + "    links: [{between: [a]}]\n", "6: topology.graph.links[0].between: got a list of 1, want one of 2"},

	{"traffic: [{}]", "4: traffic[0]: got 0 kinds"},
	{"traffic: [{poisson: {sizes: 1kB}}]", "4: traffic[0].poisson.load: want"},
	{"traffic: [{poisson: {load: 101%, sizes: 1kB}}]", `4: traffic[0].poisson.load: got "101%", want a share from 0%`},
	{"traffic: [{poisson: {load: 1%}}]", `4: traffic[0].poisson.sizes: got ""`},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB, to: [leaf1]}}]", `4: traffic[0].poisson.to: got "leaf1"`},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB, to: [h1], from: [h1]}}]", "4: traffic[0].poisson: a host does not"},
	{"duration: 1s\ntopology:\n  leaf_spine: {leaves: 1, spines: 1, hosts: 1}\ntraffic:\n  - poisson: {load: 1%, sizes: 1kB}\n", "5: traffic[0].poisson: a host does not"},
	{
		graph + "    links: []\ntraffic:\n  - poisson: {load: 1%, sizes: 1kB}\n",
		"8: traffic[0].poisson: a host does not",
	},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, ip: 5}]", `4: traffic[0].ip: got "5"`},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, transport: sctp}]", `4: traffic[0].transport: got "sctp"`},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, start: 10s}]", "4: traffic[0].stop: want"},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, packet: 10}]", "4: traffic[0].packet: got 10"},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, dscp: 64}]", "4: traffic[0].dscp: got 64"},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, port: 65536}]", "4: traffic[0].port: got 65536"},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, tunnel: gre}]", `4: traffic[0].tunnel: got "gre"`},
	{"traffic: [{poisson: {load: 1%, sizes: 1kB}, vni: 1}]", "4: traffic[0].vni: needs a tunnel"},
	{"traffic: [{incast: {senders: [h1], to: h1, bytes: 1}}]", "4: traffic[0].incast.senders: want"},
	{"traffic: [{incast: {senders: [h1, h1], to: h2, bytes: 1}}]", `4: traffic[0].incast.senders: got "h1"`},
	{"traffic: [{incast: {senders: [h1], to: h2}}]", "4: traffic[0].incast.bytes: want"},
	{"traffic: [{all_reduce: {hosts: [h1], bytes: 9}}]", "4: traffic[0].all_reduce.hosts: got 1"},
	{"traffic: [{all_reduce: {hosts: [h1, h2], bytes: 1}}]", "4: traffic[0].all_reduce.bytes: got 1"},
	{"traffic: [{all_reduce: {hosts: [h1, h2], bytes: 9}, transport: udp}]", "4: traffic[0].transport: an all_reduce"},
	{"traffic: [{constant: {from: h1, to: h1}}]", "4: traffic[0].constant.to: a host"},

	{"faults: [{at: 1s}]", "4: faults[0]: got 0 kinds"},
	{
		"faults:\n  - no_int: {node: leaf1}\n    polarisation: {}\n",
		"5: faults[0]: got 2 kinds of fault (polarisation, no_int)",
	},
	{"faults: [{at: -1s, polarisation: {}}]", `4: faults[0].at: got "-1s", want a duration with`},
	{"faults: [{every: 1s, polarisation: {}}]", "4: faults[0].every: a fault that comes again"},
	{"faults: [{link_down: {link: [leaf1, leaf2]}}]", "4: faults[0].link_down.link: got [leaf1, leaf2]"},
	{
		"faults: [{link_down: {link: [leaf1, spine1, leaf2]}}]",
		"4: faults[0].link_down.link: got a list of 3, want one of 2",
	},
	{"faults: [{gray_link: {link: [leaf1, spine1]}}]", "4: faults[0].gray_link.drop: want"},
	{"faults: [{blackhole: {node: leaf9, prefix: 10.0.0.0/8}}]", `4: faults[0].blackhole.node: got "leaf9"`},
	{"faults: [{blackhole: {node: leaf1}}]", "4: faults[0].blackhole.prefix: want"},
	{"faults: [{blackhole: {node: leaf1, prefix: x}}]", `4: faults[0].blackhole.prefix: got "x", want an address or a`},
	{
		"faults: [{blackhole: {node: leaf1, prefix: 10.0.0.1/8}}]",
		`4: faults[0].blackhole.prefix: got "10.0.0.1/8", want 10.0.0.0/8, without`,
	},
	{"faults: [{loop: {nodes: [leaf1], prefix: 10.0.0.0/8}}]", "4: faults[0].loop.nodes: got 1"},
	{"faults: [{loop: {nodes: [leaf1, leaf2], prefix: 10.0.0.0/8}}]", `4: faults[0].loop.nodes: got "leaf1"`},
	{"faults: [{slow_switch: {node: leaf1}}]", "4: faults[0].slow_switch.extra: want"},
	{"faults: [{buffer: {node: leaf1}}]", "4: faults[0].buffer: want"},
	{"faults: [{buffer: {node: leaf1, buffer: 1}}]", "4: faults[0].buffer.buffer: got 1"},
	{"faults: [{no_int: {node: h1}}]", `4: faults[0].no_int.node: got "h1"`},
	{"faults: [{clock: {node: leaf1, drift: 1e9}}]", "4: faults[0].clock.drift: got"},
	{"faults: [{report_loss: {}}]", "4: faults[0].report_loss: want either"},
	{"faults: [{report_loss: {every: 2, nodes: [h1]}}]", `4: faults[0].report_loss.nodes: got "h1"`},
	{"faults: [{ddos: {to: h1, rate: 1M}}]", "4: faults[0].ddos: want at least one host"},
	{"faults: [{ddos: {from: [h2], to: h1, rate: 1M, ip: mixed}}]", `4: faults[0].ddos.ip: got "mixed"`},
	{"faults: [{ddos: {from: [h2], to: h1, rate: 1M, send: tcp}}]", `4: faults[0].ddos.send: got "tcp"`},
	{"faults: [{mitigate: {node: leaf1}}]", "4: faults[0].mitigate: would drop everything"},
	{"faults: [{mitigate: {node: leaf1, protocol: icmp}}]", `4: faults[0].mitigate.protocol: got "icmp"`},
}

const topology = "topology:\n  leaf_spine: {leaves: 2, spines: 2, hosts: 4}\n"

const graph = "duration: 1s\ntopology:\n  graph:\n    switches:\n      [{name: a}, {name: b}]\n"

func TestBad(t *testing.T) {
	for _, test := range bad {
		text := test.text
		if text != "" && !strings.Contains(text, "duration") && !strings.Contains(text, "topology") {
			text = small + text
		}
		_, err := Parse("x.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s\nno error, want %q", text, test.want)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, "x.yaml:"+test.want) {
			t.Errorf("%s\n got %q\nwant %q", text, got, "x.yaml:"+test.want)
		}
	}
}

// All that is wrong is said at once.
func TestSeveral(t *testing.T) {
	_, err := Parse("x.yaml", []byte(small+"faults: [{at: 1s}, {at: 2s}]\ntraffic: [{}]\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v", err)
	}
}
