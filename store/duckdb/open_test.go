package duckdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
)

// contents are the files of a directory, but for the lock, with a hash of each.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.duckdb*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return all
}

// filled makes a store with files of all kinds and closes it. It returns the file of the seconds.
func filled(t *testing.T) (Config, string) {
	t.Helper()
	c := DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch, 30, 1000))
	roll(t, s, epoch.Add(10*time.Minute))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return c, s.partitions[len(s.partitions)-1].file
}

// TestOpenRefuses: what cannot be opened is refused in one line that names it and says what to do, and stays as it is.
func TestOpenRefuses(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, file string)
		want   []string
	}{
		"no database": {func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"not a valid DuckDB database file", "move the file out of the directory"}},
		"empty header": {func(t *testing.T, file string) {
			overwrite(t, file, 0, make([]byte, 4096))
		}, []string{"not a valid DuckDB database file", "move the file out of the directory"}},
		"damaged header": {func(t *testing.T, file string) {
			overwrite(t, file, 4096+20, []byte("damage damage damage"))
			overwrite(t, file, 8192+20, []byte("damage damage damage"))
		}, []string{"orrupt", "move the file out of the directory"}},
		"cut off": {func(t *testing.T, file string) {
			if err := os.Truncate(file, 6000); err != nil {
				t.Fatal(err)
			}
		}, []string{"move the file out of the directory"}},
		"newer": {func(t *testing.T, file string) {
			setVersion(t, file, 99)
		}, []string{
			fmt.Sprint("was written by a newer waybill: its schema has version 99, this program knows up to ",
				len(migrations)+1),
			"run that waybill, or give another directory",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config, file := filled(t)
			c.damage(t, file)
			before := contents(t, config.Dir)
			_, err := Open(config)
			for _, part := range append(c.want, file) {
				if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("got %v, want %q", err, part)
				}
			}
			if after := contents(t, config.Dir); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("files have changed:\n%v\n%v", before, after)
			}
			if err := os.Rename(file, file+".away"); err != nil { // which is what it says
				t.Fatal(err)
			}
			s, err := Open(config)
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
		})
	}
}

// setVersion makes a file one of another version of the schema, and leaves no log.
func setVersion(t *testing.T, file string, version int) {
	t.Helper()
	c := DefaultConfig(t.TempDir())
	copied := filepath.Join(c.Dir, filepath.Base(file))
	if err := os.Rename(file, copied); err != nil {
		t.Fatal(err)
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.ExecContext(t.Context(),
		fmt.Sprintf("UPDATE %s.waybill_schema SET version = %d", s.partitions[0].catalog, version)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, file); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, file string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// TestOpenOldBesideNewer: files of old versions are left alone if another one is of a newer version.
func TestOpenOldBesideNewer(t *testing.T) {
	c := unpack(t, 1)
	_, file := filled(t)
	setVersion(t, file, 99)
	newer := filepath.Join(c.Dir, "seconds-20261121T110000Z.duckdb") // it is opened last
	if err := os.Rename(file, newer); err != nil {
		t.Fatal(err)
	}
	before := contents(t, c.Dir)
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "newer waybill") {
		t.Fatalf("got %v", err)
	}
	if after := contents(t, c.Dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("files have changed:\n%v\n%v", before, after)
	}
}

// TestOpenDirectory: a directory that cannot be used is named, with the reason.
func TestOpenDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "store")} {
		if _, err := Open(DefaultConfig(dir)); err == nil || !strings.Contains(err.Error(), file+": not a directory") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
	parent := t.TempDir()
	for _, dir := range []string{filepath.Dir(parent), parent} { // anybody may look into it
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	closed := filepath.Join(parent, "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // whom no permission keeps out, unless it is somebody else for the files
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Skip("the test runs as root and cannot be anybody else")
		}
		defer unix.Setfsuid(0)
		if err := os.Chmod(parent, 0o755); err == nil {
			t.Fatal("this is still root")
		}
	}
	for _, dir := range []string{closed, filepath.Join(closed, "store")} {
		if _, err := Open(DefaultConfig(dir)); err == nil || !strings.Contains(err.Error(), closed) ||
			!strings.Contains(err.Error(), "permission denied") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
}

// TestDamagedBlock: what is damaged in the middle of a file shows when it is read. Questions about it are told so, and
// all else goes on.
func TestDamagedBlock(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	c, file := filled(t)
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	p := s.partitions[len(s.partitions)-1]
	var block int64
	row := s.write.QueryRowContext(t.Context(), "SELECT max(block_id) FROM pragma_storage_info('"+p.catalog+
		".flows_10s') WHERE column_name = 'bytes' AND segment_type <> 'VALIDITY'")
	if err := row.Scan(&block); err != nil || block < 0 {
		t.Fatal(block, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, file, 3*4096+block*65536+1000, []byte("damage damage damage")) // behind the three headers
	if s, err = Open(c); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.SQL(t.Context(), "SELECT sum(bytes) FROM flows_10s", 1); !errors.Is(err, store.ErrUnavailable) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	write(t, s, flowRecords(rand.New(rand.NewPCG(1, 1)), epoch.Add(time.Hour), 3, 10))
	if _, err := s.SQL(context.Background(), "SELECT sum(packets) FROM flows_1m", 1); err != nil {
		t.Errorf("minutes: %v", err)
	}
}

// A file that a process was making when it was killed holds nothing, and is made anew: the store opens. One to which
// something was written is left for somebody to look at.
func TestOpenUnmade(t *testing.T) {
	dir := t.TempDir()
	s := open(t, func(c *Config) { c.Dir = dir })
	p := s.newPartition(0, epoch)
	if err := s.attach(p); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(p.file)
	if err != nil || len(content) != headerBytes {
		t.Fatalf("a file begins with %d bytes, %v", len(content), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, made := range []int{0, 4096, 8192, headerBytes - 1} {
		for _, beside := range []string{"", ".wal", ".rows"} {
			for _, name := range []string{p.file, p.file + ".wal", p.file + ".rows"} {
				_ = os.Remove(name)
			}
			if err := os.WriteFile(p.file, content[:made], 0o600); err != nil {
				t.Fatal(err)
			}
			if beside != "" {
				if err := os.WriteFile(p.file+beside, []byte("{}"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(DefaultConfig(dir))
			if (err == nil) != (beside == "") {
				t.Errorf("%d bytes, with %q beside: %v", made, beside, err)
			}
			if err == nil {
				if _, err := s.partitionFor(0, epoch); err != nil {
					t.Errorf("%d bytes: it cannot be made anew: %v", made, err)
				}
				_ = s.Close()
			}
		}
	}
}
