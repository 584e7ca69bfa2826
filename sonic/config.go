// Package sonic configures the telemetry of switches that run SONiC (DTel): it reads a file that says how, compares it
// with the switch's CONFIG_DB, and writes the difference. docs/how-to/configure-a-switch.md shows it.
package sonic

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
)

// A Config is what a file says: all of the switch's telemetry but the watch lists, which are rules of its ACLs.
type Config struct {
	SwitchID    *uint32 `yaml:"switch_id"`
	IntEndpoint bool    `yaml:"int_endpoint"`
	IntTransit  bool    `yaml:"int_transit"`
	Postcard    bool    `yaml:"postcard"`
	DropReport  bool    `yaml:"drop_report"`
	QueueReport bool    `yaml:"queue_report"`

	FlowStateClearCycle *uint16  `yaml:"flow_state_clear_cycle"`
	LatencySensitivity  *uint8   `yaml:"latency_sensitivity"`
	SinkPorts           []string `yaml:"sink_ports"`
	IntDSCP             *uint8   `yaml:"int_dscp"`
	IntDSCPMask         *uint8   `yaml:"int_dscp_mask"`

	ReportSessions map[string]reportSession          `yaml:"report_sessions"`
	IntSessions    map[string]intSession             `yaml:"int_sessions"`
	QueueReports   map[string]map[uint16]queueReport `yaml:"queue_reports"` // by port and queue
	Events         map[string]event                  `yaml:"events"`
}

type reportSession struct {
	Source     netip.Addr   `yaml:"source"`
	Collectors []netip.Addr `yaml:"collectors"`
	Port       uint16       `yaml:"port"`
	Truncate   uint16       `yaml:"truncate"` // bytes
}

type intSession struct {
	MaxHops uint8    `yaml:"max_hops"`
	Collect []string `yaml:"collect"`
}

type queueReport struct {
	Depth    *uint32 `yaml:"depth"`   // bytes
	Latency  *uint32 `yaml:"latency"` // ns
	Quota    *uint32 `yaml:"quota"`   // reports for each time that a threshold is passed
	TailDrop bool    `yaml:"tail_drop"`
}

type event struct {
	Session string `yaml:"session"`
	DSCP    *uint8 `yaml:"dscp"`
}

// What a file and CONFIG_DB call the same.
var (
	collected = map[string]string{
		"switch_id":         "COLLECT_SWITCH_ID",
		"ports":             "COLLECT_SWITCH_PORTS",
		"ingress_timestamp": "COLLECT_INGRESS_TIMESTAMP",
		"egress_timestamp":  "COLLECT_EGRESS_TIMESTAMP",
		"queue":             "COLLECT_QUEUE_INFO",
	}
	eventTypes = map[string]string{
		"flow_state":              "EVENT_TYPE_FLOW_STATE",
		"flow_report_all_packets": "EVENT_TYPE_FLOW_REPORT_ALL_PACKETS",
		"flow_tcp_flag":           "EVENT_TYPE_FLOW_TCPFLAG",
		"queue_threshold_breach":  "EVENT_TYPE_QUEUE_REPORT_THRESHOLD_BREACH",
		"queue_tail_drop":         "EVENT_TYPE_QUEUE_REPORT_TAIL_DROP",
		"drop":                    "EVENT_TYPE_DROP_REPORT",
	}
)

var kind = conf.Kind{Want: "switch_id, report_sessions and what the switch is to report"}

// Load reads a file. The error has a line for each thing that is wrong.
func Load(name string) (*Config, error) {
	text, err := kind.Read(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

// Parse reads the text of a file; name is that of the file in errors.
func Parse(name string, text []byte) (*Config, error) {
	c := &Config{}
	d, err := kind.Parse(name, text, c)
	if err != nil && !d.IsRead() {
		return nil, err
	}
	c.check(d)
	return c, d.Err()
}

func (c *Config) check(d *conf.Document) {
	if c.SwitchID == nil {
		d.Say("switch_id", "is missing: without it nobody can tell the switch from another")
	}
	if c.IntDSCPMask != nil && c.IntDSCP == nil {
		d.Say("int_dscp_mask", "there is no int_dscp")
	}
	dscp(d, "int_dscp", c.IntDSCP)
	dscp(d, "int_dscp_mask", c.IntDSCPMask)
	for i, port := range c.SinkPorts {
		checkName(d, fmt.Sprintf("sink_ports[%d]", i), port)
	}
	for name, s := range c.ReportSessions {
		key := "report_sessions." + name
		checkName(d, key, name)
		s.check(d, key)
	}
	for name, s := range c.IntSessions {
		key := "int_sessions." + name
		checkName(d, key, name)
		if s.MaxHops == 0 {
			d.Say(key+".max_hops", "want 1 to 255")
		}
		if len(s.Collect) == 0 {
			d.Say(key+".collect", "is missing; want some of %s", names(collected))
		}
		for i, what := range s.Collect {
			if collected[what] == "" {
				d.Say(fmt.Sprintf("%s.collect[%d]", key, i), "got %q, want one of %s", what, names(collected))
			}
		}
	}
	for port := range c.QueueReports {
		checkName(d, "queue_reports."+port, port)
	}
	for name, e := range c.Events {
		key := "events." + name
		if eventTypes[name] == "" {
			d.Say(key, "unknown event; known are %s", names(eventTypes))
		}
		if _, ok := c.ReportSessions[e.Session]; !ok {
			d.Say(key+".session", "report_sessions has no %q", e.Session)
		}
		dscp(d, key+".dscp", e.DSCP)
	}
}

func (s *reportSession) check(d *conf.Document, key string) {
	if !s.Source.Is4() {
		d.Say(key+".source", "want an IPv4 address of the switch")
	}
	if len(s.Collectors) == 0 {
		d.Say(key+".collectors", "is missing: reports have to go somewhere")
	}
	for i, a := range s.Collectors {
		if !a.Is4() {
			d.Say(fmt.Sprintf("%s.collectors[%d]", key, i), "want an IPv4 address: SONiC takes no other")
		}
	}
	if s.Port == 0 {
		d.Say(key+".port", "want 1 to %d, the UDP port of the collector", math.MaxUint16)
	}
}

func dscp(d *conf.Document, key string, value *uint8) {
	if value != nil && *value > 63 {
		d.Say(key, "got %d, want 0 to 63", *value)
	}
}

// checkName says what is wrong with a name that is a part of a key of CONFIG_DB, or a field.
func checkName(d *conf.Document, key, name string) {
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "| \t\r\n:;,") {
		d.Say(key, "got %q, want a name of at most 255 characters without spaces and |:;,", name)
	}
}

// entries returns what CONFIG_DB has to have: fields by key.
func (c *Config) entries() map[string]fields {
	all := map[string]fields{}
	global := func(name, value string) { all["DTEL|"+name] = fields{name: value} }
	for name, on := range map[string]bool{
		"INT_ENDPOINT": c.IntEndpoint, "INT_TRANSIT": c.IntTransit, "POSTCARD": c.Postcard,
		"DROP_REPORT": c.DropReport, "QUEUE_REPORT": c.QueueReport,
	} {
		if on { // the switch turns off what is not there
			global(name, "TRUE")
		}
	}
	if c.SwitchID != nil {
		global("SWITCH_ID", number(*c.SwitchID))
	}
	if c.FlowStateClearCycle != nil {
		global("FLOW_STATE_CLEAR_CYCLE", number(*c.FlowStateClearCycle))
	}
	if c.LatencySensitivity != nil {
		global("LATENCY_SENSITIVITY", number(*c.LatencySensitivity))
	}
	if len(c.SinkPorts) > 0 {
		ports := fields{}
		for _, port := range c.SinkPorts {
			ports[port] = port
		}
		all["DTEL|SINK_PORT_LIST"] = ports
	}
	if c.IntDSCP != nil {
		mask := uint8(63)
		if c.IntDSCPMask != nil {
			mask = *c.IntDSCPMask
		}
		all["DTEL|INT_L4_DSCP"] = fields{"INT_L4_DSCP_VALUE": number(*c.IntDSCP), "INT_L4_DSCP_MASK": number(mask)}
	}
	for name, s := range c.ReportSessions {
		all["DTEL_REPORT_SESSION|"+name] = s.fields()
	}
	for name, s := range c.IntSessions {
		f := fields{"MAX_HOP_COUNT": number(s.MaxHops)}
		for _, field := range collected {
			f[field] = "FALSE"
		}
		for _, what := range s.Collect {
			f[collected[what]] = "TRUE"
		}
		all["DTEL_INT_SESSION|"+name] = f
	}
	for port, queues := range c.QueueReports {
		for queue, q := range queues {
			all["DTEL_QUEUE_REPORT|"+port+"|"+number(queue)] = q.fields()
		}
	}
	for name, e := range c.Events {
		f := fields{"EVENT_REPORT_SESSION": e.Session}
		if e.DSCP != nil {
			f["EVENT_DSCP_VALUE"] = number(*e.DSCP)
		}
		all["DTEL_EVENT|"+eventTypes[name]] = f
	}
	return all
}

func (s *reportSession) fields() fields {
	collectors := make([]string, len(s.Collectors))
	for i, a := range s.Collectors {
		collectors[i] = a.String()
	}
	f := fields{
		"SRC_IP": s.Source.String(), "DST_IP_LIST": strings.Join(collectors, ";"),
		"VRF":           "default", // SONiC knows no other here
		"UDP_DEST_PORT": number(s.Port),
	}
	if s.Truncate > 0 {
		f["TRUNCATE_SIZE"] = number(s.Truncate)
	}
	return f
}

func (q *queueReport) fields() fields {
	f := fields{"REPORT_TAIL_DROP": strings.ToUpper(strconv.FormatBool(q.TailDrop))}
	for field, value := range map[string]*uint32{
		"QUEUE_DEPTH_THRESHOLD": q.Depth, "QUEUE_LATENCY_THRESHOLD": q.Latency, "THRESHOLD_BREACH_QUOTA": q.Quota,
	} {
		if value != nil {
			f[field] = number(*value)
		}
	}
	return f
}

func names(of map[string]string) string { return strings.Join(slices.Sorted(maps.Keys(of)), ", ") }

func number[T uint8 | uint16 | uint32](n T) string { return strconv.FormatUint(uint64(n), 10) }

// ports returns the names of ports that the file has, with where it has them.
func (c *Config) ports() map[string]string {
	all := map[string]string{}
	for _, port := range c.SinkPorts {
		all[port] = "sink_ports"
	}
	for port := range c.QueueReports {
		all[port] = "queue_reports"
	}
	return all
}
