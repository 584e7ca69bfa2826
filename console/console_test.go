package console_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/waybill-int/waybill/console"
	"github.com/waybill-int/waybill/internal/test"
)

// TestBrowser has a browser open the pages of servers that heard of an emulated fabric, and compares with their API:
// the tests in test/e2e, which "npm run test:e2e" runs too. With CONSOLE_SHOTS=DIR they leave pictures of all pages
// there; "make test-long" runs the servers with the race detector.
func TestBrowser(t *testing.T) {
	t.Parallel()
	needPackages(t)
	if !console.Built() {
		t.Skip("the console is not built (make build)")
	}
	chromium := browser(t)
	environment := []string{"WAYBILL=" + test.Program(t), "CHROMIUM=" + chromium}
	// A dot for what passes: what failed should not drown in 200 lines.
	npm(t, environment, "run", "--silent", "test:e2e", "--", "--reporter=dot")
}

// TestModules runs the tests of src/lib and of the parts of pages that compute, and the linters.
func TestModules(t *testing.T) {
	t.Parallel()
	needPackages(t)
	npm(t, nil, "test", "--silent")
	npm(t, nil, "run", "--silent", "check")
	npm(t, nil, "run", "--silent", "lint")
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

// browser returns where Chromium is, or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	// The first has no windows to draw, and takes a third less of the processors.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("no chromium on PATH (apt-get install chromium-headless-shell)")
	return ""
}

// npm runs npm in an environment with more, and shows what it says if it fails.
func npm(t *testing.T, environment []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends what it started
	cmd.WaitDelay = 20 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("npm %v: %v\n%s", args, err, out)
	} else {
		t.Logf("%s", out)
	}
}
