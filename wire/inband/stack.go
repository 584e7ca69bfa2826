package inband

import "github.com/waybill-int/waybill/wire"

// A Stack is the metadata stack of one packet, divided into records but not decoded. Record 0 is the newest: the record
// of the node nearest to the sink. All its bytes are views into the packet.
//
// A record is
//
//	metadata of instruction bits 0-14 | DS metadata | checksum complement, if asked for
//
// Source-only DS metadata are in the bottom record alone, in front of its complement; without per-hop DS metadata and
// without a complement they are simply the last bytes of the stack (INT 2.1 §5.8).
type Stack struct {
	Records    []byte // all records; the bottom one is longer than RecordLen by its source-only metadata
	RecordLen  int    // bytes of a record, source-only metadata not counted
	DS         int    // bytes of per-hop DS metadata in each record
	SourceOnly []byte // source-only DS metadata; nil if per-hop DS metadata are mixed with them, see DSMetadata
	Partial    []byte // of a stack that was cut off: what is left of the record behind the last whole one
	Unsure     bool   // how much of the stack is source-only was guessed, as the domain is not known

	hops       int
	complement bool // records end in a checksum complement that DSMetadata must leave out
}

// NewStack divides body into records of recordLen bytes, for dialects whose header counts cannot be trusted.
// If body is not whole records the error is [wire.ErrStackNotMultiple].
func NewStack(body []byte, recordLen int) (Stack, error) {
	return NewCutStack(body, len(body), recordLen)
}

// NewCutStack is NewStack for a packet that may have been cut off: length is what the carrier says there should be,
// body what is there. With less than length bytes it returns the whole records and [wire.ErrShimLengthOverrun].
func NewCutStack(body []byte, length, recordLen int) (s Stack, err error) {
	s.RecordLen = recordLen
	err = s.divide(body, length, 0)
	return s, err
}

// divide fills s from body, which should have length bytes: records, of the shape that s says, and so bytes of
// source-only metadata. On an error s is empty, but not if that is [wire.ErrShimLengthOverrun].
func (s *Stack) divide(body []byte, length, so int) error {
	if err := s.count(length, so); err != nil {
		*s = Stack{}
		return err
	}
	if len(body) < length {
		s.cut(body, so)
		return wire.ErrShimLengthOverrun
	}
	if s.hops > 0 {
		s.Records = view(body[:length])
	}
	if so > 0 && (s.DS == 0 || s.hops == 0) {
		end := length
		if s.complement && s.hops > 0 {
			end -= 4
		}
		s.SourceOnly = view(body[end-so : end])
	}
	return nil
}

// count sets hops to the number of records in length bytes.
func (s *Stack) count(length, so int) error {
	switch {
	case length < 0:
		return wire.ErrINTHeaderTruncated
	case so > length:
		return wire.ErrSourceOnlyTruncated
	}
	if s.RecordLen > 0 {
		s.hops = (length - so) / s.RecordLen
	}
	if s.hops*s.RecordLen+so != length {
		return wire.ErrStackNotMultiple
	}
	return nil
}

// cut fills s with the whole records in body, which ends before the stack does.
func (s *Stack) cut(body []byte, so int) {
	if s.hops == 0 {
		return
	}
	whole := min(s.hops, len(body)/s.RecordLen)
	// The source-only metadata are not all there. A bottom record in which something comes behind them is not whole.
	if whole == s.hops && so > 0 && (s.complement || s.DS > 0) {
		whole--
	}
	n := whole * s.RecordLen
	if whole < s.hops {
		s.Partial = view(body[n:])
	}
	s.Records = view(body[:n])
	s.hops = whole
}

// Len returns the number of whole records, which is the number of hops.
func (s *Stack) Len() int { return s.hops }

// Record returns record i, 0 being the newest, as a view into the packet; nil if there is no record i.
// The bottom record includes its source-only metadata: Layout.Decode finds its way around them.
func (s *Stack) Record(i int) []byte {
	if i < 0 || i >= s.hops {
		return nil
	}
	if i == s.hops-1 {
		return view(s.Records[i*s.RecordLen:])
	}
	return view(s.Records[i*s.RecordLen : (i+1)*s.RecordLen])
}

// DSMetadata returns the per-hop DS metadata of record i as a view into the packet, or nil if there are none.
// In a bottom record that has source-only metadata as well, the two are mixed in the order of the DS Instruction bits;
// DSMetadata then returns both, and the table of the domain tells them apart.
func (s *Stack) DSMetadata(i int) []byte {
	record := s.Record(i)
	if record == nil || s.DS == 0 {
		return nil
	}
	start, end := s.RecordLen-s.DS, len(record)
	if s.complement {
		start -= 4
		end -= 4
	}
	return view(record[start:end])
}
