package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// The example of the how-to is shown, then written to a real Redis, then there.
func TestSonicApply(t *testing.T) {
	r := test.StartRedis(t)
	r.Command("4", "HSET DEVICE_METADATA|localhost hostname leaf1 hwsku Test-32x", "HSET PORT|Ethernet0 lanes 0")
	page, err := os.ReadFile("../../docs/how-to/configure-a-switch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(after, "```")
	file := filepath.Join(t.TempDir(), "leaf1.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, after, _ = strings.Cut(string(page), "```console\n")
	shown, _, _ := strings.Cut(after, "```")
	_, shown, _ = strings.Cut(shown, "\n") // the command
	apply := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := runWaybill(t,
			append([]string{"switch", "sonic", "apply", file, "--redis", r.Socket}, args...)...)
		if code != 0 {
			t.Fatalf("code %d: %s", code, stderr)
		}
		return stdout
	}
	if got := apply(); got != shown {
		t.Errorf("got\n%swant, as the page shows,\n%s", got, shown)
	}
	if got := r.Command("4", "DBSIZE"); got != "2\n" {
		t.Errorf("it was written: %s keys", got)
	}
	if got := apply("--write"); !strings.Contains(got, "\nkeys written: ") {
		t.Errorf("got\n%s", got)
	}
	if got := r.Command("4", "HGET DTEL_REPORT_SESSION|waybill UDP_DEST_PORT"); got != "32766\n" {
		t.Errorf("got port %s", got)
	}
	if got, want := apply(), "switch leaf1 Test-32x\nthe switch is as the file says\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// All that does not fit is told.
	r.Command("4", "DEL PORT|Ethernet0", "HSET ACL_RULE|DTEL_FLOW_WATCHLIST|r INT_SESSION all")
	_, stderr, code := runWaybill(t, "switch", "sonic", "apply", file, "--redis", r.Socket)
	if code != 2 || !strings.Contains(stderr, "has no port Ethernet0\n") ||
		!strings.Contains(stderr, "uses all, which") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// What is wrong with a file is told before any switch is asked.
func TestSonicApplyWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "leaf1.yaml")
	if err := os.WriteFile(file, []byte("switch_id: 1\npostcards: true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := runWaybill(t, "switch", "sonic", "apply", file, "--redis", "/nowhere")
	if code != 2 || !strings.Contains(stderr, file+":2: unknown key \"postcards\"") {
		t.Errorf("code %d: %s", code, stderr)
	}
}
