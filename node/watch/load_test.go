package watch

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const example = `
# Two tenants, and no INT for what sends the reports.
- name: reports
  priority: 100
  protocol: udp
  dst_port: 8555
  ignore: true
- name: web
  priority: 10
  src: 10.0.0.0/8
  dst: 192.0.2.7
  src_port: 1024-65535
  dst_port: 443
  protocol: 6
  dscp: 0x2e
  vlan: 0
  instructions: [node_id, hop_latency, checksum_complement]
  mode: md
  sample: 100
  sampling: random
  report_all: true
- {dst: "2001:db8::/32", vni: 5000, ingress_port: 3, mode: xd}
`

func exampleEntries() []Entry {
	prefix := func(text string) Prefix { return Prefix{netip.MustParsePrefix(text)} }
	return []Entry{
		{Name: "reports", Priority: 100, Protocol: new(Protocol(17)), DstPort: &PortRange{8555, 8555}, Ignore: true, line: 3},
		{
			Name: "web", Priority: 10, Src: prefix("10.0.0.0/8"), Dst: prefix("192.0.2.7/32"), SrcPort: &PortRange{1024, 65535},
			DstPort: &PortRange{443, 443}, Protocol: new(Protocol(6)), DSCP: new(uint8(46)), VLAN: new(uint16(0)),
			Instructions: NodeID | HopLatency | ChecksumComplement, Mode: ModeMD, Sample: 100, Sampling: SampleAtRandom,
			ReportAll: true, line: 8,
		},
		{Dst: prefix("2001:db8::/32"), VNI: new(uint32(5000)), IngressPort: new(uint32(3)), Mode: ModeXD, line: 22},
	}
}

func TestLoad(t *testing.T) {
	got, err := Load([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if want := exampleEntries(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := Compile(got); err != nil {
		t.Error(err)
	}
}

func TestLoadWhatMarshalWrites(t *testing.T) {
	entries := append(exampleEntries(), generate(5, 50, 1)...)
	text, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range got {
		got[i].line, entries[i].line = 0, 0
		if !reflect.DeepEqual(got[i], entries[i]) {
			t.Errorf("entry %d:\ngot  %+v\nwant %+v\n%s", i, got[i], entries[i], text)
		}
	}
}

func TestLoadInsideOfAConfiguration(t *testing.T) {
	var c struct {
		Flow []Entry `yaml:"flow_watchlist"`
		Drop []Entry `yaml:"drop_watchlist"`
	}
	text := "flow_watchlist:\n  - dst: 10.0.0.0/8\ndrop_watchlist:\n  - vlan: 7\n"
	if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if len(c.Flow) != 1 || len(c.Drop) != 1 || *c.Drop[0].VLAN != 7 || c.Drop[0].line != 4 {
		t.Errorf("got %+v", c)
	}
	text = "flow_watchlist:\n  - dst: 10.0.0.0/8\n  - dst: 10.0.0.0/8\n    vlan: x\n"
	err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict())
	if want := `line 4: vlan: got "x"; want a number from 0 to 4094`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Every rule of a watchlist, and what a reader is told who breaks it.
func TestLoadErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "line 1: want a list of entries"},
		{"dst: 10.0.0.0/8", "line 1: want a list of entries"},
		{"[", "line 1: sequence end token ']' not found"},
		{"- dst: 10.0.0.0/8\n\tvlan: 4", "line 2: found character '\t' that cannot start any token"},
		{"- vlan: 1\n---\n- vlan: 2", "line 1: got 2 YAML documents; want one"},
		{"- vlan: 1\n- 10.0.0.0/8", "line 2: want an entry, for example \"dst: 10.0.0.0/8\""},
		{"- vlan: 1\n-", "line 2: want an entry"},
		{"- vlan: 1\n  color: red", `line 2: unknown key "color"; known are dscp, dst, dst_port, ignore,`},
		{"- vlan: 1\n  vlan: 2", `line 2: mapping key "vlan" already defined`},
		{"- <<: {vlan: 1}", `line 1: unknown key "<<"`},
		{"- &a\n  vlan: 1", "line 1: want an entry"},
		{"- src: &a 10.0.0.0/8\n  dst: *a", "line 1: src: want a single value"},
		{"- vlan: 1\n  src:", "line 2: src: want a single value"},
		{"- src: [10.0.0.0/8]", "line 1: src: want a single value"},
		{"- src: 10.0.0.0/33", `line 1: src: got "10.0.0.0/33"; want a prefix or an address, for example 10.0.0.0/8`},
		{"- dst: fe80::1%eth0", `line 1: dst: got "fe80::1%eth0"; want a prefix`},
		{"- src: 10.0.0.1/8", "line 1: entry 1: src: got 10.0.0.1/8, which has bits behind the prefix; want 10.0.0.0/8"},
		{"- dst: 2001:db8::1/32", "line 1: entry 1: dst: got 2001:db8::1/32, which has bits behind the prefix; want 2001:db8::/32"},
		{"- src: ::ffff:10.0.0.0/104", "line 1: entry 1: src, dst: got an IPv4 prefix in IPv6 notation"},
		{"- dst: ::ffff:10.0.0.1", "line 1: entry 1: src, dst: got an IPv4 prefix in IPv6 notation"},
		{"- src: 10.0.0.0/8\n  dst: ::/0", "line 1: entry 1: src, dst: got 10.0.0.0/8 and ::/0; want both IPv4 or both IPv6"},
		{"- src_port: 65536", `line 1: src_port: got "65536"; want a port or a range of ports, for example 443 or 8000-8999`},
		{"- dst_port: 1-2-3", `line 1: dst_port: got "1-2-3"; want a port or a range of ports`},
		{"- dst_port: -1", `line 1: dst_port: got "-1"; want a port or a range of ports`},
		{"- name: web\n  src_port: 9-8", "line 1: entry 1 (web): src_port: got 9-8; want the lower port first"},
		{"- dst_port: 9-8", "line 1: entry 1: dst_port: got 9-8; want the lower port first"},
		{"- protocol: quic", `line 1: protocol: got "quic"; want the name or number of an IP protocol, for example tcp or 6`},
		{"- protocol: 256", `line 1: protocol: got "256"; want the name or number`},
		{"- dscp: 64", `line 1: dscp: got "64"; want a number from 0 to 63`},
		{"- vlan: 4095", `line 1: vlan: got "4095"; want a number from 0 to 4094`},
		{"- vni: 0x100000000", `line 1: vni: got "0x100000000"; want a number from 0 to 4294967295`},
		{"- ingress_port: 1.5", `line 1: ingress_port: got "1.5"; want a number`},
		{"- priority: high", `line 1: priority: got "high"; want a whole number of 32 bits`},
		{"- sample: -1", `line 1: sample: got "-1"; want a number`},
		{"- sampling: often", `line 1: sampling: got "often"; want one of hash, random`},
		{"- mode: hop-by-hop", `line 1: mode: got "hop-by-hop"; want one of default, md, mx, xd`},
		{"- report_all: yes", `line 1: report_all: got "yes"; want true or false`},
		{"- instructions: node_id", "line 1: instructions: want a list of names, for example [node_id, hop_latency]"},
		{"- instructions: [node_id, color]", `line 1: instructions: got "color"; want one of node_id, l1_interfaces,`},
		{"- instructions: [node_id, node_id]", "line 1: instructions: got node_id twice"},
		{"- ignore: true\n  mode: md", "line 1: entry 1: ignore: got what to do with the packets too; want one of both"},
		{"- vlan: 1\n- src_port: 2-1\n\n- dst_port: 2-1", "line 2: entry 2: src_port: got 2-1; want the lower port first\n" +
			"line 4: entry 3: dst_port: got 2-1; want the lower port first"},
	} {
		entries, err := Load([]byte(tc.text))
		if err == nil {
			_, err = Compile(entries)
		}
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", tc.text, err, tc.want)
		}
	}
}

// What cannot come from a file.
func TestCompileErrors(t *testing.T) {
	for _, tc := range []struct {
		entry Entry
		want  string
	}{
		{Entry{DSCP: new(uint8(64))}, "entry 1: dscp: got 64; want 0 to 63"},
		{Entry{VLAN: new(uint16(4095))}, "entry 1: vlan: got 4095; want 0 to 4094"},
		{Entry{Instructions: 1 << 15}, "entry 1: instructions: got unknown bits 0x8000"},
		{Entry{Mode: 9}, "entry 1: mode: got unknown number 9"},
		{Entry{Sampling: 9}, "entry 1: sampling: got unknown number 9"},
	} {
		if _, err := Compile([]Entry{tc.entry}); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}
