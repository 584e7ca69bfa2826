package watch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A setter sets a field of an entry to a value of a file.
type setter func(e *Entry, value ast.Node) error

// keys has the keys of an entry in YAML: those that the tags of Entry say.
var keys = map[string]setter{
	"name":         parsed(func(e *Entry) *string { return &e.Name }, func(text string) (string, error) { return text, nil }),
	"priority":     parsed(func(e *Entry) *int { return &e.Priority }, parseInt),
	"src":          parsed(func(e *Entry) *Prefix { return &e.Src }, ParsePrefix),
	"dst":          parsed(func(e *Entry) *Prefix { return &e.Dst }, ParsePrefix),
	"src_port":     optional(func(e *Entry) **PortRange { return &e.SrcPort }, ParsePortRange),
	"dst_port":     optional(func(e *Entry) **PortRange { return &e.DstPort }, ParsePortRange),
	"protocol":     optional(func(e *Entry) **Protocol { return &e.Protocol }, ParseProtocol),
	"dscp":         optional(func(e *Entry) **uint8 { return &e.DSCP }, number[uint8](maxDSCP)),
	"vlan":         optional(func(e *Entry) **uint16 { return &e.VLAN }, number[uint16](maxVLAN)),
	"vni":          optional(func(e *Entry) **uint32 { return &e.VNI }, number[uint32](1<<32-1)),
	"ingress_port": optional(func(e *Entry) **uint32 { return &e.IngressPort }, number[uint32](1<<32-1)),
	"ignore":       parsed(func(e *Entry) *bool { return &e.Ignore }, parseBool),
	"instructions": setInstructions,
	"mode":         parsed(func(e *Entry) *Mode { return &e.Mode }, ParseMode),
	"sample":       parsed(func(e *Entry) *uint32 { return &e.Sample }, number[uint32](1<<32-1)),
	"sampling":     parsed(func(e *Entry) *Sampling { return &e.Sampling }, ParseSampling),
	"report_all":   parsed(func(e *Entry) *bool { return &e.ReportAll }, parseBool),
}

func knownKeys() string { return strings.Join(slices.Sorted(maps.Keys(keys)), ", ") }

// parsed makes a setter of the parser of a field.
func parsed[T any](field func(*Entry) *T, parse func(string) (T, error)) setter {
	return func(e *Entry, value ast.Node) error {
		v, err := parseScalar(value, parse)
		if err == nil {
			*field(e) = v
		}
		return err
	}
}

// optional is parsed for a field that may be absent.
func optional[T any](field func(*Entry) **T, parse func(string) (T, error)) setter {
	return func(e *Entry, value ast.Node) error {
		v, err := parseScalar(value, parse)
		if err == nil {
			*field(e) = &v
		}
		return err
	}
}

// parseScalar parses a single value. An empty one is an error: it would match every packet.
func parseScalar[T any](value ast.Node, parse func(string) (T, error)) (T, error) {
	var text string
	switch value.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = value.GetToken().Value
	default:
		var zero T
		return zero, errors.New("want a single value")
	}
	v, err := parse(text)
	if err != nil {
		return v, fmt.Errorf("got %q; %w", text, err)
	}
	return v, nil
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errors.New("want a whole number of 32 bits")
	}
	return int(n), nil
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("want true or false")
}

// number returns a parser of numbers up to limit; hexadecimal ones begin with 0x.
func number[T uint8 | uint16 | uint32](limit T) func(string) (T, error) {
	return func(text string) (T, error) {
		digits, base := text, 10
		if rest, ok := strings.CutPrefix(text, "0x"); ok {
			digits, base = rest, 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n > uint64(limit) {
			return 0, fmt.Errorf("want a number from 0 to %d", limit)
		}
		return T(n), nil
	}
}

func setInstructions(e *Entry, value ast.Node) error {
	list, ok := value.(*ast.SequenceNode)
	if !ok {
		return errors.New("want a list of names, for example [node_id, hop_latency]")
	}
	for _, item := range list.Values {
		one, err := parseScalar(item, ParseInstruction)
		if err != nil {
			return err
		}
		if e.Instructions&one != 0 {
			return fmt.Errorf("got %s twice", one)
		}
		e.Instructions |= one
	}
	return nil
}
