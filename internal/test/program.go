package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program returns where the program under test is. "make test" builds it once, for all packages whose tests start it,
// and says with TEST_PROGRAM where it is; otherwise it is built here.
func Program(t testing.TB) string {
	t.Helper()
	if program := os.Getenv("TEST_PROGRAM"); program != "" {
		return program
	}
	program := filepath.Join(t.TempDir(), "waybill")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-buildvcs=false", "-o", program,
		filepath.Join(Root(), "cmd/waybill")).CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}
