package ioam

import "github.com/waybill-int/waybill/wire"

// Nodes reads the node records in the data space of a trace one after the other, the newest first:
//
//	nodes, err := trace.Nodes(space, option.Type == ioam.TypePreallocated)
//	if err != nil { … }
//	var node ioam.Node
//	for nodes.Next(&node) { … }
//	if err := nodes.Err(); err != nil { … }
type Nodes struct {
	FreeWords int // words of free space in front of the records; 0 for the incremental trace

	rest      []byte // records not read yet
	traceType uint32
	err       error
}

// Nodes returns the node records of t. space is the data space, all bytes of the option behind the header; the result
// keeps a view of it. The errors are those of Check, and wire.ErrIOAMRemainingLen if the free space is larger than
// space.
//
// RemainingLen is free space in the pre-allocated trace only. In the incremental trace it is an allowance: the bytes
// are not in the packet yet (RFC 9197 §4.4.1).
func (t *Trace) Nodes(space []byte, preallocated bool) (Nodes, error) {
	if err := t.Check(); err != nil {
		return Nodes{}, err
	}
	if !preallocated {
		return Nodes{rest: space, traceType: t.Type}, nil
	}
	free := int(t.RemainingLen)
	if 4*free > len(space) {
		return Nodes{}, wire.ErrIOAMRemainingLen
	}
	return Nodes{FreeWords: free, rest: space[4*free:], traceType: t.Type}, nil
}

// Next reads the next record into n and reports whether there was one. n.Snapshot.Data is a view of the data space.
func (s *Nodes) Next(n *Node) bool {
	if s.err != nil || len(s.rest) == 0 {
		return false
	}
	size, err := n.Decode(s.rest, s.traceType)
	if err == wire.ErrTruncatedIOAM {
		err = wire.ErrIOAMNodesNotMultiple
	}
	s.rest, s.err = s.rest[size:], err
	return err == nil
}

// Err returns why Next stopped before the end of the data space: wire.ErrIOAMNodesNotMultiple if the last bytes are not
// a whole record, wire.ErrIOAMSnapshotOverrun if a snapshot is longer than what is left, or nil.
func (s *Nodes) Err() error { return s.err }
