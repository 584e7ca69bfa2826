package types

import (
	"fmt"

	"github.com/waybill-int/waybill/telemetry"
)

// A Protocol is an IP protocol, which JSON has by its name.
type Protocol uint8

// MarshalText returns the name.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(telemetry.ProtocolName(uint8(p))), nil }

// UnmarshalText reads the name.
func (p *Protocol) UnmarshalText(text []byte) error {
	for n := range 256 {
		if telemetry.ProtocolName(uint8(n)) == string(text) {
			*p = Protocol(n)
			return nil
		}
	}
	return fmt.Errorf("no protocol is named %q", text)
}

// A PathID is the id of a path, which JSON has as 16 hexadecimal digits.
type PathID uint64

// MarshalText returns the digits.
func (id PathID) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(id)), nil }

// UnmarshalText reads the digits.
func (id *PathID) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%x", (*uint64)(id))
	return err
}
