package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatStations returns a route as text: "1[3,2] > ?(1) > 2[2,3]!".
func FormatStations(stations []Station) string {
	texts := make([]string, len(stations))
	for i := range stations {
		if s := &stations[i]; s.Missing > 0 {
			texts[i] = "?(" + strconv.Itoa(int(s.Missing)) + ")"
		} else {
			texts[i] = s.Place.String()
		}
	}
	return strings.Join(texts, " > ")
}

// ParseStations reads what FormatStations returns.
func ParseStations(text string) ([]Station, error) {
	stations := []Station{}
	if text == "" {
		return stations, nil
	}
	for part := range strings.SplitSeq(text, " > ") {
		var s Station
		missing, gap := strings.CutPrefix(part, "?(")
		missing, closed := strings.CutSuffix(missing, ")")
		if n, err := strconv.ParseUint(missing, 10, 8); gap && closed && err == nil && n > 0 {
			s.Missing = uint8(n)
		} else if !s.parse(part) {
			return nil, fmt.Errorf("%.40q is no station of a route", part)
		}
		stations = append(stations, s)
	}
	return stations, nil
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
