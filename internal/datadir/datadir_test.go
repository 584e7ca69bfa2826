package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
	for _, text := range []string{"one", "two, which is longer", "3"} {
		if err := d.Write("file", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(d.Path("file")); string(got) != text || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	for name, want := range map[string]os.FileMode{path: 0o700, d.Path("file"): 0o600, d.Path("lock"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
	if err := d.Write("no/such", nil); err == nil {
		t.Error("a file below a directory that is not there was written")
	}
	if files, _ := filepath.Glob(filepath.Join(path, "*")); len(files) != 2 {
		t.Errorf("files: %v", files)
	}
	d.Close()
	if d, err = Open(path); err != nil {
		t.Errorf("after it was closed: %v", err)
	}
	d.Close()
}
