package ioam

import "encoding/binary"

// A fieldReader walks over the fields of a node record. Whoever makes it has checked that b holds all fields of has.
type fieldReader struct {
	b           []byte
	has         uint32 // trace type bits of the record
	unavailable uint32 // those of them whose value said "not available" so far
}

// word returns the next word if the record has bit, and 0 without a step if not. The bits of none are those that are
// all set when the value is not available.
func (f *fieldReader) word(bit, none uint32) uint32 {
	if f.has&bit == 0 {
		return 0
	}
	v := binary.BigEndian.Uint32(f.b)
	f.b = f.b[4:]
	if v&none == none {
		f.unavailable |= bit
	}
	return v
}

// double is word for a field of two words.
func (f *fieldReader) double(bit uint32, none uint64) uint64 {
	if f.has&bit == 0 {
		return 0
	}
	v := binary.BigEndian.Uint64(f.b)
	f.b = f.b[8:]
	if v&none == none {
		f.unavailable |= bit
	}
	return v
}

// A fieldWriter appends the fields of a node record to b.
type fieldWriter struct {
	b           []byte
	has         uint32 // trace type bits of the record
	unavailable uint32 // bits to write as "not available"
}

// word appends v if the record has bit. none is what fieldReader.word takes.
func (f *fieldWriter) word(bit, v, none uint32) {
	if f.has&bit == 0 {
		return
	}
	if f.unavailable&bit != 0 {
		v |= none
	}
	f.b = binary.BigEndian.AppendUint32(f.b, v)
}

// double is word for a field of two words.
func (f *fieldWriter) double(bit uint32, v, none uint64) {
	if f.has&bit == 0 {
		return
	}
	if f.unavailable&bit != 0 {
		v |= none
	}
	f.b = binary.BigEndian.AppendUint64(f.b, v)
}
