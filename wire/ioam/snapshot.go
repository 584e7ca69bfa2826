package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	snapshotLen      = 4
	maxSnapshotWords = 255
	schemaMask       = 0xffffff
	noSchema         = 0xffffff
)

// A Snapshot is the opaque state snapshot at the end of a node record (RFC 9197 §4.4.2). Its Length counts the words
// of Data only.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Length      |                     Schema ID                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Opaque data ...                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Snapshot struct {
	SchemaID uint32 // 24 bits; 0xffffff with empty Data: the node has no snapshot
	Data     []byte // at most 1020 bytes; a view into the decoded bytes
}

// Decode reads s from the front of b. It returns wire.ErrTruncatedIOAM if not even the first word is there and
// wire.ErrIOAMSnapshotOverrun if Length runs past the end of b.
func (s *Snapshot) Decode(b []byte) (int, error) {
	*s = Snapshot{}
	if len(b) < snapshotLen {
		return 0, wire.ErrTruncatedIOAM
	}
	first := binary.BigEndian.Uint32(b)
	s.SchemaID = first & schemaMask
	end := snapshotLen + 4*int(first>>24)
	if end > len(b) {
		return 0, wire.ErrIOAMSnapshotOverrun
	}
	if end > snapshotLen {
		s.Data = b[snapshotLen:end:end]
	}
	return end, nil
}

// Append appends s, Len bytes: Data is filled up with zeros to a whole word and cut behind 1020 bytes.
func (s *Snapshot) Append(b []byte) []byte {
	words := s.words()
	data := s.Data[:min(len(s.Data), 4*words)]
	b = binary.BigEndian.AppendUint32(b, uint32(words)<<24|s.SchemaID&schemaMask)
	b = append(b, data...)
	for range 4*words - len(data) {
		b = append(b, 0)
	}
	return b
}

// Len returns the size in bytes, a multiple of 4.
func (s *Snapshot) Len() int { return snapshotLen + 4*s.words() }

func (s *Snapshot) words() int { return min((len(s.Data)+3)/4, maxSnapshotWords) }
