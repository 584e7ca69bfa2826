package main

import (
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/packet"
)

// A dialectOfProof is a kind of telemetry: how nodes are configured, and what can be expected of it. All report every
// packet, and none of them queues that are long but have room.
type dialectOfProof struct {
	name    string
	text    string         // of the section "int", besides what is the same in all
	points  map[string]any // code points of the server
	only    string         // the scenario of which the kind is; none: of all
	blinds  string         // reasons of drops that do not occur, because switches that filter see INT instead of ports
	options expect.Options
}

const everyPacket = "watch: [{report_all: true}]\nqueues: []\nmax_hops: 16\n"

const (
	ports = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	times = telemetry.HasIngressTime | telemetry.HasEgressTime
	whole = ports | telemetry.HasLatency | telemetry.HasQueue | times
	lost  = ports | telemetry.HasQueue
)

var dialects = []dialectOfProof{
	{
		name: "MD 2.1", text: "mode: md\nreports: {truncate: 700}\n",
		points: map[string]any{"int_dscp": 0x17},
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 12 + 32*written },
		},
	},
	{
		name: "MD 2.1 to two workers", text: "mode: md\nreports: {truncate: 700}\n",
		points: map[string]any{"int_dscp": 0x17},
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16, Unordered: true,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 12 + 32*written },
		},
	},
	{
		name: "MD 2.1 by port", text: "mode: md\ncarrier: dst-port\nsink: in_stack\nreports: {truncate: 700}\n",
		points: map[string]any{"int_udp_port": 17768}, blinds: "acl_deny",
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16,
			Overhead: func(f *truth.Flow, written int) int {
				n := 4 + 12 + 32*written
				if f.Protocol != packet.ProtoUDP {
					n += 8 // the UDP header is of INT
				}
				return n
			},
		},
	},
	{
		name: "MX", text: "mode: mx\n",
		points: map[string]any{"int_dscp": 0x17},
		options: expect.Options{
			Mode: expect.MX, Hop: whole, Drop: lost, Version: "2.0", Wide: true,
			Overhead: func(*truth.Flow, int) int { return 4 + 12 },
		},
	},
	{
		name: "XD", text: "mode: xd\n",
		options: expect.Options{Mode: expect.XD, Hop: whole, Drop: lost, Version: "2.0", Wide: true},
	},
	{
		name: "MD 1.0", text: "mode: md\nversion: \"1.0\"\nreports: {format: \"1.0\", truncate: 700}\n",
		points: map[string]any{"int_dscp": 0x17},
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "1.0", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 0.5", text: "mode: md\nversion: \"0.5\"\nreports: {format: \"0.5\", truncate: 700}\n",
		points: map[string]any{"int_dscp": 0x17, "int_format_for_version_0": "v0.5"},
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: ports, Version: "0.5", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written + 4 },
		},
	},
	ioamProof("IOAM, pre-allocated", "preallocated", "", expect.MD, func(*truth.Flow, int) int { return 16 + 240 }),
	ioamProof("IOAM, incremental", "incremental", "sink: in_stack\n", expect.MD,
		func(_ *truth.Flow, written int) int { return 16 + 24*written }),
	ioamProof("IOAM, direct export", "dex", "", expect.MX, func(*truth.Flow, int) int { return 24 }),
	{
		name: "MD 0.5 in VXLAN-GPE", only: "p4-2016",
		text:   "mode: md\nversion: \"0.5\"\ncarrier: vxlan-gpe\nreports: {format: \"0.5\", truncate: 700}\n",
		points: map[string]any{"vxlan_gpe_next_protocol_5": "int-0.5", "int_format_for_version_0": "v0.5"},
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: ports, Version: "0.5", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 1.0 in VXLAN-GPE", only: "p4-2016",
		text: "mode: md\nversion: \"1.0\"\ncarrier: vxlan-gpe\nreports: {format: \"1.0\", truncate: 700}\n",
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "1.0", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 2016", only: "p4-2016",
		text:   "mode: md\nversion: \"2016\"\ncarrier: vxlan-gpe\nsink: in_stack\nreports: {format: \"0.5\", truncate: 700}\n",
		points: map[string]any{"vxlan_gpe_next_protocol_5": "int-2016", "int_format_for_version_0": "2016"},
		options: expect.Options{
			Mode: expect.MD, Hop: ports | telemetry.HasLatency | telemetry.HasQueue | telemetry.HasIngressTime,
			Drop: ports, Version: "0.5", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 2016 with slow paths", only: "follow-ups",
		text: "mode: md\nversion: \"2016\"\nreports: {format: \"1.0\", truncate: 700}\n" +
			"nodes: {spine1: {slow_path: true}, spine2: {slow_path: true}}\n",
		points: map[string]any{"geneve_int_class": 0xab, "int_format_for_version_0": "2016"},
		options: expect.Options{
			Mode: expect.MD, Hop: ports | telemetry.HasLatency | telemetry.HasQueue | telemetry.HasIngressTime,
			Drop: lost, Version: "1.0", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 2016 with copies", only: "replication",
		text: "mode: md\nversion: \"2016\"\ncarrier: geneve\nreplicas: both\nreplicate: true\n" +
			"reports: {format: \"1.0\", truncate: 700}\n",
		points: map[string]any{"geneve_int_class": 0xab, "int_format_for_version_0": "2016"},
		options: expect.Options{
			Mode: expect.MD, Hop: ports | telemetry.HasLatency | telemetry.HasQueue | telemetry.HasIngressTime,
			Drop: lost, Version: "1.0", MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written },
		},
	},
	{
		name: "MD 2016 with destination headers", only: "destination-headers",
		text: "mode: md\nversion: \"2016\"\ncarrier: vxlan-gpe\ndestination: [sequence, ttl]\n" +
			"reports: {format: \"1.0\", truncate: 700}\n",
		points: map[string]any{"vxlan_gpe_next_protocol_5": "int-2016", "int_format_for_version_0": "2016"},
		options: expect.Options{
			Mode: expect.MD, Hop: ports | telemetry.HasLatency | telemetry.HasQueue | telemetry.HasIngressTime,
			Drop: lost, Version: "1.0", MaxHops: 16, FirstTTL: true,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 8 + 24*written + 4 + 8 },
		},
	},
	{
		name: "MD 2.1 with destination headers", only: "destination-headers",
		text: "mode: md\ncarrier: vxlan-gpe\ndestination: [sequence, ttl]\nreports: {truncate: 700}\n",
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16, FirstTTL: true,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 12 + 32*written + 4 + 8 },
		},
	},
	{
		name: "MD 2.1 with domain metadata", only: "link-failure",
		text:   "mode: md\nreports: {truncate: 700}\n" + domainText,
		points: domainPoints,
		options: expect.Options{
			Mode: expect.MD, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 12 + (32+4+8)*written + 8 },
		},
	},
	{
		name: "MX with domain metadata", only: "link-failure",
		text:   "mode: mx\n" + domainText,
		points: domainPoints,
		options: expect.Options{
			Mode: expect.MX, Hop: whole, Drop: lost, Version: "2.0", Wide: true,
			Overhead: func(*truth.Flow, int) int { return 4 + 12 + 8 },
		},
	},
	{
		// There is room for six records of 16 bytes, and what is asked for has 20: of the last two instructions each
		// packet has one, by chance (INT 2016 §5.3.1).
		name: "MD 2.1 with instructions by chance", only: "follow-ups",
		text: "mode: md\ncarrier: geneve\nleast_hops: 6\nreports: {truncate: 700}\n" +
			"instructions: [node_id, l1_interfaces, hop_latency, egress_tx_util, buffer]\n",
		options: expect.Options{
			Mode: expect.MD, Hop: ports | telemetry.HasLatency, Drop: lost, Version: "2.0", Wide: true, MaxHops: 16,
			Overhead: func(_ *truth.Flow, written int) int { return 4 + 12 + 16*written },
		},
	},
}

// A domain with metadata of each hop in bits 0 and 5, of the source only in bit 2. Of bit 5 no node knows a value, and
// spine1 has one of its own in bit 0 (INT 2.1 §5.8).
const domainText = "points: {ds_lengths: {0x1234: {0: 4, 2: source-only 8, 5: 8}}}\n" +
	"domain: 0x1234\nds_instruction: 0xA400\nds_metadata: {0: 0000002a, 2: '0102030405060708'}\n" +
	"nodes: {spine1: {ds_metadata: {0: 0000002b}}}\n"

// domainPoints is what the server has to know of it.
var domainPoints = map[string]any{
	"int_dscp": 0x17,
	"ds_lengths": map[string]any{
		"0x1234": map[string]any{"0": 4, "2": "source-only 8", "5": 8},
	},
}

// ioamProof is a kind of IOAM.
func ioamProof(name, option, more string, mode expect.Mode, overhead func(*truth.Flow, int) int) dialectOfProof {
	return dialectOfProof{
		name: name, only: "ioam",
		text: "mode: ioam\nioam: {option: " + option + "}\n" + more + "reports: {truncate: 700}\n",
		options: expect.Options{
			Mode: mode, Hop: whole, Drop: lost, Version: "2.0", Wide: true, MaxHops: 10, Overhead: overhead,
		},
	}
}
