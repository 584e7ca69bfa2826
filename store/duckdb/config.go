package duckdb

import (
	"fmt"
	"runtime"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// A Config says where a Store is and how large it may grow. Use DefaultConfig and change what is needed.
type Config struct {
	// Dir is the directory of the files; it is made if it does not exist.
	Dir string
	// Keep is how long records are kept: those of 1 and 10 seconds, of minutes, of hours. Events are kept as long as
	// hours.
	Keep [len(schema.Tiers)]time.Duration
	// MaxBytes is how much disk the files may take; the oldest ones are dropped beyond it, the finest resolution first.
	MaxBytes int64
	// Limits are of single tables, beyond those of all.
	Limits map[store.Table]Limit
	// Names are those of nodes, for statements.
	Names map[uint32]string
	// MinFree is how many bytes stay free on the disk: with less, nothing is written.
	MinFree int64
	// Memory is what DuckDB may take, in bytes; Threads how many processors a query may use.
	Memory  int64
	Threads int
}

// A Limit is how much is kept of one table. What is beyond it goes with whole files, but for the newest of each kind.
type Limit struct {
	// Keep is as that of Config; 0: as long as all.
	Keep [len(schema.Tiers)]time.Duration
	// MaxBytes is how much disk the records of the table may take; the oldest go beyond it, the finest resolution
	// first. 0: as much as there is.
	MaxBytes int64
}

// DefaultConfig returns the configuration of a store in dir.
func DefaultConfig(dir string) Config {
	return Config{
		Dir: dir, Keep: [...]time.Duration{48 * time.Hour, 14 * 24 * time.Hour, 400 * 24 * time.Hour},
		MaxBytes: 32 << 30, MinFree: 256 << 20, Memory: 512 << 20, Threads: max(runtime.NumCPU()/2, 1),
	}
}

// Check says in one line what cannot be.
func (c *Config) Check() error {
	for i, keep := range c.Keep {
		if keep < schema.Tiers[i].Length {
			return fmt.Errorf("store: %s are kept for %v, want at least %v, the length of a file", schema.Tiers[i].Name,
				keep, schema.Tiers[i].Length)
		}
	}
	for id, l := range c.Limits {
		for i, keep := range l.Keep {
			switch {
			case keep != 0 && keep < schema.Tiers[i].Length:
				return fmt.Errorf("store: %s of %s are kept for %v, want at least %v, the length of a file",
					schema.Tiers[i].Name, id, keep, schema.Tiers[i].Length)
			case keep > c.Keep[i]:
				return fmt.Errorf(
					"store: %s of %s are kept for %v, longer than %v, as all is: keep all for so long, and other tables for less", schema.Tiers[i].Name, id, keep, c.Keep[i])
			}
		}
		if l.MaxBytes < 0 {
			return fmt.Errorf("store: %d bytes of %s are too little", l.MaxBytes, id)
		}
	}
	if c.Memory < 64<<20 {
		return fmt.Errorf("store: a memory of %d bytes is too little for queries, want at least 64 MiB", c.Memory)
	}
	if c.MaxBytes < 64<<20 {
		return fmt.Errorf("store: %d bytes are too little, want at least 64 MiB", c.MaxBytes)
	}
	if c.Threads < 1 {
		return fmt.Errorf("store: got %d threads, want at least 1", c.Threads)
	}
	return nil
}
