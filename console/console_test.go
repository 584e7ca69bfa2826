package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/console"
)

// prefix is a path that the console knows nothing of.
const prefix = "/some/prefix/"

// markup is the name of a node: it has to stay a text, wherever it is shown.
const markup = `<img src=x onerror=alert(1)>`

// TestPages has a browser open every page of a server that heard of an emulated fabric, and compares with the API. With
// CONSOLE_SHOTS=DIR it leaves pictures of all pages there.
func TestPages(t *testing.T) {
	chromium := needBrowser(t)
	server := fed(t, "testdata/all.yaml", names{"spine2": markup}, "--data", t.TempDir(), "--raw-reports", "64MiB")
	drive(t, chromium, "pages.mjs", below(t, server))
}

// TestEmpty: a server without reports says where to send them, and one that is gone or slow shows and comes back.
func TestEmpty(t *testing.T) {
	chromium := needBrowser(t)
	drive(t, chromium, "empty.mjs", below(t, serve(t, build(t))))
}

// TestModules runs the tests of src/lib and of the parts of pages that compute.
func TestModules(t *testing.T) {
	needPackages(t)
	if out, err := exec.CommandContext(t.Context(), "npm", "test", "--silent").CombinedOutput(); err != nil {
		t.Errorf("npm test: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "npm", "run", "--silent", "check").CombinedOutput(); err != nil {
		t.Errorf("npm run check: %v\n%s", err, out)
	}
}

// TestFiles: without a build a page says how to get the console, and no file needs an inline script or style.
func TestFiles(t *testing.T) {
	index, err := fs.ReadFile(console.Files(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	if console.Built() == bytes.Contains(index, []byte("make build")) {
		t.Errorf("built: %v, and the page is\n%s", console.Built(), index)
	}
	if inline := regexp.MustCompile(`<script>|<style|\sstyle=|\son[a-z]+=|https?://`).Find(index); inline != nil {
		t.Errorf("index.html has %s", inline)
	}
}

func needPackages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/vitest"); err != nil {
		t.Skip("the packages of the console are not there (make setup-test)")
	}
}

// needBrowser returns where Chromium is, or skips the test.
func needBrowser(t *testing.T) string {
	t.Helper()
	needPackages(t)
	if !console.Built() {
		t.Skip("the console is not built (make build)")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("no chromium on PATH (apt-get install chromium)")
	return ""
}

func build(t *testing.T) string {
	t.Helper()
	waybill := filepath.Join(t.TempDir(), "waybill")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", waybill, "../cmd/waybill").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return waybill
}

// serve starts waybill serve and returns the address of its API, without a slash at the end.
func serve(t *testing.T, waybill string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), waybill, append([]string{"serve", "--listen", "udp://127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		said := regexp.MustCompile(`url"?[=:]"?(http://[0-9.:]+)`)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := said.FindStringSubmatch(lines.Text()); m != nil {
				at <- m[1]
			}
		}
		cmd.Wait()
	}()
	t.Cleanup(func() { <-ended }) // the test's context has ended by then, and with it the server
	select {
	case url := <-at:
		return url
	case <-ended:
		t.Fatal("waybill serve ended")
	case <-time.After(30 * time.Second):
		t.Fatal("waybill serve does not say where it serves")
	}
	return ""
}

// listener asks a server for the address that it receives reports at.
func listener(t *testing.T, server string) string {
	t.Helper()
	answer, err := http.Get(server + "/api/v1/listeners")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct {
		Listeners []struct{ Address string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Listeners) == 0 {
		t.Fatalf("listeners: %+v, %v", list, err)
	}
	return list.Listeners[0].Address
}

// below puts a proxy in front of server, which serves it below prefix.
func below(t *testing.T, server string) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	front := httptest.NewServer(http.StripPrefix(strings.TrimSuffix(prefix, "/"), proxy))
	t.Cleanup(front.Close)
	return front.URL + prefix
}

// drive runs one of the scripts that tell a browser what to do.
func drive(t *testing.T, chromium, script, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "test/e2e/"+script)
	cmd.Env = append(os.Environ(), "CONSOLE_URL="+url, "CHROMIUM="+chromium)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", script, err)
	}
	t.Logf("%s", out)
}
