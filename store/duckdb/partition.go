package duckdb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// A partition is one file of DuckDB with the tables of a tier and the intervals that begin from start on, until the
// next partition of the tier starts or its length is over.
type partition struct {
	tier    int
	start   time.Time
	file    string
	catalog string // its name in SQL

	sealed    bool                 // attached READ_ONLY; under writing and reading
	compacted bool                 // see compactOnce
	emptied   map[store.Table]bool // see thin
	writes    int                  // under writing
	tally     tally                // under writing; nil: not known yet
}

const timeInName = "20060102T150405Z"

func (s *Store) newPartition(tier int, start time.Time) *partition {
	name := schema.Tiers[tier].Name + "-" + start.UTC().Format(timeInName)
	return &partition{
		tier: tier, start: start.UTC(), file: filepath.Join(s.config.Dir, name+".duckdb"),
		catalog: strings.ToLower(strings.ReplaceAll(name, "-", "_")),
	}
}

// partitionOfFile returns the partition with that file name, nil if it is none of ours.
func (s *Store) partitionOfFile(name string) *partition {
	name, ours := strings.CutSuffix(name, ".duckdb")
	before, after, cut := strings.Cut(name, "-")
	start, err := time.Parse(timeInName, after)
	i := slices.IndexFunc(schema.Tiers[:], func(r schema.Tier) bool { return r.Name == before })
	if !ours || !cut || err != nil || i < 0 {
		return nil
	}
	return s.newPartition(i, start)
}

// end is where p ends at the latest.
func (p *partition) end() time.Time {
	return p.start.Truncate(schema.Tiers[p.tier].Length).Add(schema.Tiers[p.tier].Length)
}

// size returns the bytes of p on disk, with what is not yet merged into the file.
func (p *partition) size() (n int64) {
	for _, name := range []string{p.file, p.file + ".wal"} {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

const (
	// headerBytes are the three headers of a file of DuckDB, which it writes before anything else.
	headerBytes = 3 * 4096
	// magic stands at magicAt in the first one.
	magic, magicAt = "DUCK", 8
)

// isUnmade reports whether the file of p is one that a process was making when it was killed: it is empty, or its
// headers are not all there, and nothing was written to it.
func (p *partition) isUnmade() bool {
	info, err := os.Stat(p.file)
	if err != nil || info.Size() >= headerBytes {
		return false
	}
	content, err := os.ReadFile(p.file)
	if err != nil || len(content) > 0 && !bytes.HasPrefix(content[min(magicAt, len(content)):], []byte(magic)) {
		return false
	}
	for _, name := range []string{p.file + ".wal", p.tallyFile()} {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// list returns the partitions, by start.
func (s *Store) list() []*partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partitions
}

// findPartition returns the partition of a tier that holds what begins at t, nil if there is none.
func (s *Store) findPartition(tier int, t time.Time) *partition {
	var found *partition
	for _, p := range s.list() {
		if p.tier == tier && !p.start.After(t) && t.Before(p.end()) {
			found = p // they are sorted: the last one wins
		}
	}
	return found
}

// partitionFor returns the partition of a tier that holds what begins at t, and makes it if there is none. writing is
// held.
func (s *Store) partitionFor(tier int, t time.Time) (*partition, error) {
	if p := s.findPartition(tier, t); p != nil {
		return p, nil
	}
	p := s.newPartition(tier, t.Truncate(schema.Tiers[tier].Length))
	if err := s.attach(p); err != nil {
		return nil, err
	}
	return p, s.makeViews()
}

// attachment is the statement that opens the file of p, and makes it if need be, unless p is sealed: in the format of
// DuckDB 1.2, which packs what is unknown.
func (p *partition) attachment() string {
	if p.sealed {
		return fmt.Sprintf("ATTACH '%s' AS %s (READ_ONLY)", quoted(p.file), p.catalog)
	}
	return fmt.Sprintf("ATTACH '%s' AS %s (STORAGE_VERSION 'v1.2.0')", quoted(p.file), p.catalog)
}

// attach opens the file of p, brings its schema up to date, and adds it to the list. writing is held.
func (s *Store) attach(p *partition) error {
	if err := s.openFile(p); err != nil {
		return err
	}
	return s.adopt(p)
}

// openFile opens the file of p and leaves what is in it alone; it is an error if that cannot be read.
func (s *Store) openFile(p *partition) error {
	if _, err := s.write.ExecContext(s.ctx, p.attachment()); err != nil {
		return fmt.Errorf(
			"open %s: %s; if it is damaged, move the file out of the directory to go on without its records", p.file,
			oneLine(err))
	}
	tables, err := s.tablesOf(p)
	if err == nil && tables > 0 {
		_, err = s.versionOf(p, len(migrations)+1)
	}
	if err != nil {
		_, _ = s.write.ExecContext(s.ctx, "DETACH "+p.catalog)
	}
	return err
}

// adopt brings the schema of a file that is open up to date, and adds it to the list.
func (s *Store) adopt(p *partition) error {
	if err := s.migrate(p, migrations); err != nil {
		_, _ = s.write.ExecContext(s.ctx, "DETACH "+p.catalog)
		return err
	}
	var compacted int
	row := s.write.QueryRowContext(s.ctx,
		"SELECT count(*) FROM duckdb_tables() WHERE database_name = ? AND table_name = 'waybill_compacted'", p.catalog)
	if err := row.Scan(&compacted); err != nil {
		return err
	}
	p.compacted = compacted > 0
	if err := s.loadEmptied(p); err != nil {
		return err
	}
	if err := s.loadTally(p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(slices.Clone(s.partitions), p)
	slices.SortFunc(list, func(a, b *partition) int { return a.start.Compare(b.start) })
	s.partitions = list
	return nil
}

func quoted(text string) string { return strings.ReplaceAll(text, "'", "''") }
