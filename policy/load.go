package policy

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// Bounds of a file: each rule that does not match costs a new flow some ns.
const (
	maxRules = 1024
	maxNodes = 1 << 16
	maxHops  = 255
	maxDSCP  = 63
)

// A file is a policy file.
type file struct {
	Nodes       *conf.List[node] `yaml:"nodes"` // all others are unexpected; nil: none is
	Rules       conf.List[rule]  `yaml:"rules"`
	InitialTTLs conf.List[uint8] `yaml:"initial_ttls"`
	SinkTTL     string           `yaml:"sink_ttl"`
}

// Load reads a policy file, YAML or JSON. The error tells all that is wrong, with its line.
func Load(text []byte) (*Policy, error) {
	var f file
	document, err := conf.Kind{Limit: 4 << 20, Want: "nodes or rules"}.Parse("", text, &f)
	if err != nil {
		return nil, err
	}
	r := reader{Document: document, policy: &Policy{rules: f.Rules}, names: map[string]uint32{}}
	if f.Nodes != nil {
		r.nodes(*f.Nodes)
	}
	r.rules()
	r.ttls(&f)
	return r.policy, r.Err()
}

// A reader checks a policy file, and looks the names of nodes up.
type reader struct {
	*conf.Document
	policy *Policy
	names  map[string]uint32 // of nodes
}

// nodeName is what names look like: not like numbers and wildcards.
var nodeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func (r *reader) nodes(nodes []node) {
	r.policy.closed, r.policy.nodes = true, map[uint32]*node{}
	if len(nodes) > maxNodes {
		r.Say("nodes", "got %d, want at most %d", len(nodes), maxNodes)
	}
	for i := range nodes[:min(len(nodes), maxNodes)] {
		n, at := &nodes[i], fmt.Sprintf("nodes[%d]", i)
		if n.ID == nil {
			r.Say(at, "want one id")
			continue
		}
		if r.policy.nodes[*n.ID] != nil {
			r.Say(at, "node %d is there twice", *n.ID)
		}
		r.policy.nodes[*n.ID] = n
		if n.Name == "" {
			continue
		}
		if !nodeName.MatchString(n.Name) {
			r.Say(at+".name", "got %q, want a letter, then letters, digits, '_', '.' and '-'", n.Name)
		}
		if _, taken := r.names[n.Name]; taken {
			r.Say(at, "name %q is there twice", n.Name)
		}
		r.names[n.Name] = *n.ID
	}
}

func (r *reader) rules() {
	if len(r.policy.rules) > maxRules {
		r.Say("rules", "got %d, want at most %d", len(r.policy.rules), maxRules)
		return
	}
	names := map[string]bool{}
	for i := range r.policy.rules {
		one, at := &r.policy.rules[i], fmt.Sprintf("rules[%d]", i)
		if one.Name == "" {
			one.Name = fmt.Sprintf("rule %d", i+1)
		}
		if names[one.Name] {
			r.Say(at, "name %q is there twice", one.Name)
		}
		names[one.Name] = true
		for _, dscp := range one.DSCP {
			if dscp.High > maxDSCP {
				r.Say(at+".dscp", "got %s, want numbers from 0 to %d", dscp, maxDSCP)
			}
		}
		for j, name := range one.Avoid {
			one.avoid = append(one.avoid, r.reference(fmt.Sprintf("%s.avoid[%d]", at, j), name))
		}
		r.steps(at+".waypoints", one.Waypoints)
		for j, path := range one.Paths {
			for k := range path {
				path[k].many = slices.Equal(path[k].names, []string{"*"})
			}
			r.steps(fmt.Sprintf("%s.paths[%d]", at, j), path)
		}
		if one.MaxHops != nil && *one.MaxHops == 0 {
			r.Say(at+".max_hops", "want 1 to %d", maxHops)
		}
	}
}

// steps looks the nodes of a list of steps up.
func (r *reader) steps(at string, steps []step) {
	if len(steps) > maxSteps {
		r.Say(at, "got %d, want at most %d", len(steps), maxSteps)
	}
	for i := range steps {
		for _, name := range steps[i].names {
			if !steps[i].many {
				steps[i].nodes = append(steps[i].nodes, r.reference(fmt.Sprintf("%s[%d]", at, i), name))
			}
		}
	}
}

// reference returns the id of a node by its name or number.
func (r *reader) reference(at, text string) uint32 {
	if id, ok := r.names[text]; ok {
		return id
	}
	id, err := unit.ParseNumber[uint32](text)
	switch {
	case err != nil:
		r.Say(at, "got %q, which is no name under nodes and no number", text)
	case r.policy.closed && r.policy.nodes[id] == nil:
		r.Say(at, "node %d is not under nodes", id)
	}
	return id
}

func (r *reader) ttls(f *file) {
	if r.policy.initialTTLs = f.InitialTTLs; slices.Contains(f.InitialTTLs, 0) {
		r.Say("initial_ttls", "got 0, want 1 to 255")
	}
	slices.Sort(r.policy.initialTTLs)
	switch f.SinkTTL {
	case "arrival":
		r.policy.arrival = true
	case "departure", "":
	default:
		r.Say("sink_ttl", "got %q, want arrival or departure", f.SinkTTL)
	}
}

// A list is written as one even if it has one item only.
type list[T any] []T

// UnmarshalConf reads a list.
func (l *list[T]) UnmarshalConf(v conf.Value) {
	if items, ok := v.List(); !ok || len(items) == 0 {
		v.Say("want a list")
		return
	}
	v.Decode((*[]T)(l))
}

// UnmarshalConf reads a node, or a list of nodes of which one is there.
func (s *step) UnmarshalConf(v conf.Value) { v.Decode((*conf.List[string])(&s.names)) }

// A protocol is the name of an IP protocol as telemetry.ProtocolName has it, or its number.
type protocol uint8

// UnmarshalText reads a protocol.
func (p *protocol) UnmarshalText(text []byte) error {
	n, ok := telemetry.ParseProtocol(string(text))
	if *p = protocol(n); !ok {
		return unit.Want("tcp, udp, another protocol or its number")
	}
	return nil
}

// A tunnel is the kind of a tunnel, or none.
type tunnel telemetry.Tunnel

// UnmarshalText reads a tunnel.
func (t *tunnel) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		return nil
	}
	for kind := telemetry.TunnelVXLAN; kind <= telemetry.TunnelIP; kind++ {
		if kind.String() == string(text) {
			*t = tunnel(kind)
			return nil
		}
	}
	return unit.Want("none, vxlan, vxlan-gpe, geneve, gre or ip")
}
