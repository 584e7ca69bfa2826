package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

// AddPreallocated adds the record of a transit node to a pre-allocated trace (RFC 9197 §4.4): it writes n at the end
// of the free space of space, the data space, and lowers RemainingLen. The packet keeps its size.
//
// It reports false and leaves space as it is if there is not enough room or Overflow was set before; Overflow is set
// then. The fields of undefined trace type bits are filled with all ones. On an error nothing changes: the errors are
// those of Check, and wire.ErrIOAMRemainingLen if the free space is larger than space.
//
// Whether the node knows the namespace is for the caller to see; if not, it must not add. Update writes the changed
// header fields into the packet.
func (t *Trace) AddPreallocated(space []byte, n *Node) (bool, error) {
	if 4*int(t.RemainingLen) > len(space) {
		return false, wire.ErrIOAMRemainingLen
	}
	record := fillUndefined(n)
	if ok, err := t.take(&record); !ok {
		return false, err
	}
	// The words just taken lie between the lowered RemainingLen and the older records, so this append stays in space.
	record.Append(space[:4*int(t.RemainingLen)], t.Type)
	return true, nil
}

// AddIncremental adds the record of a transit node to an incremental trace (RFC 9197 §4.4): it appends the record to
// dst and lowers RemainingLen. The caller inserts the record directly behind the trace header, before the older ones,
// and adds its size to the lengths of the carrier.
//
// Everything else is as for AddPreallocated; where that reports false, dst is returned as it was.
func (t *Trace) AddIncremental(dst []byte, n *Node) ([]byte, bool, error) {
	record := fillUndefined(n)
	if ok, err := t.take(&record); !ok {
		return dst, false, err
	}
	return record.Append(dst, t.Type), true, nil
}

// Update writes the two fields that adding changes, Overflow and RemainingLen, into header, the trace header in the
// packet. All other bits stay as they were received, reserved ones too; Append would clear those.
// Fewer than 8 bytes are wire.ErrTruncatedIOAM.
func (t *Trace) Update(header []byte) error {
	if len(header) < traceLen {
		return wire.ErrTruncatedIOAM
	}
	lengths := binary.BigEndian.Uint16(header[2:])
	lengths = lengths&^traceRemainingMask | uint16(t.RemainingLen)&traceRemainingMask
	if t.Overflow {
		lengths |= traceOverflow
	}
	binary.BigEndian.PutUint16(header[2:], lengths)
	return nil
}

// take lowers RemainingLen by the size of record, or sets Overflow and reports false.
func (t *Trace) take(record *Node) (bool, error) {
	if err := t.Check(); err != nil {
		return false, err
	}
	words := record.LenFor(t.Type) / 4
	if t.Overflow || words > int(t.RemainingLen) {
		t.Overflow = true
		return false, nil
	}
	t.RemainingLen -= uint8(words)
	return true, nil
}

// fillUndefined returns a copy of n that says "not available" for the undefined bits: a node that does not know them
// may fill them so (RFC 9197 §4.4.1).
func fillUndefined(n *Node) Node {
	record := *n
	record.Unavailable |= BitsUndefined
	return record
}
