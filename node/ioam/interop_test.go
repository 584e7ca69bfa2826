package ioam

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/wire/ioam"
)

// The captures hold the same packets before and behind three Linux routers, which fill pre-allocated traces.
var (
	scenarios = []string{"ioam_basic", "ioam_full"}
	points    = []string{"h1", "r1r2", "r2r3", "recv"}
)

// TestInteropLinuxTransit gives to each packet the record that the next router has added, and gets the packet that this
// router has sent.
func TestInteropLinuxTransit(t *testing.T) {
	d, added := testDomain(), 0
	for _, scenario := range scenarios {
		for i := range len(points) - 1 {
			before, after := test.Packets(t, scenario+"_"+points[i]+".pcap"),
				test.Packets(t, scenario+"_"+points[i+1]+".pcap")
			for j := range before {
				want := found(t, after[j])
				out := routed(before[j], after[j])
				if len(want) > 0 {
					nodes, err := want[0].Nodes()
					var own ioam.Node
					if err != nil || !nodes.Next(&own) {
						t.Fatalf("%s frame %d: no record, %v", scenario, j+1, err)
					}
					out = transit(t, d, out, &own, 0, Added, Done)
					added++
				}
				wantSame(t, scenario+" behind "+points[i], out, after[j])
			}
		}
	}
	if want := 3 * (20 + 25); added != want {
		t.Errorf("added %d records, want %d", added, want)
	}
}

// routed is what forwarding alone makes of a packet: the MAC addresses of the next link and a lower Hop Limit.
func routed(before, after []byte) []byte {
	const hopLimitAt = 14 + 7
	out := bytes.Clone(before)
	copy(out, after[:12])
	out[hopLimitAt]--
	return out
}

// TestInteropLinuxEncapsulate takes the traces out of the captured packets and makes them again, at every point of the
// path: the layout is that of Linux, padding included.
func TestInteropLinuxEncapsulate(t *testing.T) {
	for _, scenario := range scenarios {
		for _, point := range points {
			for _, frame := range test.Packets(t, scenario+"_"+point+".pcap") {
				if options := found(t, frame); len(options) > 0 {
					wantSame(t, scenario+"_"+point, again(t, testDomain(), frame, &options[0]), frame)
				}
			}
		}
	}
}
