package console_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWide has a browser open every page of a server where a node has a name that no table has room for.
func TestWide(t *testing.T) {
	chromium := needBrowser(t)
	waybill := build(t)
	scenario, err := filepath.Abs("testdata/all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config, err := exec.CommandContext(t.Context(), waybill, "fabric", scenario, "--serve-config").Output()
	if err != nil {
		t.Fatal(err)
	}
	const name = "a-leaf-switch-in-row-17-of-hall-3-"
	long := name + strings.Repeat("x", 92-len(name)) + "🦊" // 93 characters; one of them is two in JavaScript
	config = bytes.ReplaceAll(config, []byte("leaf1"), []byte("'"+long+"'"))
	dir := t.TempDir()
	file := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	server := serve(t, waybill, "--config", file, "--data", filepath.Join(dir, "data"), "--raw-reports", "64MiB")
	if out, err := exec.CommandContext(t.Context(), waybill, "fabric", scenario, "--quiet", "--reports", listener(t, server)).CombinedOutput(); err != nil {
		t.Fatalf("waybill fabric: %v\n%s", err, out)
	}
	waitForRecords(t, server)
	drive(t, chromium, "wide.mjs", below(t, server))
}
