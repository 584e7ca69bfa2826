package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	head      = "waybill journal 1\n"
	prefix    = "open-" // of the names of files; the start of the interval follows, in ns since 1970
	frameHead = 8
	// maxFile bounds the file of an interval, in bytes: about a million flows.
	maxFile = 256 << 20
	// maxLeft is how much of a file waits for room on the disk, in bytes, and maxLate how many files of intervals that
	// are over do.
	maxLeft = 16 << 20
	maxLate = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFull says that the file of an interval takes no more.
var errFull = fmt.Errorf("the journal of an interval has reached %d MiB", maxFile>>20)

// A Journal writes in a directory. Its methods are called by one goroutine, and only Write waits for the disk.
type Journal struct {
	dir     string
	minFree int64 // bytes that stay free on the disk
	current *file
	writing sync.WaitGroup

	mu   sync.Mutex
	late []*file // of intervals that are over, which the disk did not take; the oldest first
	busy bool    // a frame is on its way to the disk
	err  error   // what became of the last one
}

// A file is the journal of an interval.
type file struct {
	startNs int64
	path    string
	minFree int64
	buffer  bytes.Buffer
	encoder *gob.Encoder
	size    int

	to      *os.File // nil until the first frame is written; only what writes has it, as what follows
	written int64
	left    []byte // frames that the disk did not take
	failed  error  // what became of the last frame
	removed bool   // guarded by the lock of the Journal
}

// Open makes the directory if there is none. Recover is called before. With less than minFree bytes free on the disk
// nothing is noted.
func Open(dir string, minFree int64) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Journal{dir: dir, minFree: minFree}, nil
}

// Busy reports whether what was noted last is still on its way to the disk: nothing can be noted meanwhile.
func (j *Journal) Busy() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.busy
}

// Note puts down what was counted so far. It returns what became of what was noted before: when it is nil, that is on
// disk.
func (j *Journal) Note(r *telemetry.SoFar) error {
	j.writing.Wait()
	if j.current == nil || j.current.startNs != r.StartNs {
		j.end()
		j.current = &file{
			startNs: r.StartNs, path: filepath.Join(j.dir, prefix+strconv.FormatInt(r.StartNs, 10)),
			minFree: j.minFree,
		}
		j.current.encoder = gob.NewEncoder(&j.current.buffer)
	}
	f := j.current
	frame, err := f.frame(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	before := j.err
	j.busy = true
	j.mu.Unlock()
	j.writing.Go(func() {
		err := errors.Join(j.writeLate(), f.write(frame))
		j.mu.Lock()
		defer j.mu.Unlock()
		j.busy, j.err = false, err
		if f.removed { // meanwhile
			_ = os.Remove(f.path)
		}
	})
	return before
}

// Write is Note, and waits until r is on disk.
func (j *Journal) Write(r *telemetry.SoFar) error {
	j.writing.Wait()
	j.err = nil // that of the note before was returned
	if err := j.Note(r); err != nil {
		return err
	}
	j.writing.Wait()
	return j.err
}

// frame is what to write of r, valid until the next call.
func (f *file) frame(r *telemetry.SoFar) ([]byte, error) {
	if f.size > maxFile {
		return nil, errFull
	}
	f.buffer.Reset()
	if f.size == 0 {
		f.buffer.WriteString(head)
	}
	begin := f.buffer.Len()
	f.buffer.Write(make([]byte, frameHead))
	if err := f.encoder.Encode(r); err != nil {
		return nil, err
	}
	all := f.buffer.Bytes()
	body := all[begin+frameHead:]
	binary.LittleEndian.PutUint32(all[begin:], uint32(len(body)))
	binary.LittleEndian.PutUint32(all[begin+4:], crc32.Checksum(body, castagnoli))
	f.size += len(all)
	return all, nil
}

// writeLate tries once more what the disk did not take of intervals that are over.
func (j *Journal) writeLate() (err error) {
	for len(j.late) > 0 && err == nil {
		f := j.late[0]
		err = f.write(nil)
		j.mu.Lock()
		if f.removed {
			_ = os.Remove(f.path)
		}
		if f.removed || err == nil {
			f.close()
			j.late, err = j.late[1:], nil
		}
		j.mu.Unlock()
	}
	return err
}

// write appends to the file what the disk did not take before, and a frame. What is too much to wait ends the file.
func (f *file) write(frame []byte) error {
	if f.left == nil && f.failed != nil {
		return f.failed
	}
	all := frame
	if f.left != nil {
		all = append(f.left, frame...)
	}
	f.left = nil
	if f.failed = f.append(all); f.failed != nil && len(all) <= maxLeft {
		f.left = append(make([]byte, 0, len(all)), all...)
	}
	return f.failed
}

func (f *file) append(frame []byte) (err error) {
	if err := store.Room(filepath.Dir(f.path), f.minFree); err != nil {
		return err
	}
	if f.to == nil {
		if f.to, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
	}
	if _, err := f.to.WriteAt(frame, f.written); err != nil {
		return err
	}
	if err := f.to.Sync(); err != nil {
		return err
	}
	f.written += int64(len(frame))
	return nil
}

// end closes the current file, or lets it wait for the disk. Nothing is on its way.
func (j *Journal) end() {
	f := j.current
	j.current = nil
	switch {
	case f == nil:
	case f.left != nil:
		j.mu.Lock()
		defer j.mu.Unlock()
		if len(j.late) == maxLate {
			j.late[0].close()
			j.late = j.late[1:]
		}
		j.late = append(j.late, f)
	default:
		f.close()
	}
}

func (f *file) close() {
	if f.to != nil {
		_ = f.to.Close() // what was written is synced
	}
}

// Remove removes the file of an interval: the store has its records.
func (j *Journal) Remove(startNs int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range append(j.late[:len(j.late):len(j.late)], j.current) {
		if f != nil && f.startNs == startNs {
			f.removed = true
		}
	}
	if err := os.Remove(filepath.Join(j.dir, prefix+strconv.FormatInt(startNs, 10))); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close waits for the disk. Files of intervals that were not removed stay, for the process that follows.
func (j *Journal) Close() {
	j.writing.Wait()
	j.end()
	for _, f := range j.late {
		f.close()
	}
}

// files are the intervals of which there is a journal, the oldest first.
func files(dir string) (starts []int64, err error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range list {
		text, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if start, err := strconv.ParseInt(text, 10, 64); err == nil {
			starts = append(starts, start)
		}
	}
	slices.Sort(starts)
	return starts, nil
}
