package node

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// versionCarriers are the carriers of each version.
var versionCarriers = map[string][]string{
	"2016": {"vxlan-gpe", "geneve"},
	"0.5":  {"dscp", "dst-port", "vxlan-gpe", "geneve"},
	"1.0":  {"dscp", "marker", "vxlan-gpe", "geneve"},
	"2.0":  {"dst-port", "new-udp", "dscp", "marker", "vxlan-gpe", "geneve", "gre"},
	"2.1":  {"dst-port", "new-udp", "dscp", "marker", "vxlan-gpe", "geneve", "gre"},
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomConfig returns a configuration that Load accepts, and its carrier.
func randomConfig(r *rand.Rand) (text, carrier string) {
	version := pick(r, "2016", "0.5", "1.0", "2.0", "2.1", "2.1")
	carrier = pick(r, versionCarriers[version]...)
	new := version == "2.0" || version == "2.1"
	b := fmt.Sprintf("version: %s\ncarrier: %s\nmax_hops: %d\n", version, carrier, 1+r.IntN(8))
	mode := "md"
	if new {
		mode = pick(r, "md", "md", "md", "mx", "xd")
	}
	b += "mode: " + mode + "\n"
	names := []string{"l1_interfaces", "hop_latency", "queue", "ingress_ts", "egress_tx_util"}
	if version != "2016" {
		names = append(names, "egress_ts")
	}
	if version == "2016" || version == "0.5" {
		names = append(names, "queue_congestion")
	} else if new {
		names = append(names, "buffer", "l2_interfaces")
	}
	list := []string{"node_id"}
	for _, name := range names {
		if carrier != "geneve" && r.IntN(2) == 0 || carrier == "geneve" && r.IntN(4) == 0 {
			list = append(list, name)
		}
	}
	if version != "2016" && version != "0.5" && carrier != "new-udp" && carrier != "gre" && mode == "md" &&
		r.IntN(2) == 0 {
		b += "checksum_complement: true\n"
		list = append(list, "checksum_complement")
	}
	b += "instructions: [" + strings.Join(list, ", ") + "]\n"
	if carrier == "marker" {
		b += "points: {probe_marker: 0xAABBCCDDEEFF0011}\n"
	}
	if new && mode == "md" && r.IntN(4) == 0 {
		b += "domain: 0x5453\nds_instruction: 0x8000\nds_flags: 0x4000\n"
	}
	if (carrier == "new-udp" || carrier == "dst-port") && new && r.IntN(2) == 0 {
		b += "new_ip: true\n"
	}
	format := pick(r, "2.0", "2.0", "2.0", "1.0", "0.5")
	b += "sink: " + pick(r, "in_report", "in_stack", "separate") + "\n"
	if version == "2.1" && format == "2.0" {
		b += "mtu: " + pick(r, "mark", "report") + "\n"
	}
	if !new && r.IntN(4) == 0 {
		b += "replicas: both\n"
		b += pick(r, "", "replicate: true\n")
	}
	if told := len(b) % 4; (carrier == "geneve" || carrier == "vxlan-gpe") && told > 0 {
		b += "destination: [" + []string{"", "sequence", "ttl", "sequence, ttl"}[told] + "]\n"
	}
	switch told := len(b) % 6; {
	case carrier == "geneve" && mode == "md" && told < 2:
		b += "least_hops: 1\n"
	case new && carrier != "geneve" && carrier != "marker" && told < 3 && !strings.Contains(b, "domain"):
		b += "points: {ds_lengths: {0x1234: {0: 4, 2: " + []string{"8", "8", "source-only 8"}[told] + ", 5: 8}}}\n" +
			"domain: 0x1234\nds_instruction: 0xA400\nds_metadata: {0: 0000002a, 2: '0102030405060708'}\nds_mark: 2\n"
	}
	fragment := "ethernet"
	if format != "0.5" {
		fragment = pick(r, "ethernet", "ip")
	}
	b += "reports: {format: " + format + ", truncate: 0, mtu: 9000, fragment: " + fragment + "}\n"
	b += "queues: []\n"
	b += pick(r, "watch: [{report_all: true}]\n", "watch: [{report_all: true}]\n",
		"watch: [{report_all: true}, {protocol: udp, ignore: true, priority: 1}]\n",
		"watch: [{report_all: true, src_port: 5001, sample: 2}]\n")
	return b, carrier
}
