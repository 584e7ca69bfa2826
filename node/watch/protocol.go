package watch

import (
	"errors"
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// A Protocol is an IP protocol number.
type Protocol uint8

var errProtocol = errors.New("want the name or number of an IP protocol, for example tcp or 6")

// ParseProtocol reads a number or a name that telemetry.ProtocolName gives.
func ParseProtocol(text string) (Protocol, error) {
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		return Protocol(n), nil
	}
	for n := range 256 {
		if telemetry.ProtocolName(uint8(n)) == text {
			return Protocol(n), nil
		}
	}
	return 0, errProtocol
}

// String returns the usual name of p, or its number.
func (p Protocol) String() string { return telemetry.ProtocolName(uint8(p)) }

// MarshalText returns what String does.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
