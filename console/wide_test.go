package console_test

import (
	"strings"
	"testing"
)

// TestWide has a browser open every page of a server where a node has a name that no table has room for.
func TestWide(t *testing.T) {
	chromium := needBrowser(t)
	const name = "a-leaf-switch-in-row-17-of-hall-3-"
	long := name + strings.Repeat("x", 92-len(name)) + "🦊" // 93 characters; one of them is two in JavaScript
	server := fed(t, "testdata/all.yaml", names{"leaf1": long}, "--data", t.TempDir(), "--raw-reports", "64MiB")
	waitForRecords(t, server)
	drive(t, chromium, "wide.mjs", below(t, server))
}
