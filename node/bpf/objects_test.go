//go:build linux

package bpf

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestObjects compiles the programs and compares that with what is committed.
func TestObjects(t *testing.T) {
	const compiler = "14." // another one makes other bytes
	version, err := exec.Command("clang", "--version").Output()
	first, _, _ := strings.Cut(string(version), "\n")
	_, missing := exec.LookPath("llvm-strip")
	if err != nil || missing != nil || !strings.Contains(first, "version "+compiler) {
		t.Skipf("not run: no clang %s and llvm-strip, got %q. Run: scripts/setup test", compiler, first)
	}
	dir := t.TempDir()
	if out, err := exec.Command("src/generate", dir).CombinedOutput(); err != nil {
		t.Fatalf("src/generate: %v\n%s", err, out)
	}
	for _, name := range []string{"programs_bpfel.go", "programs_bpfel.o"} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what src comes to: run go generate in node/bpf", name)
		}
	}
}
