package mitigate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Abilities say what an Actor can drop.
type Abilities struct {
	Devices bool // packets of a MAC address
	// Everything: only all that goes to an address.
	Everything bool
	// Nodes returns which nodes drop; nil: rules are for no node.
	Nodes map[uint32]bool
	// MaxOfNode is how many rules a node takes; 0: any number.
	MaxOfNode int
	// Reports says that what is dropped is told by drop reports. Of others nobody sees whether the attack goes on:
	// their rules hold until their time is over.
	Reports bool
	// Session says that rules are those of a session of its own: nobody else takes them back.
	Session bool
}

// A RefusedError says why nothing was done. Waiting does not help, doing something else may.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Why }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

const (
	// faint is how much less than the mean a source sends that is left alone, as the users of a target do.
	faint = 0.05
	// known is the share of the bytes of an attack that its addresses must have: less says that they are forged.
	known = 0.8
)

// plan returns the rules that drop an attack, and what it has no rule for.
func (m *Manager) plan(a *telemetry.Attack, by string, can Abilities, r *Request, until time.Time,
) (rules []telemetry.MitigationRule, left []telemetry.LeftOut, err error) {
	target := netip.PrefixFrom(a.Target, a.Target.BitLen())
	if a.Prefix != "" {
		if target, err = netip.ParsePrefix(a.Prefix); err != nil {
			return nil, nil, refuse("the target %q of the attack is no prefix", a.Prefix)
		}
	}
	if why := m.untouchable(target, m.safe()); why != "" {
		return nil, nil, refuse("the target %v %s; no rule was sent", target, why)
	}
	left = []telemetry.LeftOut{}
	base := telemetry.MitigationRule{
		Attack: a.ID, By: by, Target: target.String(), State: Planned, Until: until,
	}
	add := func(rule telemetry.MitigationRule, what string) {
		switch {
		case rule.Source != "":
			source, _ := rule.Prefixes()
			if why := m.untouchable(source, m.safe()); why != "" {
				left = append(left, telemetry.LeftOut{What: what, Why: "it " + why})
				return
			}
		case rule.Device == "":
			rule.Broad = true
		}
		if can.Nodes != nil && !can.Nodes[rule.Node] {
			left = append(left, telemetry.LeftOut{
				What: what,
				Why:  fmt.Sprintf("node %d, behind which it is, has no entry in mitigation.nodes", rule.Node),
			})
			return
		}
		rule.ID = idOf(&rule)
		rule.Text = rule.Describe()
		rules = append(rules, rule)
	}
	atGateways := func() { // whoever sends it
		gateways := withoutFaint(a.Gateways)
		for i := range gateways {
			rule, name := gatewayOf(base, &gateways[i])
			add(rule, name)
		}
	}
	sources := a.Devices
	if !can.Devices || len(sources) == 0 {
		sources = loud(a.Addresses)
	}
	switch {
	case can.Everything:
		add(base, target.String())
	case len(sources) == 0:
		base.Protocol, base.Port = protocolOf(a), portOf(a)
		if can.Nodes == nil {
			add(base, target.String())
			break
		}
		atGateways()
	default:
		base.Protocol, base.Port = protocolOf(a), portOf(a)
		for i := range sources {
			s := &sources[i]
			rule, what := base, s.Device
			if can.Nodes != nil {
				if s.Node == nil {
					left = append(left, telemetry.LeftOut{What: s.Device + s.Address, Why: "its gateway is not known"})
					continue
				}
				rule, _ = gatewayOf(base, s)
			}
			if rule.Device, rule.OneExporter = s.Device, s.OneExporter; s.Device == "" {
				address, err := netip.ParseAddr(s.Address)
				if err != nil {
					continue
				}
				what, rule.Source = s.Address, netip.PrefixFrom(address, address.BitLen()).String()
			}
			add(rule, what)
		}
	}
	if why := tooMany(rules, can.MaxOfNode, m.settings().MaxRules); why != "" && can.Nodes != nil {
		if !r.Broad {
			return nil, nil, refuse("%s; no rule was sent; with --broad it is one for each gateway, which drops what others "+
				"send to the target, too", why)
		}
		rules, left = nil, []telemetry.LeftOut{}
		atGateways()
	}
	return rules, left, m.judge(rules, left, by, r)
}

// tooMany says why there are too many rules, by themselves; "": there are not.
func tooMany(rules []telemetry.MitigationRule, atNode, inAll int) string {
	if len(rules) > inAll {
		return fmt.Sprintf("it takes %d rules: mitigation.max_rules is %d", len(rules), inAll)
	}
	of := map[uint32]int{}
	for i := range rules {
		if of[rules[i].Node]++; atNode > 0 && of[rules[i].Node] > atNode {
			return fmt.Sprintf("it takes more than the %d rules that %s can have", atNode, nodeName(&rules[i]))
		}
	}
	return ""
}

func nodeName(r *telemetry.MitigationRule) string { return cmp.Or(r.Name, fmt.Sprint("node ", r.Node)) }

// judge refuses rules that nobody should send.
func (m *Manager) judge(rules []telemetry.MitigationRule, left []telemetry.LeftOut, by string, r *Request) error {
	if len(rules) == 0 {
		why := "no source of it is known"
		if len(left) > 0 {
			why = fmt.Sprintf("%s: %s", left[0].What, left[0].Why)
		}
		return refuse("there is no rule that %s could get for this attack: %s", by, why)
	}
	for i := range rules {
		if rules[i].Broad && !r.Broad {
			return refuse("%s: it drops what others send to the target, too, those of mitigation.safe among them; "+
				"ask for it with --broad if that is better than the attack", rules[i].Text)
		}
	}
	return nil
}

func gatewayOf(rule telemetry.MitigationRule, s *telemetry.AttackSource) (telemetry.MitigationRule, string) {
	name := s.Name
	if s.Node != nil {
		rule.Node, rule.Name = *s.Node, s.Name
		if name == "" {
			name = fmt.Sprint("node ", *s.Node)
		}
	}
	return rule, name
}

// loud returns the addresses that an attack comes from, or none if they do not tell: forged ones are new all the time.
func loud(addresses []telemetry.AttackSource) []telemetry.AttackSource {
	share := 0.0
	for i := range addresses {
		share += addresses[i].Share
	}
	if share < known || len(addresses) >= maxAddresses {
		return nil
	}
	return withoutFaint(addresses)
}

// withoutFaint leaves out the sources at the end of the list that send far less than others, as users do.
func withoutFaint(list []telemetry.AttackSource) []telemetry.AttackSource {
	var sum uint64
	for i := range list {
		sum += list[i].Bytes
	}
	n := len(list)
	for ; n > 1 && float64(list[n-1].Bytes) < faint*float64(sum)/float64(n); n-- {
		sum -= list[n-1].Bytes
	}
	return list[:n]
}

// maxAddresses is how many addresses an attack tells at most: one with as many may have more.
const maxAddresses = 256

// protocolOf returns the protocol of most packets of an attack; "": any.
func protocolOf(a *telemetry.Attack) string {
	icmp := "icmp"
	if a.Target.Is6() {
		icmp = "icmpv6"
	}
	switch a.Kind {
	case telemetry.AttackUDP, telemetry.AttackReflection:
		return "udp"
	case telemetry.AttackSYN, telemetry.AttackTCP:
		return "tcp"
	case telemetry.AttackICMP:
		return icmp
	case telemetry.AttackCarpet:
		for _, e := range a.Evidence {
			switch e.Name {
			case "udp", "amplified_udp":
				return "udp"
			case "tcp_syn", "tcp":
				return "tcp"
			case "icmp":
				return icmp
			}
		}
	}
	return ""
}

// portOf returns the port of most packets of an attack; 0: any.
func portOf(a *telemetry.Attack) uint16 {
	if p := protocolOf(a); a.Port == nil || p != "udp" && p != "tcp" {
		return 0
	}
	return *a.Port
}

// untouchable says why no rule may be about a prefix; "": it may.
func (m *Manager) untouchable(p netip.Prefix, safe []netip.Prefix) string {
	for _, s := range safe {
		if s.Overlaps(p) {
			return fmt.Sprintf("is in mitigation.safe (%v)", s)
		}
	}
	for _, own := range m.deps.Own() {
		if p.Contains(own.Unmap()) {
			return fmt.Sprintf("has the address %v, of this server or of what it acts by", own)
		}
	}
	return ""
}

// idOf returns the id of a rule: the same for the same packets at the same place.
func idOf(r *telemetry.MitigationRule) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		r.Attack, r.By, fmt.Sprint(r.Node), r.Device, r.Source, r.Target, r.Protocol, fmt.Sprint(r.Port),
	}, "|")))
	return hex.EncodeToString(sum[:8])
}

// IsRefused reports whether err says that nothing was done, and why.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}
