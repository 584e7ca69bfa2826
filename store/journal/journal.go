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
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFull says that the file of an interval takes no more.
var errFull = fmt.Errorf("the journal of an interval has reached %d MiB", maxFile>>20)

// A Journal writes in a directory. Its methods are called by one goroutine, and do not wait for the disk.
type Journal struct {
	dir     string
	minFree int64 // bytes that stay free on the disk
	current *file
	writing sync.WaitGroup

	mu   sync.Mutex
	busy bool  // a frame is on its way to the disk
	err  error // what became of the last one
}

// A file is the journal of an interval.
type file struct {
	startNs int64
	path    string
	minFree int64
	buffer  bytes.Buffer
	encoder *gob.Encoder
	size    int

	to      *os.File // nil until the first frame is written; only what writes has it, as failed
	failed  error
	removed bool // guarded by the lock of the Journal
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
		err := f.write(frame)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.busy, j.err = false, err
		if f.removed { // meanwhile
			_ = os.Remove(f.path)
		}
	})
	return before
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

// write appends to the file. After an error it appends no more: what follows could not be read.
func (f *file) write(frame []byte) error {
	if f.failed == nil {
		f.failed = f.append(frame)
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
	if _, err := f.to.Write(frame); err != nil {
		return err
	}
	return f.to.Sync()
}

// end closes the current file. Nothing is on its way.
func (j *Journal) end() {
	if j.current != nil && j.current.to != nil {
		_ = j.current.to.Close() // it is synced
	}
	j.current = nil
}

// Remove removes the file of an interval: the store has its records.
func (j *Journal) Remove(startNs int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.current; f != nil && f.startNs == startNs {
		f.removed = true
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
