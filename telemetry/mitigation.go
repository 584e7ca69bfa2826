package telemetry

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// A MitigationRule says which packets are dropped for an attack, where, and until when. What is not set is any.
type MitigationRule struct {
	ID       string `json:"id" doc:"id of the rule, the same for the same rule"`
	Attack   string `json:"attack" doc:"id of the attack"`
	By       string `json:"by" doc:"who drops: node, flowspec, rtbh or webhook"`
	Node     uint32 `json:"node,omitempty" doc:"of node: the node that drops"`
	Name     string `json:"name,omitempty" doc:"its name, if it has one"`
	Device   string `json:"device,omitempty" doc:"MAC address of the device whose packets are dropped; missing: any"`
	Source   string `json:"source,omitempty" doc:"prefix that they come from; missing: any"`
	Target   string `json:"target" doc:"prefix that they go to"`
	Protocol string `json:"protocol,omitempty" doc:"tcp, udp, icmp or icmpv6; missing: any"`
	Port     uint16 `json:"port,omitempty" doc:"destination port; missing: any"`
	// OneExporter and Broad are what to think of before the rule is sent.
	OneExporter bool `json:"one_exporter,omitempty" doc:"that the device sends the attack rests on the word of one exporter"`
	Broad       bool `json:"broad,omitempty" doc:"it names no source: what others send to the target is dropped too"`

	State string    `json:"state" doc:"planned, active, failed (tried again), withdrawing (tried again) or withdrawn"`
	Until time.Time `json:"until" doc:"when it is withdrawn at the latest"`
	Error string    `json:"error,omitempty" doc:"why it could last not be sent or withdrawn, or why it does not hold now"`
	Text  string    `json:"text" doc:"the rule in words"`
}

// Describe says what the rule does: "gw1 drops udp from device a6:1a:f6:b1:64:01 to 192.0.2.80/32 port 53".
func (r *MitigationRule) Describe() string {
	var b strings.Builder
	switch {
	case r.Name != "":
		b.WriteString(r.Name)
	case r.By == "node":
		fmt.Fprintf(&b, "node %d", r.Node)
	default:
		b.WriteString(r.By)
	}
	b.WriteString(" drops ")
	if r.Protocol != "" {
		b.WriteString(r.Protocol)
	} else {
		b.WriteString("everything")
	}
	switch {
	case r.Device != "":
		b.WriteString(" from device " + r.Device)
	case r.Source != "":
		b.WriteString(" from " + r.Source)
	}
	b.WriteString(" to " + r.Target)
	if r.Port != 0 {
		fmt.Fprintf(&b, " port %d", r.Port)
	}
	if r.Broad {
		b.WriteString(", whoever sends it")
	}
	if r.OneExporter {
		b.WriteString(" (one exporter says so)")
	}
	return b.String()
}

// Prefixes returns the source, zero if it is any, and the target.
func (r *MitigationRule) Prefixes() (source, target netip.Prefix) {
	source, _ = netip.ParsePrefix(r.Source)
	target, _ = netip.ParsePrefix(r.Target)
	return source, target
}

// A MitigationAction is a line of the audit trail: what was done about an attack, by whom, and what became of it.
type MitigationAction struct {
	At     time.Time `json:"at" doc:"when"`
	Attack string    `json:"attack" doc:"id of the attack"`
	// mitigate, release, expire, end, lost, restored, restart
	Action string     `json:"action" doc:"mitigate; release, by a person; expire, as its time was over; end, of the attack; lost and restored, of what drops; restart, of the server"`
	By     string     `json:"by" doc:"who drops: node, flowspec, rtbh or webhook"`
	Who    string     `json:"who,omitempty" doc:"who asked for it; missing: the server"`
	Until  *time.Time `json:"until,omitempty" doc:"of mitigate: until when"`
	Rules  []string   `json:"rules" doc:"the rules in words"`
	Error  string     `json:"error,omitempty" doc:"why it failed"`
}

// A Mitigation is what is done about an attack, or would be.
type Mitigation struct {
	Attack string           `json:"attack" doc:"id of the attack"`
	By     string           `json:"by" doc:"who drops: node, flowspec, rtbh or webhook"`
	DryRun bool             `json:"dry_run" doc:"nothing was sent"`
	Until  time.Time        `json:"until" doc:"when the rules are withdrawn at the latest"`
	Share  float64          `json:"share" doc:"share of the attack of all traffic that is seen now, with that of other attacks that are mitigated"`
	Rules  []MitigationRule `json:"rules" doc:"the rules, exactly as they are sent"`
	Left   []LeftOut        `json:"left_out" doc:"sources of the attack for which there is no rule"`
}

// A LeftOut is a source of an attack for which there is no rule.
type LeftOut struct {
	What string `json:"what" doc:"the source: a device, an address, or a gateway"`
	Why  string `json:"why" doc:"why there is no rule"`
}
