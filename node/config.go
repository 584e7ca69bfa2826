package node

import (
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/node/watch"
)

// A Config says what a node does: what all nodes of its INT domain agree on, its roles, what it watches, and how it
// reports. It is what a file says; New checks it. Begin with DefaultConfig or Load.
// docs/reference/node.md describes every key.
type Config struct {
	// The domain (INT 2.1 §2).
	Mode           string         `yaml:"mode"`    // md, mx, xd (INT 2.1 §3.1) or ioam; default md
	IOAM           IOAM           `yaml:"ioam"`    // of mode ioam
	Version        string         `yaml:"version"` // 2016, 0.5, 1.0, 2.0 or 2.1; default 2.1
	Carrier        string         `yaml:"carrier"` // see carriers; default dscp, in 2016 geneve
	Points         map[string]any `yaml:"points"`  // code points, as codepoint.Config.Apply takes them
	Dialect        string         `yaml:"dialect"` // of the other nodes
	MaxHops        uint8          `yaml:"max_hops"`
	LeastHops      uint8          `yaml:"least_hops"` // Geneve: that there is room for in each packet; 0: as it comes
	Domain         uint16         `yaml:"domain"`     // Domain Specific ID
	DSInstruction  uint16         `yaml:"ds_instruction"`
	DSFlags        uint16         `yaml:"ds_flags"`
	Complement     bool           `yaml:"checksum_complement"`
	ChecksumUpdate bool           `yaml:"checksum_update"` // default true
	NewIP          bool           `yaml:"new_ip"`
	// Rep of what the source inserts: none, ports, next_hops or both
	Replicas string `yaml:"replicas"`
	// what the source tells the sink of each packet (INT 2.1 §5.1): sequence, ttl
	Destination []string `yaml:"destination"`
	// values by DS Instruction bit, in hex; none: not available
	DSMetadata map[uint8]string `yaml:"ds_metadata"`
	// leave watched packets alone, and send clones with INT and D behind them (INT 2.1 §3.2)
	Clone bool `yaml:"clone"`
	// what an entry asks for that does not say; none: usualInstructions
	Instructions []string `yaml:"instructions"`

	// The roles.
	EdgeINT    string   `yaml:"edge_int"`    // INT from outside: drop or accept; default drop
	Sink       string   `yaml:"sink"`        // own metadata of the sink: in_report, in_stack or separate
	MTU        string   `yaml:"mtu"`         // what a transit node does if its record does not fit: mark or report
	SlowPath   bool     `yaml:"slow_path"`   // 2016 and 0.5: records travel in follow-up packets
	Replicate  bool     `yaml:"replicate"`   // up to 1.0: copy packets that allow it
	Omit       []string `yaml:"omit"`        // metadata that the node cannot find out
	DSMark     uint16   `yaml:"ds_mark"`     // DS Flags that a transit node sets
	InitialTTL uint8    `yaml:"initial_ttl"` // that hosts send; 0: unknown, and hops without INT are not looked for

	// What is watched.
	Watch      []watch.Entry `yaml:"watch"`       // flow watchlist; default: everything
	Drops      []watch.Entry `yaml:"drops"`       // drop watchlist; default: everything
	Events     Events        `yaml:"events"`      // which packets of a watched flow are reported
	DropEvents *Events       `yaml:"drop_events"` // which drops of a flow are reported; nil: all
	Queues     []Queue       `yaml:"queues"`      // of several that are about a queue, the last counts

	Reports Reports `yaml:"reports"`

	// Nodes says what is different at one node, by its name.
	Nodes map[string]Override `yaml:"nodes"`
}

// An Override says what is different at one node. What it leaves out is as for all.
type Override struct {
	EdgeINT   string   `yaml:"edge_int"`
	Sink      string   `yaml:"sink"`
	MTU       string   `yaml:"mtu"`
	SlowPath  *bool    `yaml:"slow_path"`
	Replicate *bool    `yaml:"replicate"`
	Omit      []string `yaml:"omit"`
	HWID      *uint8   `yaml:"hw_id"`

	DSMetadata map[uint8]string `yaml:"ds_metadata"`
	DSMark     *uint16          `yaml:"ds_mark"`
}

// Events says which packets of a flow are worth a report, as event.Config does.
type Events struct {
	Flows          uint32        `yaml:"flows"`           // that the table has room for
	LatencyQuantum unit.Duration `yaml:"latency_quantum"` // a power of two of ns; 0: latencies are not compared
	Period         unit.Duration `yaml:"period"`          // 0: never
	Idle           unit.Duration `yaml:"idle"`            // 0: flows do not end by themselves
	Reset          unit.Duration `yaml:"reset"`           // 0: never
}

// A Queue says when queues are congested, as event.Threshold does, and which queues.
type Queue struct {
	Port  uint32 `yaml:"port"`  // 0: all
	Queue *uint8 `yaml:"queue"` // of the port, from 0; nil: all

	Trigger        unit.Bytes    `yaml:"trigger"`
	Reset          unit.Bytes    `yaml:"reset"`
	TriggerLatency unit.Duration `yaml:"trigger_latency"`
	ResetLatency   unit.Duration `yaml:"reset_latency"`
	Quota          uint32        `yaml:"quota"`     // reports in a congestion; 0: all
	TailDrop       bool          `yaml:"tail_drop"` // report packets that a full queue has no room for
}

// Reports says how the node reports, as export.Config does.
type Reports struct {
	Format     string   `yaml:"format"`      // 0.5, 1.0, 2.0 or transparent-security; default 2.0
	To         []string `yaml:"to"`          // collectors, ADDRESS:PORT; Spec.Collectors comes first
	HWID       uint8    `yaml:"hw_id"`       // 6 bits
	SourcePort string   `yaml:"source_port"` // a number or entropy; default 0
	DF         bool     `yaml:"df"`          // default true
	MTU        uint16   `yaml:"mtu"`         // default 1500; of the Transparent Security profile 200
	// bytes behind the INT stack and the first L4 header; 0: as many as fit; default 128
	Truncate uint16        `yaml:"truncate"`
	Coalesce unit.Duration `yaml:"coalesce"`
	Fragment string        `yaml:"fragment"` // what packets in reports begin with: ethernet or ip
	DSCP     uint8         `yaml:"dscp"`
	TTL      uint8         `yaml:"ttl"`      // default 64
	Checksum bool          `yaml:"checksum"` // of UDP over IPv4; default true
}

// DefaultConfig returns INT-MD 2.1 behind TCP and UDP, marked by the DSCP of the specification's examples: it fits
// packets of any port, leaves alone the addresses and ports that switches without INT balance and filter by, and costs
// 8 bytes less than a UDP header of its own. Everything is watched, UDP too; what is not congestion controlled should
// not get INT (INT 2.1 §5.4): say so by an entry with ignore.
func DefaultConfig() Config {
	return Config{
		Mode: "md", Version: "2.1", MaxHops: 16, ChecksumUpdate: true, Replicas: "none", IOAM: IOAM{Option: "preallocated"},
		EdgeINT: "drop", Sink: "in_report", MTU: "mark",
		Watch: []watch.Entry{{Name: "everything"}}, Drops: []watch.Entry{{Name: "everything"}},
		Events: defaultEvents(),
		Queues: []Queue{{Trigger: 30e3, Reset: 15e3, Quota: 128, TailDrop: true}},
		Reports: Reports{
			Format: "2.0", SourcePort: "0", DF: true, Truncate: 128, Fragment: "ethernet", TTL: 64,
			Checksum: true,
		},
	}
}

// usualInstructions are what a node asks for if the file does not say, as far as the version has them.
const usualInstructions = watch.NodeID | watch.L1Interfaces | watch.HopLatency | watch.Queue | watch.IngressTS |
	watch.EgressTS

// defaultEvents is coarser than what a hardware switch could report: 65.536 us is the time that 80 kB take at 10
// Gbit/s.
func defaultEvents() Events {
	return Events{Flows: 1 << 14, LatencyQuantum: 1 << 16, Period: 1e9, Idle: 30e9}
}

// at returns what c says for the node of that name.
func (c Config) at(name string) Config {
	o, ok := c.Nodes[name]
	if !ok {
		return c
	}
	for _, w := range []struct{ to, from *string }{{&c.EdgeINT, &o.EdgeINT}, {&c.Sink, &o.Sink}, {&c.MTU, &o.MTU}} {
		if *w.from != "" {
			*w.to = *w.from
		}
	}
	if o.SlowPath != nil {
		c.SlowPath = *o.SlowPath
	}
	if o.Replicate != nil {
		c.Replicate = *o.Replicate
	}
	if o.Omit != nil {
		c.Omit = o.Omit
	}
	if o.DSMetadata != nil {
		c.DSMetadata = o.DSMetadata
	}
	if o.DSMark != nil {
		c.DSMark = *o.DSMark
	}
	if o.HWID != nil {
		c.Reports.HWID = *o.HWID
	}
	return c
}
