package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
)

// Config says what serve says, and what it prints means the same when it is read again.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	for name, text := range map[string]string{
		good: "names: {7: leaf7}\nmemory: 1GiB\nint_dscp: 23\n",
		bad:  "memori: 1GiB\n",
	} {
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
		out, errs, code := runWaybill(t, append([]string{"config"}, strings.Fields(c.args)...)...)
		serveOut, serveErrs, serveCode := runWaybill(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if code != c.code || code != serveCode || out != serveOut ||
			errs != strings.Replace(serveErrs, "waybill serve:", "waybill config:", 1) {
			t.Errorf("%s: code %d\n%s%s\nserve: code %d\n%s%s", c.args, code, out, errs, serveCode, serveOut, serveErrs)
		}
	}
	kinds := filepath.Join(dir, "kinds.yaml")
	for text, want := range map[string]string{
		"memory: 1GiB\nhttp: [1]\n": ":2: http: got a list, want a text",
		"workers: {a: 1}\n":         ":1: workers: got a map, want a whole number",
		"listen: 7\n":               `:1: listen: got "7", want a list`,
		"coalesce: [true]\n":        ":1: coalesce: got a list, want true or false",
	} {
		os.WriteFile(kinds, []byte(text), 0o600)
		if _, errs, code := runWaybill(t, "config", "--check", "--config", kinds); code != 2 ||
			errs != "waybill config: --config: "+kinds+want+"\n" {
			t.Errorf("%q: code %d, %s", text, code, errs)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "{}\n"} { // which says nothing
		os.WriteFile(kinds, []byte(text), 0o600)
		for _, do := range []string{"--check", "--dump"} {
			if _, errs, code := runWaybill(t, "config", do, "--config", kinds); code != 0 {
				t.Errorf("%q: code %d, %s", text, code, errs)
			}
		}
	}
	for name, want := range map[string]string{
		"WAYBILL_MEMORI": "did you mean WAYBILL_MEMORY?",
		"WAYBILL_LISTNE": "did you mean WAYBILL_LISTEN?", "WAYBILL_SERVER": "", "WAYBILL_PORT": "",
		"WAYBILL_SERVICE_PORT": "",
	} {
		t.Setenv(name, "1")
		_, errs, code := runWaybill(t, "config", "--check")
		if (want == "") != (code == 0) || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
		os.Unsetenv(name)
	}
	t.Setenv("WAYBILL_NO_SUCH_THING", "1")
	if _, errs, code := runWaybill(t, "config", "--check"); code != 0 ||
		!strings.Contains(errs, "WAYBILL_NO_SUCH_THING") {
		t.Errorf("code %d, %s", code, errs)
	}
	os.Unsetenv("WAYBILL_NO_SUCH_THING")
	if _, errs, code := runWaybill(t, "config"); code != 2 || !strings.Contains(errs, "want --check or --dump") {
		t.Errorf("code %d, %s", code, errs)
	}
	t.Setenv("WAYBILL_MEMORY", "2GiB")
	first, _, _ := runWaybill(t, "config", "--dump", "--config", good)
	if both, _, _ := runWaybill(t, "config", "--check", "--dump", "--config", good); both != first {
		t.Errorf("--check --dump prints\n%s", both)
	}
	if !strings.Contains(first, "memory: 2GiB") || !strings.Contains(first, "leaf7") {
		t.Errorf("got\n%s", first)
	}
	again := filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(again, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WAYBILL_MEMORY", "")
	if second, _, _ := runWaybill(t, "config", "--dump", "--config", again); second != first {
		t.Errorf("read again, it is\n%s", second)
	}
}

// A shell that completion does not know is an error; the scripts of the others are printed.
func TestUnknownShell(t *testing.T) {
	stdout, stderr, code := runWaybill(t, "completion", "nosuch")
	if want := "waybill completion: unknown shell \"nosuch\"; allowed: bash, fish, powershell, zsh\n"; code !=
		command.ExitUsage || stdout != "" || stderr != want {
		t.Errorf("code %d, %q, %q, want %q", code, stdout, stderr, want)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, stderr, code := runWaybill(t, "completion", shell); code != 0 ||
			!strings.Contains(stdout, "waybill") {
			t.Errorf("%s: code %d, %s", shell, code, stderr)
		}
	}
	if stdout, stderr, code := runWaybill(t, "completion"); code != 0 || !strings.Contains(stdout, "fish") {
		t.Errorf("code %d, %s%s", code, stdout, stderr)
	}
}

func TestKeepForDays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	os.WriteFile(file, []byte("store:\n  keep_seconds: 7d\n  keep_minutes: 1w2d12h\n  keep_hours: 9600h\n"), 0o600)
	t.Setenv("WAYBILL_STORE", "{keep_hours: 500d}")
	out, errs, code := runWaybill(t, "config", "--dump", "--config", file)
	for _, want := range []string{"keep_seconds: 7d", "keep_minutes: 9d12h", "keep_hours: 500d"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("got %s%s, want %s", out, errs, want)
		}
	}
	// What is dumped can be read.
	t.Setenv("WAYBILL_STORE", "")
	os.WriteFile(file, []byte(out), 0o600)
	if again, errs, code := runWaybill(t, "config", "--dump", "--config", file); code != 0 || again != out {
		t.Errorf("got %s%s, want %s", again, errs, out)
	}
	tables := "store:\n  tables:\n    hops: {keep_seconds: 1d, max_size: 2GiB}\n"
	os.WriteFile(file, []byte(tables), 0o600)
	if out, errs, code := runWaybill(t, "config", "--dump", "--config", file); code != 0 ||
		!strings.Contains(out, "hops:") || !strings.Contains(out, "keep_seconds: 1d") {
		t.Errorf("got %d %s%s", code, out, errs)
	}
	for text, want := range map[string]string{
		strings.Replace(tables, "hops", "hop", 1):  "there is no table hop",
		strings.Replace(tables, "2GiB", "much", 1): "hops: max_size",
		strings.Replace(tables, "1d", "9d", 1):     "longer than",
	} {
		os.WriteFile(file, []byte("data: /tmp/x\n"+text), 0o600)
		if _, errs, code := runWaybill(t, "config", "--check", "--config", file); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: got %d %s, want %s", text, code, errs, want)
		}
	}
	os.WriteFile(file, []byte("store:\n  keep_seconds: 7 years\n"), 0o600)
	if _, errs, code := runWaybill(t, "config", "--check", "--config", file); code != 2 ||
		!strings.Contains(errs, "years") {
		t.Errorf("got %d %s", code, errs)
	}
}
