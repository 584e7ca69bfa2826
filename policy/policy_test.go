package policy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/conftest"
	"github.com/waybill-int/waybill/telemetry"
)

// hops returns the hops at nodes; "?" is one that does not tell its node, and "7:1>2" has ports.
func hops(t *testing.T, text string) (list []telemetry.Hop) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		var h telemetry.Hop
		name, ports, _ := strings.Cut(word, ":")
		if name != "?" {
			h.Has = telemetry.HasNode
			if _, err := fmt.Sscan(name, &h.NodeID); err != nil {
				t.Fatal(err)
			}
		}
		if ports != "" {
			h.Has |= telemetry.HasIngressPort | telemetry.HasEgressPort
			if _, err := fmt.Sscanf(ports, "%d>%d", &h.IngressPort, &h.EgressPort); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, h)
	}
	return list
}

// spell writes breaches as "waypoint_missed 4".
func spell(p *Policy, breaches []telemetry.Breach) string {
	var words []string
	for _, b := range breaches {
		word := b.Kind.String()
		if b.Kind == telemetry.EventPathNotAllowed {
			word = [...]string{"off", "avoid", "long"}[b.Why]
		}
		if b.NoNode {
			word += " ?"
		} else {
			word += fmt.Sprint(" ", b.Node)
		}
		if b.HasPort {
			word += fmt.Sprint(":", b.Port)
		}
		if b.Rule != telemetry.NoRule {
			word += " " + p.RuleName(b.Rule)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func load(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var web = telemetry.FlowKey{
	Src: telemetry.AddrFrom(netip.MustParseAddr("10.0.1.1")), Dst: telemetry.AddrFrom(netip.MustParseAddr("10.0.2.2")),
	SrcPort: 40000, DstPort: 443, Protocol: 6,
}

func TestJudge(t *testing.T) {
	const nodes = `
nodes:
  - {id: 1, name: leaf1, ports: [1-4, 49]}
  - {id: 2, name: leaf2}
  - {id: 3, name: spine1}
  - {id: 4, name: fw}
  - {id: 5, name: spine2}
`
	for _, c := range []struct{ rule, path, want string }{
		{"", "1 3 2", ""},
		{"", "1:4>49 3:9>9 2", ""},
		{"", "1:5>50 3 2", "unexpected_node 1:5, unexpected_node 1:50"},
		{"", "1 7 2", "unexpected_node 7"},
		{"", "1 ? 2", ""},

		{"waypoints: [fw]", "1 4 2", ""},
		{"waypoints: [fw]", "1 3 2", "waypoint_missed 4 it"},
		{"waypoints: [fw]", "1 ? 2", ""},
		{"waypoints: [fw]", "1 3 2 ...", ""},
		{"waypoints: [4, spine1]", "1 4 3 2", ""},
		{"waypoints: [4, spine1]", "1 3 4 2", "waypoint_missed 3 it"},
		{"waypoints: [4, spine1], any_order: true", "1 3 4 2", ""},
		{"waypoints: [4, spine1], any_order: true", "1 3 2", "waypoint_missed 4 it"},
		{"waypoints: [[4, 5], spine1]", "1 5 3 2", ""},
		{"waypoints: [[4, 5], spine1]", "1 3 2", "waypoint_missed 4 it"},

		{"avoid: [spine1, fw]", "1 5 2", ""},
		{"avoid: [spine1, fw]", "1 3 4 2", "avoid 3 it, avoid 4 it"},
		{"avoid: spine1", "1 3 2 ...", "avoid 3 it"},
		{"max_hops: 3", "1 3 2", ""},
		{"max_hops: 2", "1 3 2", "long 2 it"},
		{"max_hops: 2", "1 3 ?", "long ? it"},

		{"paths: [[leaf1, spine1, leaf2]]", "1 3 2", ""},
		{"paths: [[leaf1, spine1, leaf2]]", "1 5 2", "off 5 it"},
		{"paths: [[leaf1, spine1, leaf2]]", "1 3", "off 3 it"},
		{"paths: [[leaf1, spine1, leaf2]]", "1 3 ...", ""},
		{"paths: [[leaf1, spine1, leaf2]]", "1 3 2 4", "off 4 it"},
		{"paths: [[leaf1, spine1, leaf2]]", "1 ? 2", ""},
		{"paths: [[leaf1, [3, 5], leaf2]]", "1 5 2", ""},
		{"paths: [[leaf1, 3, 2], [leaf1, 5, 4, 2]]", "1 5 2", "off 2 it"},
		{"paths: [[leaf1, '*', leaf2]]", "1 2", ""},
		{"paths: [[leaf1, '*', leaf2]]", "1 3 4 5 2", ""},
		{"paths: [[leaf1, '*', leaf2]]", "3 4 2", "off 3 it"},
		{"paths: [[leaf1, '*', leaf2]]", "1 3 4", "off 4 it"},
		{"paths: [['*', fw, '*', fw, '*']]", "1 4 3 4 2", ""},
		{"paths: [['*', fw, '*', fw, '*']]", "1 4 3 2", "off 2 it"},
		{"paths: [['*']]", "1", ""},

		{"src: 10.0.1.0/24, dst: [10.9.0.0/16, 10.0.2.2], max_hops: 1", "1 2", "long 2 it"},
		{"src: 10.0.2.0/24, max_hops: 1", "1 2", ""},
		{"dst: 10.0.1.0/24, max_hops: 1", "1 2", ""},
		{"dst: '::/0', max_hops: 1", "1 2", ""},
		{"protocol: tcp, dst_port: [80, 400-500], src_port: 40000, max_hops: 1", "1 2", "long 2 it"},
		{"protocol: [udp, 1], max_hops: 1", "1 2", ""},
		{"dst_port: 80, max_hops: 1", "1 2", ""},
		{"src_port: 443, max_hops: 1", "1 2", ""},
		{"dscp: 10-12, max_hops: 1", "1 2", "long 2 it"},
		{"dscp: 0, max_hops: 1", "1 2", ""},
		{"tunnel: none, max_hops: 1", "1 2", "long 2 it"},
		{"tunnel: vxlan, max_hops: 1", "1 2", ""},
		{"tunnel_id: 0, max_hops: 1", "1 2", ""},
	} {
		text := nodes
		if c.rule != "" {
			text += "rules:\n  - {name: it, " + c.rule +
				"}\n  - {name: never, protocol: tcp, tunnel: vxlan, tunnel_id: 7, max_hops: 1}\n"
		}
		p := load(t, text)
		path, open := strings.CutSuffix(c.path, "...")
		if got := spell(p, p.Judge(&web, 11, hops(t, path), !open, nil)); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.rule, c.path, got, c.want)
		}
	}
}

// The first rule that matches decides, and a tunnel is matched by its kind and id.
func TestFirstMatchWins(t *testing.T) {
	p := load(t,
		"rules:\n  - {tunnel: vxlan, tunnel_id: 5001-5009, avoid: 9}\n  - {dst: 10.0.2.0/24, max_hops: 3}\n  - {max_hops: 1}\n")
	inVXLAN := web
	inVXLAN.Tunnel, inVXLAN.TunnelID = telemetry.TunnelVXLAN, 5009
	other := web
	other.Dst = web.Src
	for _, c := range []struct {
		key  telemetry.FlowKey
		want string
	}{{web, ""}, {inVXLAN, "avoid 9 rule 1"}, {other, "long 9 rule 3"}} {
		if got := spell(p, p.Judge(&c.key, 0, hops(t, "1 9"), true, nil)); got != c.want {
			t.Errorf("%s: got %q, want %q", &c.key, got, c.want)
		}
	}
}

func TestHiddenNodes(t *testing.T) {
	departure, arrival, none := load(t, "initial_ttls: [128, 64]\n"), load(t, "initial_ttls: 64\nsink_ttl: arrival\n"),
		load(t, "rules: [{avoid: 1}]\n")
	for _, c := range []struct {
		p    *Policy
		ttl  uint8
		hops int
		want int
	}{
		{departure, 61, 3, 0},
		{departure, 60, 3, 1},
		{departure, 62, 3, 0}, // a node that does not route
		{departure, 123, 3, 2},
		{departure, 200, 3, 0}, // nobody begins like that
		{departure, 7, 3, 0},   // traceroute
		{departure, 32, 3, 29},
		{departure, 31, 3, 0},
		{arrival, 62, 3, 0},
		{arrival, 61, 3, 1},
		{none, 10, 3, 0},
	} {
		if got := c.p.HiddenNodes(c.ttl, c.hops); got != c.want {
			t.Errorf("TTL %d, %d hops: got %d, want %d", c.ttl, c.hops, got, c.want)
		}
	}
}

// Each bad file is refused with the line and the reason.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "line 1: the file is empty, want nodes or rules",
		"# nothing\n":                      "line 1: the file is empty, want nodes or rules",
		"nodes: 7\n":                       "line 1: nodes: got a single value, want keys and values; known are id, name, ports",
		"nodes:\n  - {name: a}\n":          "line 2: nodes[0]: want one id",
		"nodes: []\n":                      "line 1: nodes: the list is empty",
		"nodes: [{id: 1}, {id: 1}]\n":      "line 1: nodes[1]: node 1 is there twice",
		"nodes: [{id: 4294967296}]\n":      `line 1: nodes[0].id: got "4294967296", want a whole number from 0 to 4294967295`,
		"nodes: [{id: 1, name: 1a}]\n":     `line 1: nodes[0].name: got "1a", want a letter, then letters, digits, '_', '.' and '-'`,
		"nodes: [{id: 1, ports: [9-3]}]\n": `line 1: nodes[0].ports[0]: got "9-3", want the lower end of a range first`,
		"nodes: [{id: 1, name: a}, {id: 2, name: a}]\n": `line 1: nodes[1]: name "a" is there twice`,
		"rulez: []\n":                                      `line 1: unknown key "rulez"; did you mean rules?`,
		"rules:\n  - avoid: [spine9]\n":                    `line 2: rules[0].avoid[0]: got "spine9", which is no name under nodes and no number`,
		"nodes: [{id: 1}]\nrules:\n  - avoid: [2]\n":       "line 3: rules[0].avoid[0]: node 2 is not under nodes",
		"rules:\n  - {}\n  - {name: a, src: 10.0.0.1/8}\n": `line 3: rules[1].src: got "10.0.0.1/8", want 10.0.0.0/8, without bits behind the prefix`,
		"rules: [{dst: nowhere}]\n":                        `line 1: rules[0].dst: got "nowhere", want an address or a prefix, for example 10.0.0.0/8`,
		"rules: [{dst: '::ffff:10.0.0.0/104'}]\n":          `line 1: rules[0].dst: got "::ffff:10.0.0.0/104", want an IPv4 prefix in IPv4 notation`,
		"rules: [{protocol: tpc}]\n":                       `line 1: rules[0].protocol: got "tpc", want tcp, udp, another protocol or its number`,
		"rules: [{dscp: 64}]\n":                            `line 1: rules[0].dscp: got 64, want numbers from 0 to 63`,
		"rules: [{tunnel: mpls}]\n":                        `line 1: rules[0].tunnel: got "mpls", want none, vxlan, vxlan-gpe, geneve, gre or ip`,
		"rules: [{paths: ['*']}]\n":                        "line 1: rules[0].paths[0]: want a list",
		"rules: [{paths: 7}]\n":                            "line 1: rules[0].paths: want a list",
		"rules: [{waypoints: ['*']}]\n":                    `line 1: rules[0].waypoints[0]: got "*", which is no name under nodes and no number`,
		"rules: [{max_hops: 0}]\n":                         "line 1: rules[0].max_hops: want 1 to 255",
		"rules: [{any_order: maybe}]\n":                    `line 1: rules[0].any_order: got "maybe", want true or false`,
		"rules: [{name: a}, {name: a}]\n":                  `line 1: rules[1]: name "a" is there twice`,
		"initial_ttls: [0]\n":                              "line 1: initial_ttls: got 0, want 1 to 255",
		"sink_ttl: never\n":                                `line 1: sink_ttl: got "never", want arrival or departure`,
		"rules: [{avoid: 1}]\n---\nrules: []\n":            "line 3: a second YAML document, want one",
		"rules: [{avoid: &a 1}]\n":                         "line 1: rules[0].avoid: want a plain value, without tags, anchors and aliases",
		"rules: [\n":                                       "line 2: did not find expected node content",
		"rules:\n  - {avoid: 1,\n     avoid: 2}\n":         "line 3: rules[0].avoid: the key is there twice, first in line 2",
		"rules: [{avoid: }]\n":                             `line 1: rules[0].avoid[0]: got "", which is no name under nodes and no number`,
		"rules: [{name: [a]}]\nsink_ttl: x\n":              "line 1: rules[0].name: got a list, want a text",
	} {
		_, err := Load([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestJudgeNoAllocs(t *testing.T) {
	p := load(t, `
nodes: [{id: 1, ports: 1-9}, {id: 2}, {id: 3}, {id: 9}]
rules:
  - {src: "2001:db8::/32", max_hops: 1}
  - {dst: 10.0.2.0/24, waypoints: [[3, 1], 9], any_order: true, paths: [[1, "*", 2]]}
`)
	path := hops(t, "1:1>2 7 3")
	var breaches []telemetry.Breach
	breaches = p.Judge(&web, 0, path, true, breaches)
	if len(breaches) != 3 {
		t.Errorf("got %s", spell(p, breaches))
	}
	if n := testing.AllocsPerRun(100, func() { breaches = p.Judge(&web, 0, path, true, breaches[:0]) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// The example of the reference page is one.
func TestPolicyPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if p := load(t, example); p.Nodes() < 3 || p.Rules() < 3 {
		t.Errorf("got %d nodes and %d rules", p.Nodes(), p.Rules())
	}
	for _, key := range conftest.Keys(reflect.TypeFor[file]()) {
		if name := key.Path[strings.LastIndex(key.Path, ".")+1:]; name != "rules" &&
			!strings.Contains(rest, "`"+name+"`") {
			t.Errorf("no row for %s", key.Path)
		}
	}
}

func TestMisspeltKeys(t *testing.T) {
	conftest.Misspell(t, reflect.TypeFor[file](), []string{`
nodes:
  - {id: 1, name: a, ports: [1-4, 49]}
rules:
  - name: web
    src: 10.0.0.0/8
    dst: [10.1.0.0/16, 192.0.2.1]
    src_port: 1024-65535
    dst_port: 443
    protocol: [tcp, 17]
    dscp: 46
    tunnel: vxlan
    tunnel_id: 5000-5009
    waypoints: [a]
    any_order: true
    avoid: [a]
    paths: [[a, "*"]]
    max_hops: 3
initial_ttls: [64, 128]
sink_ttl: arrival
`}, func(text []byte) error {
		_, err := Load(text)
		return err
	})
}

// JSON is YAML, and means the same.
func TestJSON(t *testing.T) {
	const text = "nodes: [{id: 1, name: a}, {id: 2}]\nrules: [{name: x, dst_port: 443, avoid: [a]}]\n"
	var v map[string]any
	if _, err := (conf.Kind{}).Parse("", []byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	p := load(t, string(b))
	if got := spell(p, p.Judge(&web, 0, hops(t, "2 1"), true, nil)); got != "avoid 1 x" {
		t.Errorf("%s: got %q", b, got)
	}
}

// Whatever a file holds, it is refused with a line that it has, or judges without a panic.
func FuzzPolicy(f *testing.F) {
	f.Add("nodes: [{id: 1, name: a, ports: [1-3]}]\nrules: [{name: x, src: 10.0.0.0/8, paths: [[a, '*']], waypoints: [[a, 1]], max_hops: 3}]\n")
	f.Add("initial_ttls: [64]\nsink_ttl: arrival\nrules:\n  - {tunnel: vxlan, tunnel_id: 7, dscp: 1-3, avoid: 0x3eb}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Load([]byte(text))
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				var n int
				if !strings.HasPrefix(line, "line ") {
					continue // of a name with a line end in it, or "and 3 more"
				}
				if _, err := fmt.Sscanf(line, "line %d: ", &n); n < 1 ||
					n > strings.Count(text, "\n")+strings.Count(text, "\r")+1 {
					t.Errorf("%q: %q: %v", text, line, err)
				}
			}
			return
		}
		path := hops(t, "1:1>2 ? 2 3 1 1")
		for n := range path {
			for _, b := range p.Judge(&web, 3, path[:n], n%2 == 0, nil) {
				if b.Rule != telemetry.NoRule && p.RuleName(b.Rule) == "" {
					t.Errorf("%q: a breach of no rule: %+v", text, b)
				}
			}
		}
		p.HiddenNodes(60, 2)
	})
}
