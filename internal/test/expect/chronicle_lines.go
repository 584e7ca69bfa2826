package expect

import (
	"bytes"

	"github.com/waybill-int/waybill/fabric/truth"
)

// Most lines of a truth are hops and reports. They are read here, ten times as fast as encoding/json does it: a proof of ten minutes
// has a hundred million. TestLines holds both to the same.

// numbers calls set for each field of a flat JSON object whose value is a number that is not negative; behind its type.
func numbers(fields []byte, set func(name []byte, v uint64)) {
	for {
		begin := bytes.IndexByte(fields, '"')
		if begin < 0 {
			return
		}
		fields = fields[begin+1:]
		end := bytes.IndexByte(fields, '"')
		name := fields[:end]
		v := uint64(0)
		i := end + 2
		for ; i < len(fields) && fields[i] >= '0' && fields[i] <= '9'; i++ {
			v = 10*v + uint64(fields[i]-'0')
		}
		set(name, v)
		fields = fields[i:]
	}
}

// hopOf reads a hop.
func hopOf(h *truth.Hop, fields []byte) {
	numbers(fields, func(name []byte, v uint64) {
		switch string(name) {
		case "packet":
			h.Packet = v
		case "flow":
			h.Flow = uint32(v)
		case "hop":
			h.Hop = uint8(v)
		case "node":
			h.Node = uint32(v)
		case "in":
			h.In = uint32(v)
		case "out":
			h.Out = uint32(v)
		case "queue":
			h.Queue = uint8(v)
		case "in_ns":
			h.InNs = int64(v)
		case "out_ns":
			h.OutNs = int64(v)
		case "latency_ns":
			h.LatencyNs = int64(v)
		case "in_clock":
			h.InClock = v
		case "out_clock":
			h.OutClock = v
		case "depth":
			h.Depth = v
		case "buffer":
			h.Buffer = v
		case "utilization":
			h.Utilization = v
		case "length":
			h.Length = int(v)
		}
	})
}

// reportOf reads a report.
func reportOf(r *truth.Report, fields []byte) {
	numbers(fields, func(name []byte, v uint64) {
		switch string(name) {
		case "t_ns":
			r.TimeNs = int64(v)
		case "node":
			r.Node = uint32(v)
		case "number":
			r.Number = v
		case "packet":
			r.Packet = v
		case "flow":
			r.Flow = uint32(v)
		case "length":
			r.Length = int(v)
		}
	})
}
