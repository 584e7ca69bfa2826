package bpf

import (
	"encoding/binary"
	"errors"

	"github.com/waybill-int/waybill/node/event"
)

// An Event is a packet that can be worth a report: as it came, and how it left.
type Event struct {
	ArrivedNs, EnqueuedNs, DepartedNs uint64
	QueueBytes                        uint64
	InPort, OutPort                   uint32 // OutPort 0: for this machine, or to an interface that is no port
	MTU                               int    // of the way out, 0: unknown
	Queue                             uint8
	TTL                               uint8    // as it left; 0: unknown
	MAC                               [12]byte // as it left: destination and source
	Len                               int      // of the packet as it came
	Bytes                             []byte   // the front of it; valid until the next Event is read

	// Of a packet that the kernel dropped: as it was then, and why. Others have Reason 0.
	Reason            uint16 // enum skb_drop_reason of the kernel, see DropReasons
	Record, RecordLen int    // where in Bytes the record of this node stands; 0: there is none
	Segments          int    // packets that a network card would have made of it; at least 1

	Congestion event.Verdict // of its queue
	Leaving    bool          // Bytes are as it left, with the record of this node; ArrivedNs 0: nobody knows
	Inserted   bool          // INT in Bytes is of this node
	Unwatched  bool          // no watchlist has chosen it
}

// eventHeader is the length of struct event of src/types.h in front of its bytes.
const eventHeader = 88

var errEvent = errors.New("an event of the programs is cut off")

// decode reads e as src/types.h lays it out.
func (e *Event) decode(b []byte) error {
	if len(b) < eventHeader {
		return errEvent
	}
	order := binary.LittleEndian
	e.ArrivedNs, e.DepartedNs, e.EnqueuedNs = order.Uint64(b[8:]), order.Uint64(b[16:]), order.Uint64(b[24:])
	e.QueueBytes, e.InPort, e.OutPort = order.Uint64(b[32:]), order.Uint32(b[40:]), order.Uint32(b[44:])
	e.MTU, e.Len = int(order.Uint32(b[48:])), int(order.Uint32(b[52:]))
	kept := int(order.Uint32(b[56:]))
	e.Queue, e.TTL, e.MAC = b[60], b[61], [12]byte(b[62:])
	e.Reason, e.Record, e.RecordLen = order.Uint16(b[74:]), int(order.Uint16(b[76:])), int(order.Uint16(b[78:]))
	met := b[80]
	e.Segments = max(1, int(order.Uint16(b[82:])))
	e.Congestion = event.Verdict{Congested: met&1 > 0}
	if met&2 > 0 {
		e.Congestion.Reason = event.QueueCongestion
		if e.Reason != 0 {
			e.Congestion.Reason = event.TailDrop
		}
	}
	e.Leaving, e.Inserted, e.Unwatched = met&4 > 0, met&8 > 0, met&16 > 0
	if kept > len(b)-eventHeader || kept > e.Len {
		return errEvent
	}
	e.Bytes = b[eventHeader : eventHeader+kept]
	return nil
}
