// Package duckdb is the embedded store: files of DuckDB in one directory, each of which holds some hours or days of
// records at one resolution. Nothing else may open them meanwhile.
package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/store"
)

// A Store is a store.Backend.
type Store struct {
	config Config
	ctx    context.Context // ends with the Store
	stop   context.CancelFunc

	lock   *datadir.Lock
	db     *sql.DB   // a database in memory, to which the files are attached
	write  *sql.Conn // of who holds writing
	upkeep *sql.Conn // of who holds maintaining

	// These are locked in this order. Maintain holds writing for the moments in which it adds, removes or replaces a
	// file.
	maintaining, writing sync.Mutex
	interrupt            context.CancelFunc // ends Maintain; under mu

	mu         sync.Mutex   // partitions is replaced under it, and never changed in place
	partitions []*partition // by start
	reading    sync.RWMutex // held by queries; files are closed under its write lock
	doomed     []*partition // that still have to be closed
	dropped    int
	lost       []store.Loss // under mu

	done        map[string]bool      // catalogs that have what Write was asked to write, if it failed later on
	rolled      map[string]time.Time // how far tables are rolled up; under mu
	tail        tail
	statements  *statements
	sealedOnce  atomic.Bool
	names       atomic.Pointer[map[uint32]string] // of nodes, for statements
	broken      atomic.Bool                       // DuckDB refused a write: the files are opened anew before the next
	beforeWrite func() error                      // for tests, as is beforeSwap
	beforeSwap  func()
}

// Open opens the store in config.Dir, which it makes if need be. It fails if another process has it open, and if a
// newer version of waybill wrote it.
func Open(config Config) (*Store, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	config.Dir = dir
	lock, err := datadir.LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{
		config: config, lock: lock, done: map[string]bool{}, interrupt: func() {},
		statements: newStatements(&config),
	}
	s.SetNames(config.Names)
	s.tail.dir = filepath.Join(dir, "sql")
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.stop()
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// settings are those of the whole database. Statements may read and write the files of the store and nothing else.
func (s *Store) settings() []string {
	return []string{
		fmt.Sprintf("SET memory_limit = '%dB'", s.config.Memory),
		fmt.Sprintf("SET threads = %d", s.config.Threads),
		fmt.Sprintf("SET temp_directory = '%s'", quoted(s.spillDir())),
		fmt.Sprintf("SET max_temp_directory_size = '%dB'", max(s.config.MaxBytes/16, s.config.Memory)),
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		// Each column of 122880 rows begins in a block of its own, so that small ones waste less; below 64 KiB numbers
		// are not packed.
		"SET default_block_size = 65536",
		"SET checkpoint_threshold = '64MiB'",
		fmt.Sprintf("SET allowed_directories = ['%s']", quoted(s.config.Dir+string(filepath.Separator))),
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}
}

func (s *Store) open() error {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.db = sql.OpenDB(connector)
	for _, conn := range []**sql.Conn{&s.write, &s.upkeep} {
		if *conn, err = s.db.Conn(s.ctx); err != nil {
			return errors.Join(fmt.Errorf("store: %w", err), s.db.Close())
		}
	}
	if err := s.load(); err != nil {
		return errors.Join(fmt.Errorf("store: %s", oneLine(err)), s.shut())
	}
	return nil
}

// load attaches the files in the directory.
func (s *Store) load() error {
	if err := s.tail.clear(); err != nil {
		return err
	}
	if err := os.RemoveAll(s.spillDir()); err != nil { // a crash leaves it
		return err
	}
	if err := addFunctions(s.write); err != nil {
		return err
	}
	for _, text := range append(s.settings(), macros...) {
		if _, err := s.write.ExecContext(s.ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.partitions = nil
	s.mu.Unlock()
	var found []*partition
	for _, entry := range entries { // all, before any of them is changed
		if p := s.partitionOfFile(entry.Name()); p != nil {
			if p.isUnmade() {
				if err := os.Remove(p.file); err != nil {
					return err
				}
				continue
			}
			if err := s.openFile(p); err != nil {
				return err
			}
			found = append(found, p)
		}
	}
	for _, p := range found {
		if err := s.adopt(p); err != nil {
			return err
		}
	}
	if err := s.loadRolled(); err != nil {
		return err
	}
	return s.makeViews()
}

// shut closes the files.
func (s *Store) shut() error {
	_ = s.write.Close()
	_ = s.upkeep.Close()
	return s.db.Close()
}

// Close closes the store. Statements are ended. What DuckDB does not end within closeWait is left to the end of the
// process, with the files: all that was written is on disk.
func (s *Store) Close() error {
	s.endMaintain()
	defer s.maintaining.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.stop()
	s.statements.close()
	for end := time.Now().Add(closeWait); !s.reading.TryLock(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.Join(errors.New("store: a query still runs"), s.lock.Close())
		}
	}
	defer s.reading.Unlock()
	return errors.Join(s.shut(), os.RemoveAll(s.tail.dir), s.lock.Close())
}

// closeWait is how long Close waits for queries.
const closeWait = 2 * time.Second

// endMaintain ends Maintain, if it goes on, and locks maintaining.
func (s *Store) endMaintain() {
	s.mu.Lock()
	s.interrupt()
	s.mu.Unlock()
	s.maintaining.Lock()
}

// lockReading locks reading. Statements that run begin anew when it is unlocked.
func (s *Store) lockReading() {
	locked := make(chan struct{})
	go func() {
		for {
			s.statements.interrupt()
			select {
			case <-locked:
				return
			case <-time.After(10 * time.Millisecond): // those that had not begun
			}
		}
	}()
	s.reading.Lock()
	close(locked)
}

// reopen closes and opens the files, for writing: after a failed write DuckDB may refuse all that follow, and records
// may come that belong in a file that is sealed. maintaining is held.
func (s *Store) reopen() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.lockReading()
	defer s.reading.Unlock()
	_ = s.shut()
	return s.open()
}

// oneLine is the first line of an error, as DuckDB adds hints and positions.
func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
