package kernel

import (
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

const valid = `name: s1
id: 1
address: 192.0.2.1
ports:
  - {interface: eth0, edge: true}
  - {interface: eth1, queue: br1}
local: true
int:
  mode: md
`

func TestLoadMisspelt(t *testing.T) {
	const api = "api: {listen: '127.0.0.1:8556', cert: c, key: k, token_file: t}\n"
	text := "pin: true\n" + api + strings.Replace(valid, "edge: true", "edge: true, clone: true", 1)
	fast := strings.Replace(valid, "edge: true}", "fast: true}\n  - {interface: eth2, fast: true}", 1)
	conftest.Misspell(t, reflect.TypeFor[Config](), []string{text, fast}, func(text []byte) error {
		_, err := Parse(text)
		return err
	})
}

// TestRefused has a row for each rule, and for each thing that the kernel does not do, with the line that names it.
func TestRefused(t *testing.T) {
	if _, err := Parse([]byte(valid)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ old, new, want string }{
		{"id: 1", "id: 0", "2: id: got 0"},
		{"ports:", "ports: []\nports2:", "ports2"},
		{"interface: eth0, ", "", "5: ports[0].interface: it has no name"},
		{"queue: br1", "queue: eth0", "6: ports[1]: got eth0 twice"},
		{"local: true", "local: true\napi: {listen: ':8556', cert: c, key: k, token_file: t}", "8: api.listen"},
		{"local: true", "local: true\napi: {listen: '0.0.0.0:8556', cert: c, key: k}", "8: api.token_file"},
		{"local: true", "local: true\napi: {listen: '0.0.0.0:8556', cert: c, key: k, token_file: t}", ""},
		{"edge: true}", "fast: true}\n  - {interface: eth2, fast: true}", ""},
		{"edge: true}", "fast: true}", "ports: fast: got one port"},
		{
			"edge: true}\n  - {interface: eth1, queue: br1}\nlocal: true\nint:",
			"fast: true}\n  - {interface: eth1, fast: true}\npin: true\nint:\n  queues: [{port: 2, trigger: 1kB}]",
			"6: ports[1].fast: got true; packets wait in no queue",
		},
		{
			"edge: true}\n  - {interface: eth1, queue: br1}\nlocal: true",
			"fast: true}\n  - {interface: eth1, fast: true}\npin: true", "5: ports[0].fast: got true; with pin",
		},
		{"edge: true}", "edge: true, fast: true}\n  - {interface: eth2, fast: true}", "5: ports[0].fast: got true; at an edge"},
		{"queue: br1}", "queue: br1, fast: true}\n  - {interface: eth2, fast: true}", "6: ports[1].fast: got true; packets would"},
		{"mode: md", "queues: [{trigger: 1kB}]", ""},
		{"mode: md", "mode: ioam", "9: int.mode:"},
		{"mode: md", "version: 0.5", "9: int.version:"},
		{"local: true\nint:", "int:\n  version: 1.0", ""},
		{"local: true\nint:", "int:\n  version: 2016", ""},
		{"local: true\nint:", "int:\n  carrier: vxlan-gpe\n  watch: [{vni: 5}]", ""},
		{"local: true\nint:", "int:\n  carrier: geneve\n  edge_int: accept", "int.edge_int:"},
		{"local: true\nint:", "int:\n  carrier: geneve\n  destination: [ttl]", "int.destination:"},
		{"local: true\nint:", "int:\n  carrier: geneve\n  least_hops: 2", "int.least_hops:"},
		{"local: true\nint:", "int:\n  carrier: geneve\n  points: {geneve_int_class: 7}", "points.geneve_int_class:"},
		{"local: true\nint:", "int:\n  version: 2016\n  points: {geneve_int_class: 7}", ""},
		{"mode: md", "version: 2016", "7: local: got true with carrier geneve"},
		{"mode: md", "version: 1.0", "7: local: got true in version 1.0"},
		{"local: true\nint:", "int:\n  version: 1.0\n  replicas: ports", "int.replicas:"},
		{"local: true\nint:", "int:\n  version: 1.0\n  replicate: true", "int.replicate:"},
		{"mode: md", "carrier: gre", "9: int.carrier:"},
		{"local: true\nint:", "int:\n  carrier: dst-port\n  points: {int_udp_port: 7777}", ""},
		{"mode: md", "carrier: dst-port", "7: local: got true with carrier dst-port"},
		{"mode: md", "carrier: new-udp\n  clone: true", "int.clone:"},
		{"mode: md", "carrier: new-udp\n  new_ip: true", "int.new_ip:"},
		{"mode: md", "carrier: dst-port\n  points: {int_dscp: 7}", "int.points.int_dscp:"},
		{"mode: md", "points: {int_dscp: 7}", ""},
		{"mode: md", "checksum_complement: true", "9: int.checksum_complement:"},
		{"edge: true}", "edge: true, clone: false}", ""},
		{"edge: true}", "edge: true, clone: true}", ""},
		{
			"edge: true}\n  - {interface: eth1, queue: br1}\nlocal: true\nint:",
			"edge: true, clone: true}\nint:\n  carrier: new-udp",
			"5: ports[0].clone: got true; clones are of carrier dscp",
		},
		{"mode: md", "mode: mx\n  clone: true", "int.clone:"},
		{"mode: md", "clone: true", ""},
		{"mode: md", "watch: [{mode: mx}]", "9: int.watch[0]: mode:"},
		{"mode: md", "mode: xd", "local: got true in mode xd"},
		{"mode: md", "domain: 7", "9: int.domain:"},
		{"mode: md", "domain: 0x5453\n  ds_instruction: 0x4000", "9: int.domain:"},
		{"local: true\nint:", "int:\n  domain: 0x5453\n  ds_instruction: 0x8000", ""},
		{"local: true\nint:", "int:\n  domain: 0x5453\n  ds_instruction: 0x8000\n  clone: true", "int.clone:"},
		{"mode: md", "domain: 0x5453\n  ds_instruction: 0x8000", "7: local: got true in domain 0x5453"},
		{"mode: md", "mtu: report", ""},
		{"mode: md", "drops: [{protocol: tcp}]\n  drop_events: {period: 1s}", ""},
		{"mode: md", "drops: [{vlan: 7}]", "9: int.drops[0]: vlan:"},
		{"mode: md", "queues: [{trigger: 1MB}, {port: 1, queue: 0, trigger_latency: 1ms, quota: 7}]", ""},
		{"mode: md", "queues: [{queue: 1, trigger: 1MB}]", "9: int.queues[0]: queue: got 1"},
		{"mode: md", "points: {probe_marker: 7}", "9: int.points.probe_marker:"},
		{"mode: md", "watch: [{vlan: 5}]", ""},
		{"mode: md", "watch: [{vni: 5}]", "9: int.watch[0]: vni:"},
		{"mode: md", "sink: nowhere", "9: sink:"},
	} {
		_, err := Parse([]byte(strings.Replace(valid, row.old, row.new, 1)))
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.new, err, row.want)
		}
	}
}
