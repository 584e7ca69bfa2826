package inband

import "github.com/waybill-int/waybill/wire"

// INT header types, in the Type field of every shim and in the Type of a Geneve option.
const (
	// TypeHopByHop is the header that every node on the path adds to, up to INT 1.0.
	TypeHopByHop uint8 = 1
	// TypeMD is the INT-MD header, which every node on the path adds to, from INT 2.0 on (INT 2.1 §5.1).
	TypeMD uint8 = 1
	// TypeDestination is for the sink only. Its contents are not defined from INT 0.5 on.
	TypeDestination uint8 = 2
	// TypeMX is the INT-MX header: instructions without a stack (INT 2.1 §5.1, §5.9).
	TypeMX uint8 = 3
	// TypeHostINT is the header of Intel's Host-INT, in the layout of INT 0.5, with the sequence number of the packet
	// in its flow behind the stack. It is no type of INT: only of sources that are known to send it.
	TypeHostINT uint8 = 3
)

// CheckType returns [wire.ErrUnknownINTType] if the family has no such INT header type.
func CheckType(fam Family, t uint8) error {
	switch {
	case t == TypeHopByHop, t == TypeDestination, t == TypeMX && fam != FamilyOld:
		return nil
	}
	return wire.ErrUnknownINTType
}
