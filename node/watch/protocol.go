package watch

import (
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// A Protocol is an IP protocol number.
type Protocol uint8

// UnmarshalText reads a number or a name that telemetry.ProtocolName gives.
func (p *Protocol) UnmarshalText(text []byte) error {
	n, ok := telemetry.ParseProtocol(string(text))
	if *p = Protocol(n); !ok {
		return unit.Want("the name or number of an IP protocol, for example tcp or 6")
	}
	return nil
}

// String returns the usual name of p, or its number.
func (p Protocol) String() string { return telemetry.ProtocolName(uint8(p)) }

// MarshalText returns what String does.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
