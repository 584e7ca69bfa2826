package ring

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
)

// A Record is a datagram as it came.
type Record struct {
	ID       ID
	TimeNs   int64 // of arrival, ns since 1970
	Source   netip.AddrPort
	Listener netip.AddrPort // address of the socket
	// Payload is that of UDP. It is valid until the function that it was given to returns.
	Payload   []byte
	Truncated bool // the datagram was longer
}

// ErrGone says that there is no such record, or that it gave way to newer ones.
var ErrGone = errors.New("there is no such report, or it gave way to newer ones")

// A Range says which records are wanted: those that arrived from Since to before Until, in ns since 1970.
type Range struct {
	Since, Until int64
	// At is where to begin: Newest goes on with those that were written before it, from the end if it is zero, and
	// Oldest with it and those behind it.
	At ID
}

// Newest calls yield for records, the latest written first, until it returns false or ctx is done. What is damaged is
// left out.
func (r *Ring) Newest(ctx context.Context, in Range, yield func(*Record) bool) error {
	return r.scan(ctx, in, true, yield)
}

// Oldest is Newest the other way round.
func (r *Ring) Oldest(ctx context.Context, in Range, yield func(*Record) bool) error {
	return r.scan(ctx, in, false, yield)
}

// scan goes through all segments that can have records of the range.
func (r *Ring) scan(ctx context.Context, in Range, back bool, yield func(*Record) bool) error {
	r.mu.Lock()
	list := slices.Clone(r.segments)
	r.mu.Unlock()
	if back {
		slices.Reverse(list)
	}
	s := scanner{ctx: ctx, Range: in, back: back, yield: yield}
	for i := range list {
		g := &list[i]
		if g.first >= in.Until || g.last < in.Since || s.isBefore(ID{Segment: g.number}, ID{Segment: in.At.Segment}) {
			continue
		}
		if err := s.read(g.path(r.config.Dir), g.size); errors.Is(err, fs.ErrNotExist) {
			continue // it gave way meanwhile
		} else if err != nil {
			return err
		}
		if more, err := s.segment(g.number); !more {
			return err
		}
	}
	return nil
}

// A scanner is on its way through segments.
type scanner struct {
	Range
	ctx    context.Context
	back   bool
	yield  func(*Record) bool
	bytes  []byte // of the segment
	blocks []int  // where they are in it
	places []int  // of the records in a block
}

// isBefore reports whether a lies before at, seen in the direction of the scan, and at is somewhere.
func (s *scanner) isBefore(a, at ID) bool {
	if at == (ID{}) {
		return false
	}
	if s.back {
		return a.Compare(at) > 0
	}
	return a.Compare(at) < 0
}

// read reads a segment into memory, as far as it was whole when the scan began.
func (s *scanner) read(path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.bytes = slices.Grow(s.bytes[:0], int(size))[:size]
	n, err := io.ReadFull(f, s.bytes)
	s.bytes = s.bytes[:n]
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // somebody cut it: what is left is read
	}
	return err
}

// segment yields the records of a segment, and reports whether the scan goes on.
func (s *scanner) segment(number uint32) (more bool, err error) {
	s.blocks = s.blocks[:0]
	for at := segmentHeader; at < len(s.bytes); {
		h, ok := readHead(s.bytes[at:])
		if !ok {
			break
		}
		s.blocks = append(s.blocks, at)
		at += h.length
	}
	if s.back {
		slices.Reverse(s.blocks)
	}
	for _, at := range s.blocks {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
		if !s.block(number, at) {
			return false, nil
		}
	}
	return true, nil
}

// block yields the records of the block at a place of the segment, and reports whether the scan goes on.
func (s *scanner) block(number uint32, at int) bool {
	b := s.bytes[at:]
	h, _ := readHead(b)
	if h.first >= s.Until || h.last < s.Since || number == s.At.Segment &&
		s.isBefore(ID{number, uint32(at), 0}, ID{number, s.At.Offset, 0}) {
		return true
	}
	var err error
	if s.places, err = appendPlaces(s.places[:0], b, &h); err != nil {
		return true
	}
	for i := range s.places {
		if s.back {
			i = len(s.places) - 1 - i
		}
		record := readRecord(b, s.places[i], &h, ID{number, uint32(at), uint32(i)})
		if record.TimeNs < s.Since || record.TimeNs >= s.Until || s.isBefore(record.ID, s.At) || s.back &&
			record.ID == s.At {
			continue
		}
		if !s.yield(&record) {
			return false
		}
	}
	return true
}

// Get returns the record with that id; ErrGone if there is none. Its payload is the caller's.
func (r *Ring) Get(id ID) (Record, error) {
	r.mu.Lock()
	at := slices.IndexFunc(r.segments, func(s segment) bool { return s.number == id.Segment })
	var g segment
	if at >= 0 {
		g = r.segments[at]
	}
	r.mu.Unlock()
	if at < 0 || int64(id.Offset) < segmentHeader || int64(id.Offset) >= g.size {
		return Record{}, ErrGone
	}
	f, err := os.Open(g.path(r.config.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrGone
	} else if err != nil {
		return Record{}, err
	}
	defer f.Close()
	b := make([]byte, min(maxBlock, g.size-int64(id.Offset)))
	n, err := f.ReadAt(b, int64(id.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return Record{}, err
	}
	h, ok := readHead(b[:n])
	if !ok {
		return Record{}, ErrGone
	}
	places, err := appendPlaces(nil, b[:n], &h)
	if err != nil || int(id.Index) >= len(places) {
		return Record{}, ErrGone
	}
	return readRecord(b, places[id.Index], &h, id), nil
}
