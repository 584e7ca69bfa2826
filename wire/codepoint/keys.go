package codepoint

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

var (
	gpe5Names = map[string]GPE5{
		"none": GPE5None, "int-2016": GPE5INT2016, "int-0.5": GPE5INT05, "ioam": GPE5IOAM,
		"mpls": GPE5MPLS,
	}
	version0Names = map[string]Version0{
		"none": Version0None, "2016": Version0INT2016, "v0.5": Version0INT05,
		"v1.0": Version0INT10,
	}
)

// keys are the names of the code points in configuration files and in --set.
var keys = map[string]struct {
	help string
	set  func(c *Config, v any) error
}{
	"report_port": {
		"UDP destination port, or list of ports, of telemetry reports",
		setList(func(c *Config) *[]uint16 { return &c.ReportPorts }),
	},
	"int_udp_port": {
		"UDP destination port of INT 2.x (no default)",
		setNumber(func(c *Config) *uint16 { return &c.INTUDPPort }, math.MaxUint16),
	},
	"int_dscp": {"DSCP value that marks INT behind TCP or UDP (no default)", setDSCP},
	"int_dscp_mask": {
		"bits of the DSCP that int_dscp is compared under (63)",
		setNumber(func(c *Config) *uint8 { return &c.INTDSCPMask }, 63),
	},
	"int_before_tcp_options": {
		"true: INT stands between the fixed TCP header and its options (false)",
		setBool(func(c *Config) *bool { return &c.INTBeforeTCPOptions }),
	},
	"probe_marker": {
		"64 bit marker at the start of the TCP or UDP payload (no default)",
		setNumber(func(c *Config) *uint64 { return &c.ProbeMarker }, math.MaxUint64),
	},
	"gre_int_protocol": {
		"GRE protocol type of INT (no default)",
		setNumber(func(c *Config) *uint16 { return &c.GREProtocol }, math.MaxUint16),
	},
	"geneve_int_class": {"Geneve option class, or list of classes, of INT besides 0x0103", setGeneve},
	"vxlan_gpe_int_next_protocols": {
		"VXLAN-GPE next protocol values of INT (0x08, 0x80, 0x82)",
		setList(func(c *Config) *[]uint8 { return &c.GPENextProtocols }),
	},
	"vxlan_gpe_next_protocol_5": {
		"meaning of VXLAN-GPE next protocol 5: int-2016, int-0.5, ioam, mpls or none",
		setEnum(func(c *Config) *GPE5 { return &c.GPENextProtocol5 },
			gpe5Names),
	},
	"vxlan_gpe_ioam_next_protocol": {
		"VXLAN-GPE next protocol of IOAM (no default)",
		setNumber(func(c *Config) *uint8 { return &c.GPEIOAMNextProtocol }, math.MaxUint8),
	},
	"int_format_for_version_0": {
		"layout of INT headers with version nibble 0: 2016, v0.5, v1.0 or none",
		setEnum(func(c *Config) *Version0 { return &c.FormatVersion0 },
			version0Names),
	},
	"ifa_ip_protocol": {
		"IP protocol of IFA 2.0 (no default)",
		setNumber(func(c *Config) *uint8 { return &c.IFAProtocol }, math.MaxUint8),
	},
	"ds_lengths": {
		`lengths of domain-specific metadata: {domain: {bit: BYTES or "source-only BYTES"}}`,
		setDomains,
	},
	"profile":  {"dialect of every source that dialects does not name, or none", setProfile},
	"dialects": {"{SOURCE: NAME}: dialect by source prefix and port", setDialects},
	"source_nodes": {
		"{ADDRESS: NODE}: node of reports from that address that do not say it, as some of TR 0.5",
		setSourceNodes,
	},
}

// Keys returns the name and the meaning of every code point, for help texts.
func Keys() map[string]string {
	help := make(map[string]string, len(keys))
	for name, k := range keys {
		help[name] = k.help
	}
	return help
}

// Keys returns those that Set takes.
func (c *Config) Keys() map[string]string { return Keys() }

// Set changes one code point. Values are what a YAML or JSON decoder makes of them: numbers may also be text
// ("0x4568").
func (c *Config) Set(key string, value any) error {
	k, ok := keys[key]
	if !ok {
		return fmt.Errorf("unknown code point %q; known are %s", key,
			strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}
	if err := k.set(c, value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// Apply sets every code point in m.
func (c *Config) Apply(m map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := c.Set(key, m[key]); err != nil {
			return err
		}
	}
	return nil
}

// Map returns the code points that are set, in the form that Apply takes.
func (c *Config) Map() map[string]any {
	m := map[string]any{
		"report_port": c.ReportPorts, "geneve_int_class": c.GeneveClasses,
		"vxlan_gpe_int_next_protocols": numbers(c.GPENextProtocols),
	}
	put := func(key string, value any, set bool) {
		if set {
			m[key] = value
		}
	}
	put("int_udp_port", c.INTUDPPort, c.INTUDPPort != 0)
	put("int_dscp", c.INTDSCP, c.INTDSCPMask != 0)
	put("int_dscp_mask", c.INTDSCPMask, c.INTDSCPMask != 0)
	put("int_before_tcp_options", true, c.INTBeforeTCPOptions)
	put("probe_marker", fmt.Sprintf("%#016x", c.ProbeMarker), c.ProbeMarker != 0)
	put("gre_int_protocol", c.GREProtocol, c.GREProtocol != 0)
	put("vxlan_gpe_next_protocol_5", nameOf(gpe5Names, c.GPENextProtocol5), c.GPENextProtocol5 != GPE5None)
	put("vxlan_gpe_ioam_next_protocol", c.GPEIOAMNextProtocol, c.GPEIOAMNextProtocol != 0)
	put("int_format_for_version_0", nameOf(version0Names, c.FormatVersion0), c.FormatVersion0 != Version0None)
	put("ifa_ip_protocol", c.IFAProtocol, c.IFAProtocol != 0)
	domains := map[string]any{}
	for id, d := range c.Domains {
		bits := map[string]any{}
		for bit := range d {
			switch {
			case d[bit].SourceOnly:
				bits[strconv.Itoa(bit)] = fmt.Sprintf("source-only %d", d[bit].Bytes)
			case d[bit].Bytes > 0:
				bits[strconv.Itoa(bit)] = d[bit].Bytes
			}
		}
		domains[fmt.Sprintf("%#04x", id)] = bits
	}
	put("ds_lengths", domains, len(domains) > 0)
	dialects := map[string]any{}
	for _, r := range c.Rules {
		dialects[r.source()] = r.Dialect.Name
	}
	put("dialects", dialects, len(dialects) > 0)
	sources := map[string]any{}
	for address, node := range c.SourceNodes {
		sources[address.String()] = node
	}
	put("source_nodes", sources, len(sources) > 0)
	return m
}

// numbers keeps a list of bytes from being taken for binary data.
func numbers(bytes []uint8) []int {
	list := make([]int, len(bytes))
	for i, b := range bytes {
		list[i] = int(b)
	}
	return list
}

func nameOf[T comparable](names map[string]T, value T) string {
	for name, v := range names {
		if v == value {
			return name
		}
	}
	return ""
}

func number(v any, limit uint64) (uint64, error) {
	text := strings.ReplaceAll(fmt.Sprint(v), "_", "")
	if f, ok := v.(float64); ok { // JSON numbers
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("got %q, want a number", text)
	}
	if n > limit {
		return 0, fmt.Errorf("got %d, want at most %d", n, limit)
	}
	return n, nil
}

func setNumber[T uint8 | uint16 | uint64](field func(*Config) *T, limit uint64) func(*Config, any) error {
	return func(c *Config, v any) error {
		n, err := number(v, limit)
		if err == nil {
			*field(c) = T(n)
		}
		return err
	}
}

func setBool(field func(*Config) *bool) func(*Config, any) error {
	return func(c *Config, v any) error {
		b, err := strconv.ParseBool(fmt.Sprint(v))
		if err != nil {
			return fmt.Errorf("got %q, want true or false", fmt.Sprint(v))
		}
		*field(c) = b
		return nil
	}
}

func setEnum[T uint8 | GPE5 | Version0](field func(*Config) *T, values map[string]T) func(*Config, any) error {
	return func(c *Config, v any) error {
		value, ok := values[fmt.Sprint(v)]
		if !ok {
			return fmt.Errorf("got %q, want one of %s", fmt.Sprint(v),
				strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		*field(c) = value
		return nil
	}
}

// list turns one value, a list of values or comma separated text into a list.
func list(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []uint16:
		return anys(v)
	case []int:
		return anys(v)
	case string:
		var items []any
		for item := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(item))
		}
		return items
	}
	return []any{v}
}

func anys[T any](values []T) []any {
	items := make([]any, len(values))
	for i, v := range values {
		items[i] = v
	}
	return items
}

func setList[T uint8 | uint16](field func(*Config) *[]T) func(*Config, any) error {
	return func(c *Config, v any) error {
		var values []T
		for _, item := range list(v) {
			n, err := number(item, uint64(^T(0)))
			if err != nil {
				return err
			}
			values = append(values, T(n))
		}
		*field(c) = values
		return nil
	}
}

func setGeneve(c *Config, v any) error {
	if err := setList(func(c *Config) *[]uint16 { return &c.GeneveClasses })(c, v); err != nil {
		return err
	}
	if !slices.Contains(c.GeneveClasses, 0x0103) {
		c.GeneveClasses = append(c.GeneveClasses, 0x0103)
	}
	return nil
}

func setDSCP(c *Config, v any) error {
	n, err := number(v, 63)
	if err != nil {
		return err
	}
	c.INTDSCP = uint8(n)
	if c.INTDSCPMask == 0 {
		c.INTDSCPMask = 63
	}
	return nil
}

// pairs turns a map with any kind of keys into one with text keys, as YAML decoders may give either.
func pairs(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = value
		}
		return m, nil
	}
	return nil, fmt.Errorf("got %v, want a mapping", v)
}

func setDomains(c *Config, v any) error {
	domains, err := pairs(v)
	if err != nil {
		return err
	}
	for id, v := range domains {
		domain, err := number(id, math.MaxUint16)
		if err != nil {
			return err
		}
		bits, err := pairs(v)
		if err != nil {
			return fmt.Errorf("domain %s: %w", id, err)
		}
		var d Domain
		for key, length := range bits {
			bit, err := number(key, 15)
			if err != nil {
				return fmt.Errorf("domain %s: bit: %w", id, err)
			}
			text, sourceOnly := strings.CutPrefix(fmt.Sprint(length), "source-only ")
			n, err := number(text, 124)
			if err != nil || n%4 != 0 || n == 0 {
				return fmt.Errorf("domain %s, bit %s: got %v, want a multiple of 4 bytes, or \"source-only BYTES\"", id,
					key, length)
			}
			d[bit] = DSBit{Bytes: int(n), SourceOnly: sourceOnly}
		}
		c.Domains[uint16(domain)] = &d
	}
	return nil
}

func setSourceNodes(c *Config, v any) error {
	sources, err := pairs(v)
	if err != nil {
		return err
	}
	nodes := make(map[netip.Addr]uint32, len(sources))
	for text, v := range sources {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return fmt.Errorf("got %q, want an address", text)
		}
		node, err := number(v, math.MaxUint32)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		nodes[address.Unmap()] = uint32(node)
	}
	c.SourceNodes = nodes
	return nil
}

func setProfile(c *Config, v any) error {
	if fmt.Sprint(v) == "none" {
		return nil
	}
	r, err := ParseRule("any", fmt.Sprint(v))
	if err == nil {
		c.Rules = append(c.Rules, r)
	}
	return err
}

func setDialects(c *Config, v any) error {
	sources, err := pairs(v)
	if err != nil {
		return err
	}
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		r, err := ParseRule(source, fmt.Sprint(sources[source]))
		if err != nil {
			return err
		}
		c.Rules = append(c.Rules, r)
	}
	return nil
}
