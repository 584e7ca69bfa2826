package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// pointFlags are the flags that say what announces telemetry and how its sources speak.
type pointFlags struct {
	file     string
	set      []string
	dialects []string
	values   []*pointFlag
	auto     bool // --dialect auto
}

// A pointFlag sets one code point. It is the Value of its flag.
type pointFlag struct {
	name, key, placeholder string
	value                  string
	given                  bool
}

// Set remembers the value: it takes effect when the file has been read.
func (f *pointFlag) Set(value string) error {
	f.value, f.given = value, true
	return nil
}

func (f *pointFlag) String() string { return f.value }

// Type returns what stands for the value in the help.
func (f *pointFlag) Type() string { return f.placeholder }

func (p *pointFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&p.dialects, "dialect", nil,
		"dialect `[SRC=]NAME` of a source, PREFIX[:PORT], or of all; may be repeated; auto: say which one reads a file")
	f.StringVar(&p.file, "code-points", "", "`FILE` of code points in YAML or JSON")
	f.StringArrayVar(&p.set, "set", nil, "set a code point `KEY=VALUE`; see --list-code-points; may be repeated")
	p.values = []*pointFlag{
		{name: "report-port", key: "report_port", placeholder: "PORT,..."},
		{name: "int-port", key: "int_udp_port", placeholder: "PORT"},
		{name: "dscp", key: "int_dscp", placeholder: "VALUE[/MASK]"},
		{name: "int-before-tcp-options", key: "int_before_tcp_options", placeholder: "BOOL"},
		{name: "probe-marker", key: "probe_marker", placeholder: "VALUE"},
		{name: "gre-protocol", key: "gre_int_protocol", placeholder: "VALUE"},
		{name: "geneve-class", key: "geneve_int_class", placeholder: "CLASS,..."},
		{name: "gpe-int-next-protocol", key: "vxlan_gpe_int_next_protocols", placeholder: "VALUE,..."},
		{name: "gpe-next-protocol-5", key: "vxlan_gpe_next_protocol_5", placeholder: "MEANING"},
		{name: "gpe-ioam-next-protocol", key: "vxlan_gpe_ioam_next_protocol", placeholder: "VALUE"},
		{name: "int-version-0", key: "int_format_for_version_0", placeholder: "LAYOUT"},
		{name: "ifa-protocol", key: "ifa_ip_protocol", placeholder: "VALUE"},
	}
	for _, flag := range p.values {
		f.Var(flag, flag.name, codepoint.Keys()[flag.key])
	}
}

// config returns the code points of a deployment that configured nothing else, ready for use.
func (p *pointFlags) config() (*codepoint.Config, error) {
	c := codepoint.New()
	if err := p.apply(c); err != nil {
		return nil, err
	}
	c.Compile()
	return c, nil
}

// apply sets in c the code points of the file, then those of --set, then those with flags of their own. Dialects of the
// command line come before all others, and so win where several name the same source. c must be compiled afterwards.
func (p *pointFlags) apply(c *codepoint.Config) error {
	rules, err := p.rules()
	if err != nil {
		return err
	}
	if p.file != "" {
		if err := applyFile(c, p.file); err != nil {
			return fmt.Errorf("--code-points: %w", err)
		}
	}
	for _, text := range p.set {
		if err := setPoint(c, text); err != nil {
			return fmt.Errorf("--set: %w", err)
		}
	}
	for _, flag := range p.values {
		if !flag.given {
			continue
		}
		if err := flag.apply(c); err != nil {
			return fmt.Errorf("--%s: %w", flag.name, err)
		}
	}
	c.Rules = append(rules, c.Rules...)
	return nil
}

// rules returns the dialects of --dialect.
func (p *pointFlags) rules() ([]codepoint.Rule, error) {
	var rules []codepoint.Rule
	for _, text := range p.dialects {
		if p.auto = text == autoDialect; p.auto {
			if len(p.dialects) > 1 {
				return nil, errors.New("--dialect auto: no other dialect can be given with it")
			}
			return nil, nil
		}
		source, name := "any", text
		if i := strings.LastIndex(text, "="); i >= 0 {
			source, name = text[:i], text[i+1:]
		}
		rule, err := codepoint.ParseRule(source, name)
		if err != nil {
			return nil, fmt.Errorf("--dialect: %w", err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// setPoint sets a code point given as "KEY=VALUE".
func setPoint(c *codepoint.Config, text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("got %q, want KEY=VALUE", text)
	}
	v, err := pointValue(value)
	if err != nil {
		return err
	}
	return c.Set(key, v)
}

// apply sets the flag's code point.
func (f *pointFlag) apply(c *codepoint.Config) error {
	value, mask, ok := strings.Cut(f.value, "/")
	if f.key != "int_dscp" || !ok {
		return c.Set(f.key, f.value)
	}
	if err := c.Set("int_dscp_mask", mask); err != nil {
		return err
	}
	return c.Set(f.key, value)
}

// pointValue reads a value of --set: a mapping or list in YAML or JSON notation, or text.
func pointValue(text string) (any, error) {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return text, nil
	}
	var v any
	if _, err := (conf.Kind{}).Parse("", []byte(text), &v); err != nil {
		return nil, fmt.Errorf("%s: %s", text, command.FirstLine(err))
	}
	return v, nil
}

// applyFile sets the code points of a YAML or JSON file.
func applyFile(c *codepoint.Config, name string) error {
	_, err := conf.Kind{}.Load(name, c)
	return err
}
