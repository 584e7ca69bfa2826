package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const tail05Len = 4

// A Tail05 ends INT 0.5 over TCP and UDP: it stands behind the stack, before the payload (INT 0.5 §5.3.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|     Proto     |       Destination Port        |     DSCP      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Tail05 struct {
	Proto   uint8  // copy of the IPv4 protocol or IPv6 next header
	DstPort uint16 // original TCP or UDP destination port, whether or not INT changed it
	DSCP    uint8  // the whole byte: reserved, or the original DSCP; GEANT writes it as a plain number, not shifted
}

// Decode reads t from the front of b and returns 4. The only error is [wire.ErrTailMissing].
func (t *Tail05) Decode(b []byte) (int, error) {
	*t = Tail05{}
	if len(b) < tail05Len {
		return 0, wire.ErrTailMissing
	}
	t.Proto = b[0]
	t.DstPort = binary.BigEndian.Uint16(b[1:])
	t.DSCP = b[3]
	return tail05Len, nil
}

// Append appends the 4 bytes of t to b.
func (t *Tail05) Append(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(append(b, t.Proto), t.DstPort), t.DSCP)
}

// Len returns 4.
func (t *Tail05) Len() int { return tail05Len }

// CutTail05 takes the tail off contents, the Contents of a shim of INT 0.5 over TCP or UDP, and returns what is left:
// the INT header and the stack, a view into contents. Contents that cannot hold header and tail have no tail:
// [wire.ErrTailMissing]. Do not call it on contents that were cut off: their last bytes are not the tail.
func CutTail05(contents []byte) ([]byte, Tail05, error) {
	var t Tail05
	n := len(contents) - tail05Len
	if n < header05Len {
		return view(contents), t, wire.ErrTailMissing
	}
	_, err := t.Decode(contents[n:])
	return view(contents[:n]), t, err
}
