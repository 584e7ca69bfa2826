package scenario

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf/conftest"
)

const small = `duration: 10s
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts: 4}
`

func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("dir/small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaults(t *testing.T) {
	s := parse(t, small)
	if s.Name != "small" || s.Duration != 10e9 || s.Seed != 1 || s.Switch.TTL != 64 || s.Truth.BurstBelow != 15e3 ||
		s.INT.Text != nil {
		t.Errorf("got %+v", s)
	}
	if l := s.Graph.Links[0]; l.Rate != 1e9 || l.Delay != 1000 || l.MTU != 9000 {
		t.Errorf("link between switches: %+v", l)
	}
	if l := s.Graph.Links[4]; l.MTU != 1500 || l.Between != [2]string{"leaf1", "h1"} {
		t.Errorf("link of a host: %+v", l)
	}
}

const everything = `
name: all keys
duration: 1m30s
seed: 0xff
start: 2025-06-01T12:00:00Z
topology:
  graph:
    switches:
      - {name: gw, role: gateway}
      - {name: core}
    links:
      - {between: [gw, core], rate: 2.5G, delay: 1.5ms, mtu: 9kB}
    hosts:
      - {name: cam, at: gw, address: 192.0.2.1, address6: "2001:db8::1", mac: "a6:1a:f6:b1:64:7d", link: {rate: 64k}}
      - {name: srv, at: core}
switch:
  latency: 1us
  buffer: 2MiB
  alpha: 0.5
  ttl: 32
  queues:
    - {dscp: [46], strict: true}
    - {weight: 3}
nodes:
  - {name: core, latency: 5us, buffer: 64KB, alpha: 2, without_int: true, clock: {offset: -3ms, drift: -20}}
host: {queue: 10MB, tcp_window: 64kB, min_rto: 1ms}
clocks: {offset: 1us, drift: 5}
routing: {reconvergence: 20ms}
reports: {delay: 2ms}
traffic:
  - poisson: {load: 5%, sizes: data_mining, max_size: 10MB, from: [cam], to: [srv]}
    start: 1s
    stop: 20s
    transport: udp
    rate: 10M
    packet: 1400
    port: 80
    ip: mixed
    dscp: 10
    tunnel: vxlan
    vni: 77
  - incast: {senders: [cam], to: srv, bytes: 64kB, every: 100ms, jitter: 10us}
  - all_reduce: {hosts: [cam, srv], bytes: 1MB, every: 1s}
  - constant: {from: cam, to: srv, bytes: 5}
faults:
  - {at: 1s, for: 1s, every: 5s, link_down: {link: [core, gw]}}
  - gray_link: {link: [gw, cam], drop: 0.5%}
  - blackhole: {node: core, prefix: 192.0.2.1, silent: true}
  - loop: {nodes: [gw, core], prefix: "2001:db8::/32"}
  - polarisation: {}
  - slow_switch: {node: gw, extra: 1ms}
  - buffer: {node: gw, alpha: 0.25}
  - no_int: {node: gw}
  - clock: {node: gw, offset: 1s, drift: 100}
  - report_loss: {nodes: [gw], every: 7}
  - report_loss: {drop: 0.01}
  - ddos: {from: [cam], to: srv, rate: 1M}
  - mitigate: {node: gw, from: [192.0.2.0/24], to: [10.0.0.0/8], protocol: udp, port: 53}
truth: {sample_packets: 1, burst_above: 10kB, burst_below: 1kB}
int:
  mode: md  # comment

  watch: [1]
`

func TestEverything(t *testing.T) {
	s := parse(t, everything)
	if s.Start != 1748779200e9 || s.Seed != 255 || len(s.Graph.Links) != 3 || s.Graph.Links[0].Rate != 2.5e9 ||
		s.Graph.Links[0].MTU != 9000 {
		t.Errorf("got %+v", s)
	}
	if h := s.Graph.Hosts[0]; h.Address.Addr != netip.MustParseAddr("192.0.2.1") || h.MAC[0] != 0xa6 ||
		s.Graph.Links[1].Rate != 64000 {
		t.Errorf("host: %+v", h)
	}
	if n := s.Nodes[0]; *n.Buffer != 64000 || n.Clock.Offset != -3e6 || n.Clock.Drift != -20 {
		t.Errorf("node: %+v", n)
	}
	if d := s.Traffic[0]; d.Poisson.Load != 0.05 || d.Tunnel != "vxlan" || d.Stop != 20e9 {
		t.Errorf("traffic: %+v", d)
	}
	if d := s.Traffic[3]; d.Transport != "udp" || d.Port != 5001 || d.IP != "4" || d.Stop != 90e9 {
		t.Errorf("traffic: %+v", d)
	}
	kinds := []string{}
	for i := range s.Faults {
		kinds = append(kinds, s.Faults[i].Kind())
	}
	want := strings.Fields(
		"link_down gray_link blackhole loop polarisation slow_switch buffer no_int clock report_loss report_loss ddos mitigate")
	if !slices.Equal(kinds, want) {
		t.Errorf("faults: got %v, want %v", kinds, want)
	}
	if s.Faults[2].Blackhole.Prefix.Prefix != netip.MustParsePrefix("192.0.2.1/32") {
		t.Errorf("prefix: %v", s.Faults[2].Blackhole.Prefix)
	}
	if d := s.Faults[11].DDoS; d.Port != 53 || d.Packet != 1000 || d.IP != "4" {
		t.Errorf("ddos: %+v", d)
	}
}

// The text of the part for devices stands where it stood in the file.
func TestRaw(t *testing.T) {
	for text, want := range map[string]string{
		small + "int:\n  mode: md # c\n\n  n: 1\n":              "\n\n\n    \n  mode: md # c\n\n  n: 1\n",
		small + "int: {mode: md,\n  n: 1}\ntruth: {}\n":         "\n\n\n     {mode: md,\n  n: 1}\n",
		"# c\nint:\n  mode: md\n# d\n" + small:                  "\n    \n  mode: md\n# d\n",
		strings.Replace(small, "duration", "int:\nduration", 1): "    \n",
	} {
		if got := parse(t, text).INT.Text; !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
}

func TestTopologies(t *testing.T) {
	for _, test := range []struct {
		topology               string
		switches, links, hosts int
	}{
		{"leaf_spine: {leaves: 8, spines: 4, hosts: 8}", 12, 8*4 + 64, 64},
		{"fat_tree: {k: 4}", 20, 16 + 16 + 16, 16},
		{"fat_tree: {k: 2}", 5, 2 + 2 + 2, 2},
		{"ring: {nodes: 5, hosts: 2}", 5, 5 + 10, 10},
	} {
		g := parse(t, "duration: 1s\ntopology:\n  "+test.topology+"\n").Graph
		if len(g.Switches) != test.switches || len(g.Links) != test.links || len(g.Hosts) != test.hosts {
			t.Errorf("%s: %d switches, %d links, %d hosts", test.topology, len(g.Switches), len(g.Links), len(g.Hosts))
		}
		ports := map[string]int{}
		for _, l := range g.Links {
			ports[l.Between[0]]++
			ports[l.Between[1]]++
		}
		for _, s := range g.Switches {
			if strings.HasPrefix(s.Name, "pod") && ports[s.Name] != ports["core1"] {
				t.Errorf("%s: %s has %d ports", test.topology, s.Name, ports[s.Name])
			}
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	if _, err := Load("no/such.yaml"); err == nil || !strings.Contains(err.Error(), "no/such.yaml") {
		t.Errorf("got %v", err)
	}
}

// Nothing in a file makes Parse panic, and every error says where it is.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, bad := range bad {
		f.Add([]byte(bad.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Parse("f.yaml", text); err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%q: no place in %q", text, err)
		}
	})
}

func TestMisspeltKeys(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	const link = "{rate: 1G, delay: 1us, mtu: 1500}"
	const shape = "duration: 10s\ntopology:\n  "
	documents := []string{
		everything,
		small + "faults:\n  - buffer: {node: leaf1, buffer: 2kB}\n  - ddos: {from: [h2], to: h1, rate: 1M, ip: 4}\n" +
			"  - ddos: {from: [h2], to: h1, rate: 1M, send: syn, spoof: true}\n",
		shape + "ring: {nodes: 3, hosts: 1, ring_link: " + link + ", host_link: " + link + "}\n",
		shape + "leaf_spine: {leaves: 1, spines: 1, hosts: 1, fabric_link: " + link + ", host_link: " + link + "}\n",
		shape + "fat_tree: {k: 2, fabric_link: " + link + ", host_link: " + link + "}\n",
		shape + "graph: {switches: [{name: a}], hosts: [{name: b, at: a, link: " + link + "}]}\n",
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(text))
	}
	conftest.Misspell(t, reflect.TypeFor[Scenario](), documents, func(text []byte) error {
		_, err := Parse("x.yaml", text)
		return err
	})
}
