package console_test

import (
	"bytes"
	"context"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A view is what a browser made of the page after four seconds.
type view struct {
	dom     string   // the document as HTML
	text    string   // its text, each run of spaces as one
	console []string // lines of the browser's console: errors and violations of the content security policy
}

var (
	tags    = regexp.MustCompile(`<(?:"[^"]*"|[^">])*>`) // a ">" may stand in an attribute
	spaces  = regexp.MustCompile(`[\s\x{a0}]+`)
	dataset = regexp.MustCompile(`data-([a-z-]+)="([^"]*)"`)
	bodyTag = regexp.MustCompile(`<body(?:"[^"]*"|[^">])*>`)
)

// open opens an address in Chromium, or skips the test where there is none. Time in the browser is virtual: it stands
// still while an answer is on its way, so that the four seconds hold four rounds of requests on any machine.
func open(t *testing.T, url string) view {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			browser = found
			break
		}
	}
	if browser == "" {
		t.Skip("no chromium on PATH (apt-get install chromium)")
	}
	// Not t.TempDir, which complains if a process of the browser still writes while it is removed.
	profile, err := os.MkdirTemp("", "waybill-console-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+profile,
		"--window-size=1280,900", "--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom", url)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, stderr.Bytes())
	}
	v := view{dom: stdout.String()}
	text := tags.ReplaceAllString(v.dom, " ")
	v.text = spaces.ReplaceAllString(html.UnescapeString(text), " ")
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, ":CONSOLE") {
			v.console = append(v.console, strings.TrimSpace(line))
		}
	}
	return v
}

// says checks that the text of the page contains every one of texts.
func (v view) says(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(v.text, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	if t.Failed() {
		t.Logf("it says: %s", v.text)
	}
}

// count returns how many elements of that name there are.
func (v view) count(name string) int {
	n := 0
	for _, tag := range tags.FindAllString(v.dom, -1) {
		if strings.HasPrefix(tag, "<"+name) {
			n++
		}
	}
	return n
}

// state returns the data-* attributes of the body.
func (v view) state() map[string]string {
	state := map[string]string{}
	for _, m := range dataset.FindAllStringSubmatch(bodyTag.FindString(v.dom), -1) {
		state[m[1]] = html.UnescapeString(m[2])
	}
	return state
}
