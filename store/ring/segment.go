package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	segmentMagic   = "waybill\x00"
	segmentVersion = 1
	segmentHeader  = 16
	segmentSuffix  = ".reports"
)

// A segment is a file, as far as it is whole.
type segment struct {
	number      uint32
	size        int64
	first, last int64 // times of its records, ns since 1970
}

func (s *segment) path(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%010d%s", s.number, segmentSuffix))
}

// add takes a block that stands in the file now.
func (s *segment) add(length int, first, last int64) {
	s.size += int64(length)
	s.first, s.last = min(s.first, first), max(s.last, last)
}

// listSegments returns the numbers of the segments in dir, in order.
func listSegments(dir string) ([]uint32, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint32
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		if n, err := strconv.ParseUint(digits, 10, 32); ok && err == nil && n > 0 {
			numbers = append(numbers, uint32(n))
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// openSegment finds out how much of a segment is whole. Of the newest it also looks at the checksums, and cuts off what
// is behind the last whole block: the process or the machine ended while that was written.
func openSegment(dir string, number uint32, newest bool) (segment, error) {
	s := segment{number: number, first: math.MaxInt64, last: math.MinInt64}
	f, err := os.OpenFile(s.path(dir), os.O_RDWR, 0)
	if err != nil {
		return s, err
	}
	defer f.Close()
	b := make([]byte, maxBlock)
	n, err := f.ReadAt(b[:segmentHeader], 0)
	switch {
	case n < segmentHeader && errors.Is(err, io.EOF):
		return s, nil // its header was not written: nothing is in it
	case err != nil:
		return s, err
	case string(b[:8]) != segmentMagic:
		return s, fmt.Errorf("%s is not a file of raw reports", s.path(dir))
	case binary.LittleEndian.Uint32(b[8:]) != segmentVersion:
		return s, fmt.Errorf("%s is of version %d, this program knows %d: a newer one wrote it", s.path(dir),
			binary.LittleEndian.Uint32(b[8:]), segmentVersion)
	}
	s.size = segmentHeader
	for {
		n, err := f.ReadAt(b[:blockHeader], s.size)
		if err != nil && !errors.Is(err, io.EOF) {
			return s, err
		}
		h, ok := readHead(b[:n])
		if !ok {
			break
		}
		if newest {
			if n, err = f.ReadAt(b[:h.length], s.size); err != nil && !errors.Is(err, io.EOF) {
				return s, err
			}
			if _, err := appendPlaces(nil, b[:n], &h); err != nil {
				break
			}
		}
		s.add(h.length, h.first, h.last)
	}
	if newest {
		return s, f.Truncate(s.size)
	}
	info, err := f.Stat()
	if err == nil {
		s.size = min(s.size, info.Size()) // a block that goes on behind the end is found when it is read
	}
	return s, err
}

// createSegment makes the file of a new segment.
func createSegment(dir string, number uint32) (*os.File, segment, error) {
	s := segment{number: number, first: math.MaxInt64, last: math.MinInt64, size: segmentHeader}
	f, err := os.OpenFile(s.path(dir), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, s, err
	}
	h := make([]byte, segmentHeader)
	copy(h, segmentMagic)
	binary.LittleEndian.PutUint32(h[8:], segmentVersion)
	if _, err := f.Write(h); err != nil {
		f.Close()
		os.Remove(s.path(dir))
		return nil, s, err
	}
	return f, s, nil
}
