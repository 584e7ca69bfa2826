package ioam_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/wire/ioam"
)

// TestAddWritesWhatLinuxWrites adds to each captured trace the record that the next router added, and gets the option
// as it was captured behind that router, byte by byte.
func TestAddWritesWhatLinuxWrites(t *testing.T) {
	for _, scenario := range scenarios {
		for i := range len(points) - 1 {
			name := captureName(scenario, points[i+1])
			t.Run(name, func(t *testing.T) {
				before, after := readCapture(t, captureName(scenario, points[i])), readCapture(t, name)
				for j := range before {
					got, want := findOption(before[j]), findOption(after[j])
					if got == nil && want == nil {
						continue
					}
					addNode(t, got, &decodeOption(t, want).nodes[0])
					if !bytes.Equal(got, want) {
						t.Errorf("frame %d:\ngot  %x\nwant %x", j+1, got, want)
					}
				}
			})
		}
	}
}

// addNode adds node to the trace in the option data, in place.
func addNode(t *testing.T, data []byte, node *ioam.Node) {
	t.Helper()
	var option ioam.Option
	if _, err := option.Decode(data); err != nil {
		t.Fatal(err)
	}
	var header ioam.Trace
	n, err := header.Decode(option.Data)
	if err != nil {
		t.Fatal(err)
	}
	if added, err := header.AddPreallocated(option.Data[n:], node); !added {
		t.Fatalf("nothing added, %v", err)
	}
	if err := header.Update(option.Data); err != nil {
		t.Fatal(err)
	}
}

// TestAddToFullTraceSetsOverflowOnly adds a fourth node to the captured traces with three slots.
func TestAddToFullTraceSetsOverflowOnly(t *testing.T) {
	full := 0
	for _, frame := range readCapture(t, "ioam_basic_recv.pcap") {
		data := findOption(frame)
		if data == nil {
			continue
		}
		d := decodeOption(t, data)
		if d.freeWords > 0 {
			continue
		}
		full++
		want := bytes.Clone(data)
		want[2+2] |= 0x04 // behind the option's 2 bytes and the Namespace-ID
		if added, err := d.header.AddPreallocated(d.space, &d.nodes[0]); added || err != nil {
			t.Fatalf("got %v, %v; want nothing added, no error", added, err)
		}
		if err := d.header.Update(data[2:]); err != nil || !bytes.Equal(data, want) {
			t.Errorf("got %x, %v\nwant %x", data, err, want)
		}
	}
	if full != 10 {
		t.Errorf("got %d full traces, want 10", full)
	}
}
