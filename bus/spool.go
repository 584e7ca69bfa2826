package bus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Spool keeps messages in the order in which they were made until they are confirmed: in files of a directory, or in
// memory if there is none. It is safe for concurrent use.
type Spool struct {
	dir      string // "": in memory
	maxBytes int64

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew when something was added, confirmed or closed
	list     []spooled     // not confirmed, in order; some of the middle may be
	first    uint64        // place of list[0]
	bytes    int64         // of the messages in list that are not confirmed
	segments []*segment
	closed   bool
}

// A spooled message.
type spooled struct {
	key       Key
	number    uint64
	size      int
	content   []byte // in memory
	segment   *segment
	offset    int64
	confirmed bool
}

// A segment is a file of a Spool: messages, each after its length of 4 bytes.
type segment struct {
	file   *os.File
	size   int64
	live   int  // messages that are not confirmed
	synced bool // all of it is on disk
}

// segmentBytes is how long a file gets.
const segmentBytes = 16 << 20

// segmentSuffix ends the names of files; the number before it orders them.
const segmentSuffix = ".spool"

// OpenSpool opens the spool in dir, which is made if it is missing, with what is in it; "": in memory. It keeps at most
// maxBytes. What a crash has left half-written at the end of a file is cut off.
func OpenSpool(dir string, maxBytes int64) (*Spool, error) {
	s := &Spool{dir: dir, maxBytes: maxBytes, changed: make(chan struct{})}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	slices.Sort(names) // they have equal lengths
	for _, name := range names {
		if err := s.readSegment(name); err != nil {
			s.Close()
			return nil, fmt.Errorf("spool: %w", err)
		}
	}
	return s, nil
}

// readSegment takes what a file holds.
func (s *Spool) readSegment(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	g := &segment{synced: true}
	if g.file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return err
	}
	s.segments = append(s.segments, g)
	for rest := content; len(rest) >= 4; {
		n := int(binary.BigEndian.Uint32(rest))
		if n > len(rest)-4 {
			break
		}
		h, _, err := DecodeHeader(rest[4:][:n])
		if err != nil {
			break
		}
		s.add(&h, spooled{size: n, segment: g, offset: g.size + 4})
		rest = rest[4+n:]
		g.size += int64(4 + n)
	}
	return g.file.Truncate(g.size)
}

// Bytes returns how much waits to be confirmed.
func (s *Spool) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// End returns the place behind the newest message.
func (s *Spool) End() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first + uint64(len(s.list))
}

// Add adds a message. It waits for room until ctx is done.
func (s *Spool) Add(ctx context.Context, h *Header, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > 0 && s.bytes+int64(len(message)) > s.maxBytes {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	if s.closed {
		return os.ErrClosed
	}
	m := spooled{size: len(message)}
	if s.dir == "" {
		m.content = slices.Clone(message)
	} else {
		g, err := s.writable()
		if err != nil {
			return fmt.Errorf("spool: %w", err)
		}
		record := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(message)), uint32(len(message))),
			message...)
		if _, err := g.file.WriteAt(record, g.size); err != nil {
			return fmt.Errorf("spool: %w", err) // the next one overwrites it
		}
		m.segment, m.offset = g, g.size+4
		g.size += int64(len(record))
		g.synced = false
	}
	s.add(h, m)
	s.signal()
	return nil
}

// add appends a message to the list. The spool is locked, or not in use yet.
func (s *Spool) add(h *Header, m spooled) {
	m.key, m.number = h.Key(), h.Number
	s.list = append(s.list, m)
	s.bytes += int64(m.size)
	if m.segment != nil {
		m.segment.live++
	}
}

// writable returns the file to append to.
func (s *Spool) writable() (*segment, error) {
	next := 1
	if n := len(s.segments); n > 0 {
		g := s.segments[n-1]
		if g.size < segmentBytes {
			return g, nil
		}
		base := strings.TrimSuffix(filepath.Base(g.file.Name()), segmentSuffix)
		if _, err := fmt.Sscanf(base, "%d", &next); err != nil {
			return nil, fmt.Errorf("%s is not a name of a file of a spool", g.file.Name())
		}
		next++
	}
	file, err := os.OpenFile(filepath.Join(s.dir, fmt.Sprintf("%012d%s", next, segmentSuffix)),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	g := &segment{file: file}
	s.segments = append(s.segments, g)
	return g, nil
}

// Sync brings what was added to the disk, so that it outlives the machine.
func (s *Spool) Sync() error {
	s.mu.Lock()
	var files []*segment
	for _, g := range s.segments {
		if !g.synced {
			g.synced = true
			files = append(files, g)
		}
	}
	s.mu.Unlock()
	for _, g := range files {
		if err := g.file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("spool: %w", err)
		}
	}
	return nil
}

// Next returns the first message from a place on that is not confirmed, and the place behind it. It waits for one until
// ctx is done. The first place is 0; content is memory that may be used again.
func (s *Spool) Next(ctx context.Context, place uint64, content []byte) (key Key, number uint64, message []byte,
	next uint64, err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		place = max(place, s.first)
		for ; place < s.first+uint64(len(s.list)); place++ {
			if m := &s.list[place-s.first]; !m.confirmed {
				message, err = m.read(content)
				return m.key, m.number, message, place + 1, err
			}
		}
		if err := s.wait(ctx); err != nil {
			return key, 0, nil, place, err
		}
	}
}

// Find calls f with each message of a key with a number in between that is not confirmed, in order.
func (s *Spool) Find(key Key, from, to uint64, f func(number uint64, message []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		m := &s.list[i]
		if m.key != key || m.confirmed || m.number < from || m.number > to {
			continue
		}
		message, err := m.read(nil)
		if err == nil {
			err = f(m.number, message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read returns the content of a message.
func (m *spooled) read(memory []byte) ([]byte, error) {
	if m.segment == nil {
		return m.content, nil
	}
	memory = slices.Grow(memory[:0], m.size)[:m.size]
	if _, err := m.segment.file.ReadAt(memory, m.offset); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return memory, nil
}

// Confirm says that messages of a key up to a number need not be kept.
func (s *Spool) Confirm(key Key, number uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		m := &s.list[i]
		if m.key != key || m.confirmed || m.number > number {
			continue
		}
		m.confirmed, m.content = true, nil
		s.bytes -= int64(m.size)
		if m.segment != nil {
			m.segment.live--
		}
	}
	done := 0
	for done < len(s.list) && s.list[done].confirmed {
		done++
	}
	s.list = slices.Delete(s.list, 0, done)
	s.first += uint64(done)
	s.signal()
	return s.trim()
}

// trim removes files with nothing that waits, but for the one that is written to.
func (s *Spool) trim() error {
	for len(s.segments) > 1 && s.segments[0].live == 0 {
		g := s.segments[0]
		s.segments = s.segments[1:]
		if err := errors.Join(g.file.Close(), os.Remove(g.file.Name())); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	return nil
}

// wait unlocks the spool until it changes.
func (s *Spool) wait(ctx context.Context) error {
	if s.closed {
		return os.ErrClosed
	}
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signal wakes those that wait.
func (s *Spool) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Close closes the files. What waits stays in them.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.signal()
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.file.Close())
	}
	return errors.Join(errs...)
}

var _ io.Closer = (*Spool)(nil)
