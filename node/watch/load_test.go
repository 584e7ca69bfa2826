package watch

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/conftest"
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
	prefix := func(text string) Prefix { return Prefix{Prefix: netip.MustParsePrefix(text)} }
	return []Entry{
		{
			Name: "reports", Priority: 100, Protocol: new(Protocol(17)), DstPort: &PortRange{Low: 8555, High: 8555},
			Ignore: true,
		},
		{
			Name: "web", Priority: 10, Src: prefix("10.0.0.0/8"), Dst: prefix("192.0.2.7/32"),
			SrcPort: &PortRange{Low: 1024, High: 65535},
			DstPort: &PortRange{Low: 443, High: 443}, Protocol: new(Protocol(6)), DSCP: new(uint8(46)),
			VLAN:         new(uint16(0)),
			Instructions: NodeID | HopLatency | ChecksumComplement, Mode: ModeMD, Sample: 100, Sampling: SampleAtRandom,
			ReportAll: true,
		},
		{Dst: prefix("2001:db8::/32"), VNI: new(uint32(5000)), IngressPort: new(uint32(3)), Mode: ModeXD},
	}
}

// load reads a file that is a watchlist.
func load(text []byte) (entries []Entry, err error) {
	_, err = conf.Kind{}.Parse("", text, &entries)
	return entries, err
}

func TestLoad(t *testing.T) {
	got, err := load([]byte(example))
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
	text, err := conf.Format(entries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], entries[i]) {
			t.Errorf("entry %d:\ngot  %+v\nwant %+v\n%s", i, got[i], entries[i], text)
		}
	}
}

func TestMisspeltKeys(t *testing.T) {
	type file struct {
		Watch []Entry `yaml:"watch"`
	}
	text := "watch:\n" + strings.ReplaceAll(example, "\n", "\n  ") + "\n"
	conftest.Misspell(t, reflect.TypeFor[file](), []string{text}, func(text []byte) error {
		_, err := (conf.Kind{}).Parse("", text, new(file))
		return err
	})
}

// Every rule of a watchlist, and what a reader is told who breaks it.
func TestLoadErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"dst: 10.0.0.0/8", "line 1: got a map, want a list"},
		{
			"- vlan: 1\n- 10.0.0.0/8",
			"line 2: [1]: got a single value, want keys and values; known are dscp, dst, dst_port, ignore,",
		},
		{"- vlan: 1\n-", "line 2: [1]: the item is empty"},
		{"- vlan: 1\n  color: red", `line 2: [0]: unknown key "color"; known are dscp, dst, dst_port, ignore,`},
		{"- vlan: 1\n  vlan: 2", "line 2: [0].vlan: the key is there twice, first in line 1"},
		{"- <<: {vlan: 1}", "line 1: [0]: want a word or a number as key"},
		{"- vlan: 1\n  src:", "line 2: [0].src: got nothing, want an address or a prefix"},
		{"- vlan:", "line 1: [0].vlan: got nothing, want a value"},
		{"- dst_port:", "line 1: [0].dst_port: got nothing, want a value"},
		{"- src: [10.0.0.0/8]", "line 1: [0].src: got a list, want an address or a prefix"},
		{
			"- src: 10.0.0.0/33",
			`line 1: [0].src: got "10.0.0.0/33", want an address or a prefix, for example 10.0.0.0/8`,
		},
		{"- dst: fe80::1%eth0", `line 1: [0].dst: got "fe80::1%eth0", want an address or a prefix`},
		{"- src: 10.0.0.1/8", `line 1: [0].src: got "10.0.0.1/8", want 10.0.0.0/8, without bits behind the prefix`},
		{
			"- src: ::ffff:10.0.0.0/104",
			`line 1: [0].src: got "::ffff:10.0.0.0/104", want an IPv4 prefix in IPv4 notation`,
		},
		{"- src: 10.0.0.0/8\n  dst: ::/0", "entry 1: src, dst: got 10.0.0.0/8 and ::/0; want both IPv4 or both IPv6"},
		{"- src_port: 65536", `line 1: [0].src_port: got "65536", want a number from 0 to 65535 or a range of them`},
		{"- dst_port: 1-2-3", `line 1: [0].dst_port: got "1-2-3", want a number from 0 to 65535 or a range of them`},
		{"- name: web\n  src_port: 9-8", `line 2: [0].src_port: got "9-8", want the lower end of a range first`},
		{
			"- protocol: quic",
			`line 1: [0].protocol: got "quic", want the name or number of an IP protocol, for example tcp or 6`,
		},
		{"- protocol: 256", `line 1: [0].protocol: got "256", want the name or number`},
		{"- dscp: 64", "entry 1: dscp: got 64; want 0 to 63"},
		{"- vlan: 4095", "entry 1: vlan: got 4095; want 0 to 4094"},
		{"- vni: 0x100000000", `line 1: [0].vni: got "0x100000000", want a whole number from 0 to 4294967295`},
		{"- ingress_port: 1.5", `line 1: [0].ingress_port: got "1.5", want a whole number`},
		{"- priority: high", `line 1: [0].priority: got "high", want a whole number`},
		{"- sample: -1", `line 1: [0].sample: got "-1", want a whole number`},
		{"- sampling: often", `line 1: [0].sampling: got "often", want one of hash, random`},
		{"- mode: hop-by-hop", `line 1: [0].mode: got "hop-by-hop", want one of default, md, mx, xd`},
		{"- report_all: yes", `line 1: [0].report_all: got "yes", want true or false`},
		{
			"- instructions: node_id",
			"line 1: [0].instructions: want a list of names, for example [node_id, hop_latency]",
		},
		{
			"- instructions: [node_id, color]",
			`line 1: [0].instructions[1]: got "color", want one of node_id, l1_interfaces,`,
		},
		{"- instructions: [node_id, node_id]", "line 1: [0].instructions[1]: got node_id twice"},
		{
			"- name: a\n  ignore: true\n  mode: md",
			"entry 1 (a): ignore: got what to do with the packets too; want one of both",
		},
		{"- dscp: 64\n- vlan: 4095", "entry 1: dscp: got 64; want 0 to 63\nentry 2: vlan: got 4095; want 0 to 4094"},
	} {
		entries, err := load([]byte(tc.text))
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
