package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatElements returns a route as text: "1[3,2] > ?(1) > 2[2,3]!".
func FormatElements(elements []PathElement) string {
	texts := make([]string, len(elements))
	for i := range elements {
		if s := &elements[i]; s.Missing > 0 {
			texts[i] = "?(" + strconv.Itoa(int(s.Missing)) + ")"
		} else {
			texts[i] = s.Place.String()
		}
	}
	return strings.Join(texts, " > ")
}

// ParseElements reads what FormatElements returns.
func ParseElements(text string) ([]PathElement, error) {
	elements := []PathElement{}
	if text == "" {
		return elements, nil
	}
	for part := range strings.SplitSeq(text, " > ") {
		var s PathElement
		missing, gap := strings.CutPrefix(part, "?(")
		missing, closed := strings.CutSuffix(missing, ")")
		if n, err := strconv.ParseUint(missing, 10, 8); gap && closed && err == nil && n > 0 {
			s.Missing = uint8(n)
		} else if !s.parse(part) {
			return nil, fmt.Errorf("%.40q is no element of a route", part)
		}
		elements = append(elements, s)
	}
	return elements, nil
}

// parse reads what String returns, and reports whether it can.
func (p *Place) parse(text string) bool {
	rest, dropped := strings.CutSuffix(text, "!")
	rest, closed := strings.CutSuffix(rest, "]")
	node, ports, opened := strings.Cut(rest, "[")
	in, out, both := strings.Cut(ports, ",")
	if dropped {
		p.Has |= HasDrop
	}
	for _, field := range []struct {
		text string
		has  Fields
		to   *uint32
	}{{node, HasNode, &p.Node}, {in, HasIngressPort, &p.IngressPort}, {out, HasEgressPort, &p.EgressPort}} {
		if field.text == "?" {
			continue
		}
		n, err := strconv.ParseUint(field.text, 10, 32)
		if err != nil {
			return false
		}
		p.Has, *field.to = p.Has|field.has, uint32(n)
	}
	return closed && opened && both
}
