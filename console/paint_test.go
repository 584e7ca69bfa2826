package console_test

import "testing"

// TestPaint has a browser open each page by itself: nothing may move while answers come. It says how soon there is something to see.
func TestPaint(t *testing.T) {
	chromium := needBrowser(t)
	server := fed(t, "testdata/all.yaml", nil, "--data", t.TempDir())
	waitForRecords(t, server)
	drive(t, chromium, "paint.mjs", below(t, server))
}
