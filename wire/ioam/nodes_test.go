package ioam_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// The data space of vector ioam_ipv6_preallocated: three free words, two records.
const spaceHex = `
	000000000000000000000000    // free space
	3e000202 00150016 65000002  // node 0x202
	3f000101 000b000c 65000001  // node 0x101
`

func TestNodes(t *testing.T) {
	space := wiretest.Hex(t, spaceHex)
	tests := []struct {
		name         string
		preallocated bool
		remainingLen uint8
		space        []byte
		freeWords    int
		ids          []uint32
		err          error
	}{
		{"pre-allocated", true, 3, space, 3, []uint32{0x202, 0x101}, nil},
		{"pre-allocated, full", true, 0, space[12:], 0, []uint32{0x202, 0x101}, nil},
		{"pre-allocated, empty", true, 3, space[:12], 3, nil, nil},
		{"pre-allocated, no space", true, 0, nil, 0, nil, nil},
		{"incremental, allowance is not in the packet", false, 6, space[12:], 0, []uint32{0x202, 0x101}, nil},
		{"incremental, empty", false, 6, nil, 0, nil, nil},
		{"last record cut", true, 3, space[:len(space)-1], 3, []uint32{0x202}, wire.ErrIOAMNodesNotMultiple},
		{"free space too small", true, 2, space, 2, []uint32{0, 2}, wire.ErrIOAMNodesNotMultiple},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := ioam.Trace{NodeLen: 3, RemainingLen: tt.remainingLen, Type: 0xe00000}
			nodes, err := trace.Nodes(tt.space, tt.preallocated)
			if err != nil || nodes.FreeWords != tt.freeWords {
				t.Fatalf("got %d free words, %v; want %d, no error", nodes.FreeWords, err, tt.freeWords)
			}
			var ids []uint32
			var node ioam.Node
			for nodes.Next(&node) {
				ids = append(ids, node.NodeID)
			}
			if nodes.Err() != tt.err {
				t.Errorf("Err: got %v, want %v", nodes.Err(), tt.err)
			}
			if !slices.Equal(ids, tt.ids) {
				t.Errorf("got nodes %#x, want %#x", ids, tt.ids)
			}
			if nodes.Next(&node) {
				t.Error("Next after the end reports a record")
			}
		})
	}
}

func TestNodesRefusesHeader(t *testing.T) {
	tests := []struct {
		name         string
		trace        ioam.Trace
		preallocated bool
		want         error
	}{
		{"NodeLen 0", ioam.Trace{Type: 0xe00000}, true, wire.ErrIOAMNodeLenZero},
		{"NodeLen not of the type", ioam.Trace{NodeLen: 4, Type: 0xe00000}, false, wire.ErrIOAMNodeLenMismatch},
		{
			"free space over the end",
			ioam.Trace{NodeLen: 3, RemainingLen: 10, Type: 0xe00000},
			true,
			wire.ErrIOAMRemainingLen,
		},
	}
	space := wiretest.Hex(t, spaceHex)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nodes, err := tt.trace.Nodes(space, tt.preallocated)
			if err != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if nodes.Next(new(ioam.Node)) {
				t.Error("Next reports a record")
			}
		})
	}
}

func TestNodesSnapshotOverrun(t *testing.T) {
	trace := ioam.Trace{NodeLen: 1, Type: ioam.BitHopLimitNodeID | ioam.BitSnapshot}
	space := wiretest.Hex(t, `
		3e000202 01000014 61626364  // node 0x202, snapshot of one word
		3f000101 0200000a 65666768  // node 0x101, snapshot longer than what is left
	`)
	nodes, err := trace.Nodes(space, false)
	if err != nil {
		t.Fatal(err)
	}
	var node ioam.Node
	if !nodes.Next(&node) || !bytes.Equal(node.Snapshot.Data, []byte("abcd")) {
		t.Fatalf("first record: got %+v, %v", node, nodes.Err())
	}
	if nodes.Next(&node) || nodes.Err() != wire.ErrIOAMSnapshotOverrun {
		t.Errorf("second record: got %v, want %v", nodes.Err(), wire.ErrIOAMSnapshotOverrun)
	}
}

func TestNodesNoAllocs(t *testing.T) {
	space := wiretest.Hex(t, spaceHex)
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000}
	allocs := testing.AllocsPerRun(100, func() {
		if countNodes(&trace, space) != 2 {
			t.Fatal("not two nodes")
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkNodes(b *testing.B) {
	space := wiretest.Hex(b, spaceHex)
	trace := ioam.Trace{NodeLen: 3, RemainingLen: 3, Type: 0xe00000}
	b.ReportAllocs()
	b.SetBytes(int64(len(space)))
	for b.Loop() {
		if countNodes(&trace, space) != 2 {
			b.Fatal("not two nodes")
		}
	}
}

func countNodes(trace *ioam.Trace, space []byte) int {
	nodes, err := trace.Nodes(space, true)
	if err != nil {
		return -1
	}
	count := 0
	var node ioam.Node
	for nodes.Next(&node) {
		count++
	}
	return count
}
