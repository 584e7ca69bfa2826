package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/waybill-int/waybill/internal/datadir"
)

// saved is what the elected analyzer has saved in the bucket of an Election: files, in pieces. One entry, the list,
// says which pieces they are: it is replaced in one step, and only by who was elected last.
type saved struct {
	revision uint64 // of the list
	list     fileList
	infos    map[string]fs.FileInfo // of the files as they were saved; none of what another analyzer has saved
	older    bool                   // there may be pieces of earlier terms
}

// A fileList names the files. It is written as JSON.
type fileList struct {
	Term   uint64      `json:"term"`        // of who may replace it
	Pieces uint64      `json:"pieces_term"` // of who wrote the pieces
	Files  []savedFile `json:"files"`
}

// A savedFile is a file in pieces of pieceBytes, the last one maybe shorter.
type savedFile struct {
	Name   string   `json:"name"`
	Bytes  int64    `json:"bytes"`
	Slots  []int    `json:"slots"`  // where the pieces are
	CRC32C []uint32 `json:"crc32c"` // of each
}

const (
	listKey     = "files"
	piecePrefix = "piece."
	pieceBytes  = 256 << 10
)

func pieceKey(term uint64, slot int) string { return fmt.Sprintf("%s%d.%d", piecePrefix, term, slot) }

// take makes the list one that an analyzer of a term alone can replace.
func (s *saved) take(ctx context.Context, bucket jetstream.KeyValue, term uint64) error {
	list, revision, err := get[fileList](ctx, bucket, listKey)
	if err != nil {
		return err
	}
	list.Term = term
	if s.revision, err = bucket.Update(ctx, listKey, encode(list), revision); err != nil {
		return err
	}
	s.list, s.infos, s.older = list, map[string]fs.FileInfo{}, true
	return nil
}

// SavedBy returns the term of the analyzer that has saved what Load loads; 0: none has.
func (e *Election) SavedBy() uint64 { return e.saved.list.Pieces }

// Load makes the files of a directory that names lists those that the last analyzer has saved. It is called after Win,
// and before Save.
func (e *Election) Load(ctx context.Context, dir string, names []string) error {
	s := &e.saved
	for _, f := range s.list.Files {
		if !filepath.IsLocal(f.Name) || len(f.Slots) != len(f.CRC32C) {
			return fmt.Errorf("bus: the list of files names %q", f.Name)
		}
		content, err := e.read(ctx, &f)
		if err != nil {
			return fmt.Errorf("bus: %s: %w", f.Name, err)
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := datadir.Replace(path, content); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(s.list.Files, func(f savedFile) bool { return f.Name == name }) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (e *Election) read(ctx context.Context, f *savedFile) ([]byte, error) {
	var content []byte
	for i, slot := range f.Slots {
		entry, err := e.bucket.Get(ctx, pieceKey(e.saved.list.Pieces, slot))
		if err != nil {
			return nil, err
		}
		length, err := s2.DecodedLen(entry.Value())
		if err != nil || length > pieceBytes {
			return nil, ErrMalformed
		}
		piece, err := s2.Decode(nil, entry.Value())
		if err != nil {
			return nil, err
		}
		if crc32.Checksum(piece, castagnoli) != f.CRC32C[i] {
			return nil, ErrDamaged
		}
		content = append(content, piece...)
	}
	if int64(len(content)) != f.Bytes {
		return nil, ErrMalformed
	}
	return content, nil
}

// Save saves the files of a directory. Names that are not there are left out. grow reports whether a file is one that
// grows at its end and does not change before. It fails if another analyzer is elected, and then nothing has changed.
func (e *Election) Save(ctx context.Context, dir string, names []string, grow func(name string) bool) error {
	s := &e.saved
	next := fileList{Term: e.term, Pieces: e.term}
	infos := map[string]fs.FileInfo{}
	free := s.freeSlots(e.term)
	for _, name := range names {
		before := s.of(name)
		f, info, err := e.saveFile(ctx, filepath.Join(dir, name), before, s.infos[name], grow(name), free)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("bus: %s: %w", name, err)
		}
		f.Name, infos[name] = name, info
		next.Files = append(next.Files, *f)
	}
	revision, err := e.bucket.Update(ctx, listKey, encode(next), s.revision)
	if errors.Is(err, jetstream.ErrKeyExists) {
		revision, err = e.savedBefore(ctx, &next)
	}
	if err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	s.revision, s.list, s.infos = revision, next, infos
	if s.older {
		s.older = false
		e.removeOlder(ctx)
	}
	return nil
}

// savedBefore returns the revision of a list that is saved already: the answer of the bus was lost. That of an attempt
// before is noted as what is saved.
func (e *Election) savedBefore(ctx context.Context, next *fileList) (uint64, error) {
	is, revision, err := get[fileList](ctx, e.bucket, listKey)
	switch {
	case err != nil:
		return 0, err
	case is.Term > e.term:
		return 0, errOther
	case is.Term < e.term:
		return 0, errors.New("a server is behind, and has an older list of files")
	case !bytes.Equal(encode(is), encode(next)):
		e.saved = saved{revision, is, map[string]fs.FileInfo{}, e.saved.older}
		return 0, errors.New("the list of files is that of an attempt before, whose answer was lost")
	}
	return revision, nil
}

// of returns a file of this analyzer's list; nil: there is none.
func (s *saved) of(name string) *savedFile {
	if s.infos[name] == nil {
		return nil
	}
	i := slices.IndexFunc(s.list.Files, func(f savedFile) bool { return f.Name == name })
	return &s.list.Files[i]
}

// freeSlots returns what gives the lowest slot that no file has.
func (s *saved) freeSlots(term uint64) func() int {
	used := map[int]bool{}
	if s.list.Pieces == term {
		for _, f := range s.list.Files {
			for _, slot := range f.Slots {
				used[slot] = true
			}
		}
	}
	next := 0
	return func() int {
		for used[next] {
			next++
		}
		next++
		return next - 1
	}
}

// saveFile writes the pieces of a file that are not there yet. before and info are of when it was saved last; nil: it
// was not.
func (e *Election) saveFile(ctx context.Context, path string, before *savedFile, info fs.FileInfo, grows bool,
	free func() int,
) (*savedFile, fs.FileInfo, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer from.Close()
	now, err := from.Stat()
	if err != nil {
		return nil, nil, err
	}
	f := &savedFile{}
	if before != nil && os.SameFile(info, now) {
		if now.Size() == info.Size() && now.ModTime().Equal(info.ModTime()) {
			return before, now, nil
		}
		if whole := int(before.Bytes / pieceBytes); grows && now.Size() >= before.Bytes {
			f.Slots, f.CRC32C = slices.Clone(before.Slots[:whole]), slices.Clone(before.CRC32C[:whole])
			f.Bytes = int64(whole) * pieceBytes
		}
	}
	rest := io.NewSectionReader(from, f.Bytes, now.Size()-f.Bytes)
	piece := make([]byte, pieceBytes)
	for {
		n, err := io.ReadFull(rest, piece)
		if n > 0 {
			slot := free()
			if _, err := e.bucket.Put(ctx, pieceKey(e.term, slot), s2.Encode(nil, piece[:n])); err != nil {
				return nil, nil, err
			}
			f.Slots, f.CRC32C = append(f.Slots, slot), append(f.CRC32C, crc32.Checksum(piece[:n], castagnoli))
			f.Bytes += int64(n)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return f, now, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// removeOlder removes pieces of earlier terms, which no list names. What fails is tried again by the next analyzer.
func (e *Election) removeOlder(ctx context.Context) {
	keys, err := e.bucket.ListKeysFiltered(ctx, piecePrefix+">")
	if err != nil {
		return
	}
	defer func() { _ = keys.Stop() }()
	older := map[uint64]bool{}
	for key := range keys.Keys() {
		var term uint64
		var slot int
		if _, err := fmt.Sscanf(key, piecePrefix+"%d.%d", &term, &slot); err == nil && term < e.term {
			older[term] = true
		}
	}
	stream, err := e.link.js.Stream(ctx, "KV_"+electionBucket)
	for term := range older {
		if err == nil {
			err = stream.Purge(ctx, jetstream.WithPurgeSubject(fmt.Sprintf("$KV.%s.%s%d.*", electionBucket, piecePrefix,
				term)))
		}
	}
	if err != nil {
		e.config.Log.Warn("what earlier analyzers have saved on the bus is not removed", "error", err)
	}
}
