package watch

import (
	"errors"
	"strconv"
	"strings"
)

// A PortRange is the ports from Low to High, both included. Packets without ports have port 0.
type PortRange struct{ Low, High uint16 }

var errPorts = errors.New("want a port or a range of ports, for example 443 or 8000-8999")

// ParsePortRange reads "80" or "8000-8999".
func ParsePortRange(text string) (PortRange, error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	l, err := strconv.ParseUint(low, 10, 16)
	if err != nil {
		return PortRange{}, errPorts
	}
	h, err := strconv.ParseUint(high, 10, 16)
	if err != nil {
		return PortRange{}, errPorts
	}
	return PortRange{uint16(l), uint16(h)}, nil
}

// String returns what ParsePortRange reads.
func (r PortRange) String() string {
	text := strconv.Itoa(int(r.Low))
	if r.Low != r.High {
		text += "-" + strconv.Itoa(int(r.High))
	}
	return text
}

// MarshalText returns what String does.
func (r PortRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
