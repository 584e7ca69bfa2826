//go:build linux

package bpf

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/waybill-int/waybill/node"
)

// BenchmarkReporter makes the report of a sink of a packet of so many bytes, of which the programs kept 200: the work
// of user space between the ring buffer and a socket.
func BenchmarkReporter(b *testing.B) {
	for _, size := range []int{200, 1514} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			frame := udpFrames(1)[0]
			binary.BigEndian.PutUint16(frame[16:], uint16(size-14)) // the length of IP
			binary.BigEndian.PutUint16(frame[38:], uint16(size-34))
			clear(frame[24:26])
			sum(frame[14:34], frame[24:26], 0)
			r := Reporter{Node: newNode(b, "mode: xd\nwatch: [{report_all: true}]", testSpec(9, true, true), unsampled)}
			e := Event{
				Bytes: frame, Len: size, InPort: 1, OutPort: 2, MTU: 1500, TTL: 63, ArrivedNs: 1000, EnqueuedNs: 1500,
				DepartedNs: 2000, Segments: 1,
			}
			var out node.Output
			b.ReportAllocs()
			for b.Loop() {
				r.Report(&e, &out)
			}
			if len(out.Reports) != 1 {
				b.Fatalf("%d reports", len(out.Reports))
			}
		})
	}
}
