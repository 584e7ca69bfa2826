package ioam_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

func shortNode() ioam.Node {
	return ioam.Node{HopLimit: 61, NodeID: 0x303, IngressIf: 31, EgressIf: 32, TsSec: 0x65000003}
}

const shortNodeHex = "3d000303 001f0020 65000003"

func TestAddPreallocated(t *testing.T) {
	space := wiretest.Hex(t, spaceHex)
	want := append(wiretest.Hex(t, shortNodeHex), space[12:]...)
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000}
	node := shortNode()

	added, err := trace.AddPreallocated(space, &node)
	if !added || err != nil {
		t.Fatalf("got %v, %v; want true, no error", added, err)
	}
	if !bytes.Equal(space, want) {
		t.Errorf("data space:\ngot  %x\nwant %x", space, want)
	}
	if trace.RemainingLen != 0 || trace.Overflow {
		t.Errorf("header: got %+v; want RemainingLen 0, no overflow", trace)
	}
}

func TestAddIncremental(t *testing.T) {
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 4, Type: 0xe00000}
	node := shortNode()
	got, added, err := trace.AddIncremental([]byte("before"), &node)
	if !added || err != nil {
		t.Fatalf("got %v, %v; want true, no error", added, err)
	}
	if want := append([]byte("before"), wiretest.Hex(t, shortNodeHex)...); !bytes.Equal(got, want) {
		t.Errorf("record:\ngot  %x\nwant %x", got, want)
	}
	if trace.RemainingLen != 1 || trace.Overflow {
		t.Errorf("header: got %+v; want RemainingLen 1, no overflow", trace)
	}
}

// TestAddNothing holds that a node that cannot add all its words adds none, sets the overflow flag once, and that a
// broken header is left as it is (RFC 9197 §4.4.1).
func TestAddNothing(t *testing.T) {
	tests := []struct {
		name   string
		before ioam.Trace
		after  ioam.Trace
		err    error
	}{
		{
			"one word missing",
			ioam.Trace{NodeLen: 3, RemainingLen: 2, Type: 0xe00000},
			ioam.Trace{NodeLen: 3, RemainingLen: 2, Type: 0xe00000, Overflow: true},
			nil,
		},
		{
			"room for the fields, not for the snapshot",
			ioam.Trace{NodeLen: 2, RemainingLen: 3, Type: 0xc00002},
			ioam.Trace{NodeLen: 2, RemainingLen: 3, Type: 0xc00002, Overflow: true},
			nil,
		},
		{
			"overflow before",
			ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000, Overflow: true},
			ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000, Overflow: true},
			nil,
		},
		{
			"NodeLen 0",
			ioam.Trace{RemainingLen: 3, Type: 0xe00000},
			ioam.Trace{RemainingLen: 3, Type: 0xe00000},
			wire.ErrIOAMNodeLenZero,
		},
		{
			"NodeLen not of the type",
			ioam.Trace{NodeLen: 2, RemainingLen: 3, Type: 0xe00000},
			ioam.Trace{NodeLen: 2, RemainingLen: 3, Type: 0xe00000},
			wire.ErrIOAMNodeLenMismatch,
		},
	}
	node := shortNode()
	node.Snapshot = ioam.Snapshot{SchemaID: 1, Data: []byte("abcd")}
	for _, tt := range tests {
		t.Run("pre-allocated "+tt.name, func(t *testing.T) {
			space, trace := wiretest.Hex(t, spaceHex), tt.before
			added, err := trace.AddPreallocated(space, &node)
			if added || err != tt.err || trace != tt.after {
				t.Errorf("got %v, %v, %+v; want false, %v, %+v", added, err, trace, tt.err, tt.after)
			}
			if !bytes.Equal(space, wiretest.Hex(t, spaceHex)) {
				t.Errorf("data space changed: %x", space)
			}
		})
		t.Run("incremental "+tt.name, func(t *testing.T) {
			trace := tt.before
			got, added, err := trace.AddIncremental([]byte("before"), &node)
			if added || err != tt.err || trace != tt.after || string(got) != "before" {
				t.Errorf("got %q, %v, %v, %+v; want \"before\", false, %v, %+v", got, added, err, trace, tt.err,
					tt.after)
			}
		})
	}
}

func TestAddPreallocatedFreeSpaceOverTheEnd(t *testing.T) {
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000}
	before, node := trace, shortNode()
	added, err := trace.AddPreallocated(make([]byte, 11), &node)
	if added || err != wire.ErrIOAMRemainingLen || trace != before {
		t.Errorf("got %v, %v, %+v; want false, %v, %+v", added, err, trace, wire.ErrIOAMRemainingLen, before)
	}
}

func TestAddFillsUndefinedBits(t *testing.T) {
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: ioam.BitHopLimitNodeID | 0x000804}
	node := shortNode()
	got, added, err := trace.AddIncremental(nil, &node)
	if want := wiretest.Hex(t, "3d000303 ffffffff ffffffff"); !added || err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v, %v; want %x", got, added, err, want)
	}
	if node.Unavailable != 0 {
		t.Errorf("the node of the caller changed: %+v", node)
	}
}

func TestAddWritesUnavailableSnapshot(t *testing.T) {
	trace := ioam.Trace{NodeLen: 1, RemainingLen: 2, Type: ioam.BitHopLimitNodeID | ioam.BitSnapshot}
	node := shortNode()
	node.Unavailable = ioam.BitSnapshot
	got, added, err := trace.AddIncremental(nil, &node)
	if want := wiretest.Hex(t, "3d000303 00ffffff"); !added || err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v, %v; want %x", got, added, err, want)
	}
}

func TestUpdateKeepsReservedBits(t *testing.T) {
	header := wiretest.Hex(t, `
		8001    // Namespace-ID
		1be6    // NodeLen 3, O 0, L 1, A 1, undefined flag 1, RemainingLen 102
		e00000  // IOAM-Trace-Type
		a5      // reserved
	`)
	want := wiretest.Hex(t, "8001 1fe3 e00000 a5")
	var trace ioam.Trace
	if _, err := trace.Decode(header); err != nil {
		t.Fatal(err)
	}
	trace.Overflow, trace.RemainingLen = true, 99
	if err := trace.Update(header); err != nil || !bytes.Equal(header, want) {
		t.Errorf("got %x, %v; want %x", header, err, want)
	}
	if err := trace.Update(header[:7]); err != wire.ErrTruncatedIOAM {
		t.Errorf("short header: got %v, want %v", err, wire.ErrTruncatedIOAM)
	}
}

func TestAddNoAllocs(t *testing.T) {
	space, node := wiretest.Hex(t, spaceHex), shortNode()
	buf := make([]byte, 0, 64)
	allocs := testing.AllocsPerRun(100, func() {
		trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000}
		if ok, _ := trace.AddPreallocated(space, &node); !ok {
			t.Fatal("nothing added")
		}
		trace.RemainingLen = 3
		if _, ok, _ := trace.AddIncremental(buf, &node); !ok {
			t.Fatal("nothing added")
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}
