package policy

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/waybill-int/waybill/telemetry"
)

// Bounds of a file: each rule that does not match costs a new flow some ns.
const (
	maxRules = 1024
	maxNodes = 1 << 16
	maxHops  = 255
)

// nodes reads the nodes that there are; all others are unexpected.
func (r *reader) nodes(value ast.Node, place string) {
	r.policy.closed, r.policy.nodes = true, map[uint32]*node{}
	r.items(value, place, func(item ast.Node, place string) {
		n := &node{}
		var ids []uint32
		before := len(r.errs)
		r.fields(item, place, map[string]setter{
			"id":    listOf(r, &ids, func(text string) (uint32, error) { return number[uint32](text, 1<<32-1) }),
			"name":  func(value ast.Node, place string) { n.name = r.name(value, place) },
			"ports": listOf(r, &n.ports, func(text string) (span[uint32], error) { return parseSpan[uint32](text, 1<<32-1) }),
		})
		if len(ids) != 1 {
			if len(r.errs) == before {
				r.say(item, "%s: want one id", place)
			}
			return
		}
		n.id = ids[0]
		if r.policy.nodes[n.id] != nil {
			r.say(item, "%s: node %d is there twice", place, n.id)
		}
		if len(r.policy.nodes) >= maxNodes {
			r.say(item, "%s: got more than %d nodes", place, maxNodes)
			return
		}
		r.policy.nodes[n.id] = n
		if n.name == "" {
			return
		}
		if _, taken := r.names[n.name]; taken {
			r.say(item, "%s: name %q is there twice", place, n.name)
		}
		r.names[n.name] = n.id
	})
}

// name reads what looks unlike a number and a wildcard.
func (r *reader) name(value ast.Node, place string) string {
	text := r.text(value, place)
	if text != "" && !nodeName.MatchString(text) {
		r.say(value, "%s: got %q, want a letter, then letters, digits, '_', '.' and '-'", place, text)
	}
	return text
}

func (r *reader) ttls(value ast.Node, place string) {
	listOf(r, &r.policy.initialTTLs, func(text string) (uint8, error) {
		ttl, err := number[uint8](text, 255)
		if err == nil && ttl == 0 {
			err = fmt.Errorf("got 0, want 1 to 255")
		}
		return ttl, err
	})(value, place)
	slices.Sort(r.policy.initialTTLs)
}

func (r *reader) rules(value ast.Node, place string) {
	r.items(value, place, func(item ast.Node, place string) {
		if len(r.policy.rules) == maxRules {
			r.say(item, "%s: got more than %d rules", place, maxRules)
		}
		if len(r.policy.rules) >= maxRules {
			r.policy.rules = r.policy.rules[:maxRules]
		}
		one := rule{name: fmt.Sprintf("rule %d", len(r.policy.rules)+1)}
		r.fields(item, place, ruleKeys(r, &one))
		for _, other := range r.policy.rules {
			if other.name == one.name {
				r.say(item, "%s: name %q is there twice", place, one.name)
			}
		}
		r.policy.rules = append(r.policy.rules, one)
	})
}

func ruleKeys(r *reader, to *rule) map[string]setter {
	port := func(text string) (span[uint16], error) { return parseSpan[uint16](text, 1<<16-1) }
	return map[string]setter{
		"name":      func(value ast.Node, place string) { to.name = r.text(value, place) },
		"src":       listOf(r, &to.src, parsePrefix),
		"dst":       listOf(r, &to.dst, parsePrefix),
		"src_port":  listOf(r, &to.srcPort, port),
		"dst_port":  listOf(r, &to.dstPort, port),
		"protocol":  listOf(r, &to.protocol, parseProtocol),
		"dscp":      listOf(r, &to.dscp, func(text string) (span[uint8], error) { return parseSpan[uint8](text, 63) }),
		"tunnel_id": listOf(r, &to.tunnelID, func(text string) (span[uint32], error) { return parseSpan[uint32](text, 1<<32-1) }),
		"tunnel": func(value ast.Node, place string) {
			tunnel, err := parseTunnel(r.text(value, place))
			if err != nil {
				r.say(value, "%s: %s", place, err)
			}
			to.tunnel = &tunnel
		},
		"waypoints": func(value ast.Node, place string) { to.waypoints = r.steps(value, place, false) },
		"any_order": func(value ast.Node, place string) {
			text := r.text(value, place)
			if text != "true" && text != "false" && text != "" {
				r.say(value, "%s: got %q, want true or false", place, text)
			}
			to.anyOrder = text == "true"
		},
		"avoid": func(value ast.Node, place string) {
			r.items(value, place, func(item ast.Node, place string) { to.avoid = append(to.avoid, r.reference(item, place)) })
		},
		"paths": func(value ast.Node, place string) {
			if _, ok := value.(*ast.SequenceNode); !ok {
				r.say(value, "%s: want a list of paths, each a list of nodes", place)
				return
			}
			r.items(value, place, func(item ast.Node, place string) { to.paths = append(to.paths, r.steps(item, place, true)) })
		},
		"max_hops": func(value ast.Node, place string) {
			n, err := number[uint32](r.text(value, place), maxHops)
			if err != nil || n == 0 {
				r.say(value, "%s: want 1 to %d", place, maxHops)
			}
			to.maxHops = int(n)
		},
	}
}

// steps reads a list of steps. Each is a node, a list of nodes of which one is there, or "*" where wildcards may be.
func (r *reader) steps(value ast.Node, place string, wildcards bool) (steps []step) {
	if _, ok := value.(*ast.SequenceNode); !ok {
		r.say(value, "%s: want a list", place)
		return nil
	}
	r.items(value, place, func(item ast.Node, place string) {
		if text, ok := item.(*ast.StringNode); ok && text.Value == "*" && wildcards {
			steps = append(steps, step{many: true})
			return
		}
		var s step
		r.items(item, place, func(item ast.Node, place string) { s.nodes = append(s.nodes, r.reference(item, place)) })
		if len(s.nodes) > 0 {
			steps = append(steps, s)
		}
	})
	if len(steps) > maxSteps {
		r.say(value, "%s: got %d, want at most %d", place, len(steps), maxSteps)
	}
	return steps
}

// reference returns the id of a node by its name or number.
func (r *reader) reference(value ast.Node, place string) uint32 {
	text := r.text(value, place)
	if text == "" {
		return 0
	}
	if id, ok := r.names[text]; ok {
		return id
	}
	id, err := number[uint32](text, 1<<32-1)
	switch {
	case err != nil:
		r.say(value, "%s: got %q, which is no name under nodes and no number", place, text)
	case r.policy.closed && r.policy.nodes[id] == nil:
		r.say(value, "%s: node %d is not under nodes", place, id)
	}
	return id
}

func parseTunnel(text string) (telemetry.Tunnel, error) {
	if text == "none" || text == "" {
		return telemetry.TunnelNone, nil
	}
	for t := telemetry.TunnelVXLAN; t <= telemetry.TunnelIP; t++ {
		if t.String() == text {
			return t, nil
		}
	}
	return 0, fmt.Errorf("got %q, want none, vxlan, vxlan-gpe, geneve, gre or ip", text)
}
