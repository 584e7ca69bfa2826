package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command asks the server that is named, by a flag first, then by the environment, then by the file, and shows it the
// token that belongs to it.
func TestContexts(t *testing.T) {
	server := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"status":404,"detail":"` + name + ` ` + r.Header.Get("Authorization") + `"}`))
		}))
		t.Cleanup(s.Close)
		return s
	}
	lab, site := server("lab"), server("site")
	dir := t.TempDir()
	t.Setenv("WAYBILL_CONTEXTS", filepath.Join(dir, "of", "contexts.yaml"))
	t.Setenv("WAYBILL_SERVER", "")
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct {
		args, stdout, stderr string
		code                 int
	}{
		{"context list", "", "no contexts; waybill context set NAME --server URL makes one", 0},
		{"context use lab", "", `there is no context "lab", nor any other; waybill context set lab --server URL makes it`, 2},
		{"context set lab", "", "want the URL of a server: --server URL", 2},
		{"context set lab --server ftp://example", "", "--server: ", 2},
		{"context set lab --token-file token --server " + lab.URL, "", "", 0},
		{"context set site --server " + site.URL, "", "", 0},
		{"context list", "         lab   " + lab.URL + "\n         site  " + site.URL, "", 0},
		{"nodes --context lab", "", "lab Bearer secret", 1},
		{"nodes --context site", "", "site ", 1},
		{"nodes --context else", "", `there is no context "else"; there are lab, site`, 2},
		{"nodes --context lab --server " + site.URL, "", "want --context or --server, not both", 2},
		{"context use lab", "", "", 0},
		{"context list", "*        lab   ", "", 0},
		{"nodes", "", "lab Bearer secret", 1},
		{"nodes --server " + site.URL, "", "site \n", 1},
		{"context remove lab", "", "", 0},
		{"context list", "         site  ", "", 0},
		{"context now", "", `unknown command "now"; want list, use, set or remove`, 2},
	} {
		stdout, stderr, code := runQuery(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: got %d, %q, %q; want %d, %q, %q", c.args, code, stdout, stderr, c.code, c.stdout, c.stderr)
		}
	}
	t.Setenv("WAYBILL_CONTEXT", "site")
	if _, stderr, _ := runQuery(t, "nodes"); !strings.Contains(stderr, "site") {
		t.Errorf("by the environment: %s", stderr)
	}
	t.Setenv("WAYBILL_SERVER", lab.URL)
	if _, stderr, _ := runQuery(t, "nodes"); !strings.Contains(stderr, "lab") {
		t.Errorf("a server of the environment: %s", stderr)
	}
	file := os.Getenv("WAYBILL_CONTEXTS")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("contexts:\n  a: {server: 'http://x', tokenfile: y}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := runQuery(t, "nodes", "--context", "a"); code != 2 || !strings.Contains(stderr, ":2: ") {
		t.Errorf("a key that is misspelt: %d, %s", code, stderr)
	}
}

// Without a directory for contexts, as in services, there are none, and commands ask the usual server.
func TestContextsWithoutHome(t *testing.T) {
	for _, name := range []string{"WAYBILL_CONTEXTS", "WAYBILL_CONTEXT", "WAYBILL_SERVER", "XDG_CONFIG_HOME", "HOME"} {
		t.Setenv(name, "")
	}
	const place = "where contexts are is not known"
	if _, stderr, _ := runQuery(t, "nodes"); strings.Contains(stderr, place) {
		t.Errorf("got %q", stderr)
	}
	want := `there is no context "lab", nor any other`
	if _, stderr, code := runQuery(t, "nodes", "--context", "lab"); code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("got %d, %q, want %q", code, stderr, want)
	}
	if _, stderr, code := runQuery(t, "context", "set", "lab", "--server", "http://localhost:1"); code == 0 ||
		!strings.Contains(stderr, place) {
		t.Errorf("got %d, %q, want %q", code, stderr, place)
	}
}
