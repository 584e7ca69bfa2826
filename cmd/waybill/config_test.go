package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Config says what serve says, and what it prints means the same when it is read again.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	for name, text := range map[string]string{good: "names: {7: leaf7}\nmemory: 1GiB\nint_dscp: 23\n", bad: "memori: 1GiB\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
	}{
		{"--check", 0},
		{"--dump", 0},
		{"--check --config " + good, 0},
		{"--dump --config " + good, 0},
		{"--check --config " + bad, 2},
		{"--dump --config " + bad, 2},
		{"--check --config /nonexistent", 2},
	} {
		out, errs, code := runQuery(t, append([]string{"config"}, strings.Fields(c.args)...)...)
		serveOut, serveErrs, serveCode := runQuery(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if code != c.code || code != serveCode || out != serveOut || errs != strings.Replace(serveErrs, "waybill serve:", "waybill config:", 1) {
			t.Errorf("%s: code %d\n%s%s\nserve: code %d\n%s%s", c.args, code, out, errs, serveCode, serveOut, serveErrs)
		}
	}
	for _, args := range []string{"", "--check --dump"} {
		if _, errs, code := runQuery(t, append([]string{"config"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(errs, "want one of --check and --dump") {
			t.Errorf("%q: code %d, %s", args, code, errs)
		}
	}
	t.Setenv("WAYBILL_MEMORY", "2GiB")
	first, _, _ := runQuery(t, "config", "--dump", "--config", good)
	if !strings.Contains(first, "memory: 2GiB") || !strings.Contains(first, "leaf7") {
		t.Errorf("got\n%s", first)
	}
	again := filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(again, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WAYBILL_MEMORY", "")
	if second, _, _ := runQuery(t, "config", "--dump", "--config", again); second != first {
		t.Errorf("read again, it is\n%s", second)
	}
}
