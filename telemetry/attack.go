package telemetry

import (
	"net/netip"
	"time"
)

// An AttackKind says what an attack sends. Its numbers are stored and do not change.
type AttackKind uint8

// Kinds of attacks. To add one: 1. its constant with the next number, 2. its name below, 3. its row in
// filter/choices.go, 4. its row in docs/reference/attacks.md.
const (
	AttackUDP        AttackKind = 1 // UDP that nobody answers
	AttackSYN        AttackKind = 2 // TCP connections that are opened, and never used
	AttackReflection AttackKind = 3 // UDP from the ports of services that answer with more than they are asked
	AttackFragments  AttackKind = 4 // fragments without the header that says what they are of
	AttackICMP       AttackKind = 5 // ICMP
	AttackTCP        AttackKind = 6 // TCP that nobody answers
	AttackOther      AttackKind = 7 // another protocol
	AttackCarpet     AttackKind = 8 // many addresses of a prefix, each with little
	AttackSurge      AttackKind = 9 // much traffic, and signs that it is wanted: no attack
	NumAttackKinds              = 10
)

var attackKinds = [NumAttackKinds]string{
	AttackUDP: "udp_flood", AttackSYN: "syn_flood", AttackReflection: "reflection", AttackFragments: "fragment_flood",
	AttackICMP: "icmp_flood", AttackTCP: "tcp_flood", AttackOther: "protocol_flood", AttackCarpet: "carpet_bombing",
	AttackSurge: "surge",
}

// String returns the name of the kind, as JSON and the filter language have it.
func (k AttackKind) String() string { return nameIn(attackKinds[:], uint8(k)) }

// MarshalText returns the name.
func (k AttackKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name; an unknown one becomes 0.
func (k *AttackKind) UnmarshalText(text []byte) error {
	*k = AttackKind(placeIn(attackKinds[:], text))
	return nil
}

// An AttackState says how far an attack has come. Its numbers are stored and do not change.
type AttackState uint8

// States of an attack.
const (
	AttackSuspected AttackState = 1 // unusually much, and too few packets were counted to tell what it is
	AttackActive    AttackState = 2 // it goes on
	AttackMitigated AttackState = 3 // filters drop most of it
	AttackEnded     AttackState = 4 // nothing of it comes any more, and no filter drops any of it
	numAttackStates             = 5
)

var attackStates = [numAttackStates]string{
	AttackSuspected: "suspected", AttackActive: "active", AttackMitigated: "mitigated", AttackEnded: "ended",
}

// String returns the name of the state.
func (s AttackState) String() string { return nameIn(attackStates[:], uint8(s)) }

// MarshalText returns the name.
func (s AttackState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name; an unknown one becomes 0.
func (s *AttackState) UnmarshalText(text []byte) error {
	*s = AttackState(placeIn(attackStates[:], text))
	return nil
}

func nameIn(names []string, at uint8) string {
	if int(at) < len(names) {
		return names[at]
	}
	return ""
}

func placeIn(names []string, text []byte) int {
	for i, name := range names {
		if name == string(text) && name != "" {
			return i
		}
	}
	return 0
}

// An Attack is traffic to a target that is far more than usual there, with who sends it and what becomes of it. Packets
// and bytes are estimates where nodes report 1 packet in N: as many times N as were reported. Times are those of the
// arrival of reports.
type Attack struct {
	ID    string      `json:"id" table:"ID,end" doc:"id of the attack and of its event"`
	Kind  AttackKind  `json:"kind" choice:"attack" table:"KIND" doc:"what is sent"`
	State AttackState `json:"state" choice:"attack_state" table:"STATE" doc:"how far it has come"`
	// info: no attack
	Severity Severity   `json:"severity" choice:"severity" table:"SEVERITY,wide" doc:"how bad it is; info: no attack"`
	Target   netip.Addr `json:"target" table:"TARGET" doc:"the address that it is sent to; of carpet_bombing the first one of the prefix"`
	Prefix   string     `json:"prefix,omitempty" filter:"-" doc:"the prefix that it is sent to, if it is more than an address"`
	Port     *uint16    `json:"port,omitempty" table:"PORT" doc:"destination port of most packets, if there is one"`
	Begin    time.Time  `json:"begin" table:"STARTED" doc:"when the rate rose"`
	// null while it goes on
	End  *time.Time `json:"end" table:"LASTED,right" doc:"when the latest packet of it came or was dropped by a filter, unless it goes on"`
	Text string     `json:"text" table:"WHAT,end" doc:"what happens, in words"`

	Packets uint64 `json:"packets" table:"PACKETS,wide" doc:"packets of it"`
	Bytes   uint64 `json:"bytes" kind:"size" table:"BYTES" doc:"bytes of it, as IP packets"`
	// Uncertainty is 0 where every packet is reported.
	Uncertainty float64 `json:"uncertainty" kind:"ratio" table:"WITHIN,wide" doc:"by which share packets and bytes may be off, in 95 of 100 cases, as nodes report 1 packet in N"`
	BPS         uint64  `json:"bps" kind:"rate" table:"RATE" doc:"bits a second in the latest second"`
	PPS         uint64  `json:"pps" doc:"packets a second in the latest second"`
	// RateUncertainty is that of BPS and PPS.
	RateUncertainty float64 `json:"rate_uncertainty" kind:"ratio" doc:"by which share these rates may be off, in 95 of 100 cases"`
	PeakBPS         uint64  `json:"peak_bps" kind:"rate" table:"PEAK" doc:"most bits in a second"`
	PeakPPS         uint64  `json:"peak_pps" table:"PEAK PPS,wide" doc:"most packets in a second"`

	FilteredPackets uint64 `json:"filtered_packets" table:"FILTERED,wide" doc:"packets of it that filters dropped"`
	FilteredBytes   uint64 `json:"filtered_bytes" kind:"size" doc:"bytes of it that filters dropped, as far as they tell of bytes"`
	// Effectiveness is missing before filters drop anything, and where nodes do not tell of all that gets through.
	Effectiveness *float64 `json:"effectiveness,omitempty" kind:"ratio" table:"EFFECT" doc:"share of its packets that filters drop, in the latest seconds"`
	Collateral    uint64   `json:"collateral" table:"COLLATERAL,bad,wide" doc:"packets to the target that filters dropped and that were no part of it"`
	Lost          uint64   `json:"lost" table:"LOST,wide" doc:"packets to the target that were dropped for want of room, or otherwise not by a filter"`

	// the most bytes first
	Devices []AttackSource `json:"devices" filter:"-" doc:"devices that send it, by their device ids"`
	// DevicesTotal counts those too that are not in Devices.
	DevicesTotal int            `json:"devices_total" table:"DEVICES" doc:"devices that send it"`
	Gateways     []AttackSource `json:"gateways" filter:"-" doc:"first nodes on its way"`
	Paths        []AttackSource `json:"paths" filter:"-" doc:"paths of what is not dropped by filters"`
	Addresses    []AttackSource `json:"addresses" filter:"-" doc:"source addresses, which may be forged"`
	Filters      []AttackFilter `json:"filters" filter:"-" doc:"where filters drop it"`
	// CountError is more than 0 if there were more sources than are told apart.
	CountError uint64        `json:"count_error,omitempty" doc:"packets that a source may have too many at most, as there were more sources than are told apart"`
	Evidence   []Evidence    `json:"evidence" filter:"-" table:"EVIDENCE,wide" doc:"signs that decided what it is"`
	History    []AttackPoint `json:"history" filter:"-" doc:"how much came and was dropped over time"`
	// Rules and Actions are those of this server; records in a store have none.
	Rules   []MitigationRule   `json:"rules" filter:"-" doc:"rules against it that hold now"`
	Actions []MitigationAction `json:"actions" filter:"-" doc:"what was done about it, the oldest first"`
}

// Holds reports whether an address is attacked.
func (a *Attack) Holds(address netip.Addr) bool {
	p, err := netip.ParsePrefix(a.Prefix)
	return address == a.Target || err == nil && p.Contains(address)
}

// An AttackSource is a part of an attack by where it comes from.
type AttackSource struct {
	Device  string  `json:"device,omitempty" doc:"MAC address of a device"`
	Node    *uint32 `json:"node,omitempty" doc:"the first node on the way"`
	Name    string  `json:"name,omitempty" doc:"its name, if it has one"`
	Address string  `json:"address,omitempty" doc:"a source address"`
	Path    string  `json:"path,omitempty" doc:"id of the latest path"`
	Packets uint64  `json:"packets" doc:"packets that came from there, dropped ones too"`
	Bytes   uint64  `json:"bytes" doc:"their bytes"`
	Share   float64 `json:"share" doc:"their share of the bytes of the attack"`
	// Filtered is what filters dropped of Packets.
	Filtered uint64 `json:"filtered" doc:"packets of these that filters dropped"`
	// Effectiveness is missing where filters dropped nothing of it so far, and for paths: what is dropped has none.
	Effectiveness *float64 `json:"effectiveness,omitempty" doc:"which share filters dropped of what came in the latest second"`

	First time.Time `json:"first" doc:"when the first of them came since the attack was noticed"`
	Last  time.Time `json:"last" doc:"when the latest of them came"`
	// OneExporter says that all reports about it came from one: with INT-MD from the sink next to the target, which is
	// the only one that sees its packets arrive, unless other nodes dropped some.
	OneExporter bool `json:"one_exporter,omitempty" doc:"all reports about it came from one exporter"`
	// Error is how many packets of it may be those of another source.
	Error uint64 `json:"error,omitempty" doc:"packets that it may have too many"`
}

// An AttackFilter is a node that drops packets of an attack.
type AttackFilter struct {
	Node    uint32 `json:"node" doc:"the node"`
	Name    string `json:"name,omitempty" doc:"its name, if it has one"`
	DropKey string `json:"drop_key,omitempty" doc:"Transparent Security: the rule"`
	Device  string `json:"device,omitempty" doc:"Transparent Security: the device that the rule is about"`
	Packets uint64 `json:"packets" doc:"packets that it dropped"`
}

// An AttackPoint is what came of an attack in a while.
type AttackPoint struct {
	At              time.Time `json:"at" doc:"beginning"`
	DurationNs      int64     `json:"duration_ns" doc:"how long"`
	Packets         uint64    `json:"packets" doc:"packets, with those that filters dropped"`
	Bytes           uint64    `json:"bytes" doc:"bytes, with those that filters dropped"`
	FilteredPackets uint64    `json:"filtered_packets" doc:"packets that filters dropped"`
}
