package node

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

// Bad files: what is said of them begins with the line and names the key and the rule.
func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"mode: zz", `line 1: mode: got "zz", want one of ioam, md, mx, xd`},
		{"\nversion: 3", `line 2: version: got "3", want one of 0.5, 1.0, 2.0, 2.1, 2016`},
		{"carrier: geneva", `line 1: carrier: got "geneva"`},
		{"version: 1.0\nmode: mx", "line 2: mode: mode MX: only INT 2.x has it"},
		{"version: 1.0\ncarrier: gre", "line 1: mode: carrier: this version does not have it"},
		{"version: 1.0\ncarrier: dst-port", "carrier: in the shim of INT 1.0 is no place for the port that a packet had"},
		{"version: 2016\ncarrier: dscp", "carrier: this version does not have it"},
		{"carrier: marker", "line 1: mode: carrier: its code point is not configured"},
		{"\ncolour: red", `line 2: unknown key "colour"`},
		{"mode: [md]", "line 1: mode: got a list, want a text"},
		{"- mode", "line 1: got a list, want keys and values; known are carrier,"},
		{"a: b: c", "line 1: "},
		{"---\nmode: md\n---\nmode: mx\n", "line 4: a second YAML document, want one"},
		{"max_hops: 256", `line 1: max_hops: got "256", want a whole number from 0 to 255`},
		{"max_hops: 0", "the maximum number of hops is 0"},
		{"points:\n  int_dscp: 64", "line 2: points.int_dscp: got 64, want at most 63"},
		{"points:\n  int_colour: 64", `line 2: points.int_colour: unknown code point "int_colour"`},
		{
			"carrier: dst-port\npoints: {int_udp_port: 4789}",
			"int_udp_port: that is the port of telemetry reports or of a tunnel",
		},
		{"dialect: klingon", `line 1: dialect: `},
		{"instructions:\n  - node_id\n  - colour", "line 3: instructions[1]: "},
		{"version: 2016\ninstructions: [buffer]", "line 2: instructions: this version does not have buffer"},
		{
			"instructions: [checksum_complement]",
			"line 1: instructions: instruction bit 15: the domain does not allow checksum complements",
		},
		{"ds_instruction: 1", "domain 0 has no DS Instruction"},
		{"replicas: both", "replica policy: INT 2.x has D instead"},
		{"edge_int: eat", `line 1: edge_int: got "eat", want one of accept, drop`},
		{"sink: here", `line 1: sink: got "here", want one of in_report, in_stack, separate`},
		{"mtu: 1500", `line 1: mtu: got "1500", want one of mark, report`},
		{"version: 2.0\nmtu: report", "line 2: mtu: got report in version 2.0, want mark"},
		{"mtu: report\nreports: {format: 1.0}", "line 1: mtu: got report with reports of format 1.0, want mark"},
		{"slow_path: true", "line 1: slow_path: got true in version 2.1"},
		{"replicate: true", "line 1: replicate: got true in version 2.1"},
		{"omit: [everything]", "line 1: omit[0]: "},
		{"watch:\n  - {dst: 10.0.0.0/8}\n  - {dst: nowhere}", `line 3: watch[1].dst: got "nowhere", want`},
		{"watch:\n  - {dst: 10.0.0.1/8}", "line 2: "},
		{
			"watch:\n  - {}\n  - {instructions: [queue_congestion]}",
			"line 3: watch[1]: instructions: this version does not have queue_congestion",
		},
		{"mode: ioam\nioam: {option: zz}", `line 2: ioam.option: got "zz", want one of dex, incremental, preallocated`},
		{"mode: ioam\ninstructions: [node_id, egress_tx_util]", "instructions: IOAM does not have egress_tx_util"},
		{"mode: ioam\ninstructions: [egress_ts, hop_latency]", "instructions: IOAM does not have egress_ts"},
		{"mode: ioam\nwatch:\n  - {mode: md}", "line 3: watch[0]: mode: got md in a domain of mode ioam"},
		{"watch:\n  - {mode: ioam}", "line 2: watch[0]: mode: got ioam in a domain of mode md"},
		{"mode: xd\nwatch:\n  - {mode: md}", "line 3: watch[0]: mode: got md in a domain of mode xd"},
		{"version: 1.0\nwatch: [{mode: mx}]", "line 2: watch[0]: mode: only INT 2.x has mx"},
		{"drops: everything", "line 1: "},
		{"events: {flows: 3}", "line 1: events.flows: got 3, want 16 to 16777216"},
		{"events:\n  latency_quantum: 1000ns", "events: latency quantum: got 1000 ns, want a power of two, or 0"},
		{"events:\n  period: fast", `line 2: events.period: got "fast", want a duration with its unit`},
		{"events:\n  period: -1s", `line 2: events.period: got "-1s", want a duration with its unit`},
		{"drop_events: {flows: 4}", "line 1: drop_events.flows: got 4"},
		{
			"queues:\n  - {trigger: 1kB}\n  - {trigger: 1kB, reset: 2kB}",
			"line 3: queues[1]: bytes: got reset 2000, want less than trigger 1000",
		},
		{"queues: [{trigger: many}]", `line 1: queues[0].trigger: got "many", want a number of bytes`},
		{"queues: [{trigger: 9GB}]", "line 1: queues[0]: got 9GB, want less than 4 GiB"},
		{"reports: {format: 3}", `line 1: reports.format: report format: got "3"`},
		{"reports:\n  to: [nowhere]", `line 2: reports.to: got "nowhere", want ADDRESS:PORT`},
		{"reports:\n  to: [\"192.0.2.1:1\", \"192.0.2.2:2\"]", "reports: destinations: got ports"},
		{"reports:\n  source_port: many", `line 2: reports.source_port: got "many", want 0 to 65535 or entropy`},
		{"reports:\n  format: 1.0\n  coalesce: 1ms", "reports: coalescing: got 1000000 ns, want 0 in format 1.0"},
		{"reports: {mtu: 50}", "line 1: reports: mtu: got 50, want 128 to 65535"},
		{"reports: {hw_id: 64}", "line 1: reports.hw_id: got 64, want 0 to 63"},
		{"reports: {fragment: tcp}", `line 1: reports.fragment: got "tcp", want one of ethernet, ip`},
		{"reports: {format: 0.5, fragment: ip}", "line 1: reports.fragment: got ip in format 0.5, want ethernet"},
		{"reports: {ttl: 0}", "line 1: reports: frame ttl: got 0"},
		{
			"mode: mx\nreports: {format: transparent-security}",
			"line 2: reports.format: got transparent-security in mode mx, want md",
		},
		{
			"carrier: dst-port\nreports: {to: [\"192.0.2.1:17768\"]}",
			"reports: destinations: got port 17768, which announces INT",
		},
		{"nodes:\n  leaf1: {sink: there}", `line 2: nodes.leaf1.sink: got "there"`},
		{"nodes:\n  leaf1: {mode: mx}", `line 2: nodes.leaf1: unknown key "mode"; known are ds_mark,`},
		{"domain: 7\nds_metadata: {0: 0000002a}", "line 2: ds_metadata: the lengths of domain 7 are not known"},
		{
			"domain: 0x5453\nds_instruction: 0x8000\nds_metadata: {0: 0000002a}",
			`line 3: ds_metadata: bit 0: got "0000002a", want 8 bytes`,
		},
		{"domain: 0x5453\nnodes:\n  a: {ds_metadata: {0: xy}}", "line 3: nodes.a.ds_metadata: bit 0: got"},
		{"version: 1.0\nclone: true", "line 2: clone: got true in version 1.0, mode md"},
		{"mode: xd\nclone: true", "line 2: clone: got true in version 2.1, mode xd"},
		{"carrier: dscp\nleast_hops: 5", "line 2: least_hops: got 5 with carrier dscp"},
		{"carrier: geneve\nleast_hops: 14", "line 1: instructions: 14 records do not fit an option of Geneve"},
		{"version: 1.0\nds_mark: 1", "line 2: ds_mark: got 0x0001 in version 1.0"},
		{"nodes:\n  leaf1: {hw_id: 99}", "line 2: nodes.leaf1.hw_id: got 99"},
	} {
		_, err := Load([]byte(test.text))
		switch {
		case err == nil:
			t.Errorf("%q: taken, want %s", test.text, test.want)
		case !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "line "):
			t.Errorf("%q:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestLoadDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "\n\n", "mode: md\n", "~"} {
		c, err := Load([]byte(text))
		if err != nil || len(c.Watch) != 1 || len(c.Drops) != 1 || len(c.Queues) != 1 || c.Version != "2.1" {
			t.Errorf("%q: %v, %+v", text, err, c)
		}
	}
	c := load(t,
		"watch: []\ndrops: []\nqueues: []\ndrop_events: {period: 1s}\nnodes: {a: {sink: in_stack, omit: [queue], hw_id: 3, slow_path: false}}\n")
	if len(c.Watch)+len(c.Drops)+len(c.Queues) != 0 || c.DropEvents.Flows == 0 {
		t.Errorf("%+v", c)
	}
	one := c.at("a")
	if one.Sink != "in_stack" || len(one.Omit) != 1 || one.Reports.HWID != 3 || c.at("b").Sink != "in_report" {
		t.Errorf("%+v", one)
	}
}

// The example on the page of the reference is a configuration that works.
func TestReferenceExample(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(page), "```yaml\n")
	example, _, closed := strings.Cut(example, "```")
	if !found || !closed {
		t.Fatal("no example")
	}
	if _, err := New(load(t, example), testSpec(1, true, false)); err != nil {
		t.Error(err)
	}
}

func TestNewErrors(t *testing.T) {
	for want, spec := range map[string]Spec{
		"switch: got 5000 ports":  {Ports: make([]Port, 5000)},
		"switch: got 0 ports wit": {Queues: 300},
		"source: got invalid IP":  {Collectors: testSpec(1).Collectors},
	} {
		if _, err := New(DefaultConfig(), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := New(Config{}, testSpec(1)); err == nil {
		t.Error("the zero Config was taken")
	}
}

// Every key is on the page of the reference.
func TestReferenceNamesEveryKey(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/node.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`yaml:"([a-z_]+)"`).FindAllSubmatch(code, -1) {
		if !bytes.Contains(page, []byte("`"+string(m[1])+"`")) {
			t.Errorf("no %s on the page", m[1])
		}
	}
	for name := range carriers {
		if !bytes.Contains(page, []byte("| `"+string(name)+"` |")) {
			t.Errorf("no carrier %s on the page", name)
		}
	}
}

func TestMisspeltKeys(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	conftest.Misspell(t, reflect.TypeFor[Config](), []string{example, everything, entry}, func(text []byte) error {
		_, err := Load(text)
		return err
	})
}

// everything has the keys of a node but those of watchlists.
const everything = `
mode: md
version: 2.1
carrier: dscp
points: {int_dscp: 23, ds_lengths: {7: {0: 4}}}
dialect: spec
max_hops: 8
least_hops: 0
domain: 7
ds_instruction: 0x8000
ds_flags: 0
ds_metadata: {0: 0000002a}
clone: true
checksum_complement: false
checksum_update: true
new_ip: false
replicas: none
destination: []
ioam: {option: preallocated, namespace: 1}
instructions: [node_id]
edge_int: drop
sink: in_report
mtu: mark
slow_path: false
replicate: false
omit: [buffer]
initial_ttl: 64
ds_mark: 1
events: {flows: 1000, latency_quantum: 1024ns, period: 1s, idle: 30s, reset: 1s}
drop_events: {flows: 1000, latency_quantum: 0, period: 1s, idle: 30s, reset: 1s}
queues: [{port: 1, queue: 0, trigger: 64kB, reset: 32kB, trigger_latency: 20us, reset_latency: 10us, quota: 9, tail_drop: true}]
reports:
  format: 2.0
  to: ["192.0.2.1:8555"]
  hw_id: 1
  source_port: entropy
  df: true
  mtu: 1500
  truncate: 128
  coalesce: 1ms
  fragment: ethernet
  checksum: true
  dscp: 0
  ttl: 64
nodes:
  leaf1: {edge_int: accept, sink: in_stack, mtu: mark, slow_path: false, replicate: false, omit: [queue], hw_id: 3}
  leaf2: {ds_mark: 2, ds_metadata: {0: 0000002b}}
`

// entry is a watchlist with all keys.
const entry = `
watch:
  - {name: web, priority: 1, src: 10.0.0.0/8, dst: 192.0.2.7, src_port: 1-2, dst_port: 443, protocol: tcp, dscp: 1, vlan: 1, vni: 1,
     ingress_port: 1, ignore: false, instructions: [node_id], mode: md, sample: 2, sampling: hash, report_all: true}
drops:
  - {name: web, priority: 1, src: 10.0.0.0/8, dst: 192.0.2.7, src_port: 1-2, dst_port: 443, protocol: tcp, dscp: 1, vlan: 1, vni: 1,
     ingress_port: 1, ignore: false, instructions: [node_id], mode: md, sample: 2, sampling: hash, report_all: true}
`

// Whatever a file says, Load and New name what is wrong with it.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "mode: xd\nwatch:\n  - {src: 10.0.0.0/8, dst_port: 80-90, sample: 10}\n", "a: 1\n...\nb: 2\n", "0:\n...{0}",
		"nodes: {leaf1: {slow_path: true}}\nversion: 2016\ncarrier: geneve\n",
		"reports: {format: 0.5, to: [192.0.2.1:1]}",
		"points: {int_dscp: 1, ds_lengths: {21587: {0: 8}}}",
		"queues: [{port: 1, queue: 0, trigger: 10kB, reset: 1kB}]", "? : :", "&a [*a]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return
		}
		c, err := Load(text)
		if err != nil {
			return
		}
		if c.Events.Flows > 1<<12 || c.DropEvents != nil && c.DropEvents.Flows > 1<<12 {
			return // tables that take time to make
		}
		_, _ = New(c, Spec{NodeID: 1, Name: "leaf1", Ports: make([]Port, 2), Queues: 2})
	})
}
