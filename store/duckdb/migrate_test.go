package duckdb

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write a file of the current version of the schema into testdata")

// fixture is a file of seconds of each version of the schema, with 30 flows.
const fixture = "testdata/seconds-v%d.duckdb.gz"

// makeFixture writes the file of the current version.
func makeFixture(t *testing.T) {
	s := open(t, nil)
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 3, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile(s.partitions[0].file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(fmt.Sprintf(fixture, len(migrations)+1))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
	if _, err := w.Write(in); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// unpack puts the file of a version into the directory of a store.
func unpack(t *testing.T, version int) Config {
	t.Helper()
	in, err := os.Open(fmt.Sprintf(fixture, version))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig(t.TempDir())
	out, err := os.Create(filepath.Join(c.Dir, "seconds-20261121T090000Z.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, r); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOldFiles: files of every version of the schema open, with what is in them, and take new records.
func TestOldFiles(t *testing.T) {
	if *update {
		makeFixture(t)
	}
	for version := 1; version <= len(migrations)+1; version++ {
		s, err := Open(unpack(t, version))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch.Add(time.Minute), 1, 10))
		if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*), count(DISTINCT flow) FROM flows_10s")); got != "[[40 10]]" {
			t.Errorf("version %d: got %s", version, got)
		}
	}
}

// TestMigrations: the statements of a version are executed once, all or none, and a file of a newer one is refused.
func TestMigrations(t *testing.T) {
	c := unpack(t, 1)
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	p := s.partitions[0]
	next := append(slices.Clone(migrations), []string{
		"ALTER TABLE IF EXISTS CATALOG.flows_10s ADD COLUMN ttl UTINYINT DEFAULT 64",
		"ALTER TABLE IF EXISTS CATALOG.nothing ADD COLUMN ttl UTINYINT",
	})
	if err := s.migrate(p, append(slices.Clone(migrations), []string{next[1][0], "SELECT nothing"})); err == nil || strings.Contains(fmt.Sprint(sqlOf(t, s, "SELECT max(version) FROM "+p.catalog+".waybill_schema")), "3") {
		t.Errorf("half of a migration: %v", err)
	}
	for range 2 {
		if err := s.migrate(p, next); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*), max(ttl), (SELECT version FROM "+p.catalog+".waybill_schema) FROM "+p.catalog+".flows_10s")); got != "[[30 64 3]]" {
		t.Errorf("got %s", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(c)
	if want := "seconds-20261121T090000Z.duckdb was written by a newer waybill: its schema has version 3, this program knows up to 2; run that waybill, or give another directory"; err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestDamagedFile: a file that is no database is refused in one line that names it.
func TestDamagedFile(t *testing.T) {
	c := DefaultConfig(t.TempDir())
	name := filepath.Join(c.Dir, "seconds-20261121T090000Z.duckdb")
	if err := os.WriteFile(name, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
