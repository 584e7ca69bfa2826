package console_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistory has a browser look back at what a server keeps, and compares with the API.
func TestHistory(t *testing.T) {
	chromium := needBrowser(t)
	server := fed(t, "testdata/all.yaml", nil, "--data", t.TempDir())
	waitForRecords(t, server)
	drive(t, chromium, "history.mjs", below(t, server))
}

// TestLarge: a network of 500 switches is drawn, and can be moved. CONSOLE_MEASURE=1 also says how smoothly.
func TestLarge(t *testing.T) {
	chromium := needBrowser(t)
	file := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(file, []byte(leafSpine(484, 16)), 0o600); err != nil {
		t.Fatal(err)
	}
	drive(t, chromium, "large.mjs", below(t, fed(t, file, nil)))
}

// leafSpine is a scenario with a host at each leaf, larger than topology.leaf_spine may be, in which flows of one packet go by as
// many links as they can.
func leafSpine(leaves, spines int) string {
	var b strings.Builder
	b.WriteString("name: large\nduration: 8s\ntopology:\n  graph:\n    switches:\n")
	for i := range leaves {
		fmt.Fprintf(&b, "      - {name: leaf%d}\n", i+1)
	}
	for i := range spines {
		fmt.Fprintf(&b, "      - {name: spine%d}\n", i+1)
	}
	b.WriteString("    links:\n")
	for i := range leaves * spines {
		fmt.Fprintf(&b, "      - {between: [leaf%d, spine%d], rate: 10M, delay: 5us}\n", i/spines+1, i%spines+1)
	}
	b.WriteString("    hosts:\n")
	for i := range leaves {
		fmt.Fprintf(&b, "      - {name: h%d, at: leaf%d, link: {rate: 10M, delay: 2us}}\n", i+1, i+1)
	}
	b.WriteString("traffic:\n  - {poisson: {load: 1%, sizes: 1kB}, port: 6000}\n")
	return b.String()
}

// names are other names for nodes of a scenario.
type names map[string]string

// fed starts a server that hears of all that happens in a scenario, and returns where it is.
func fed(t *testing.T, scenario string, renamed names, args ...string) string {
	t.Helper()
	waybill := build(t)
	scenario, err := filepath.Abs(scenario)
	if err != nil {
		t.Fatal(err)
	}
	config, err := exec.CommandContext(t.Context(), waybill, "fabric", scenario, "--serve-config").Output()
	if err != nil {
		t.Fatal(err)
	}
	for node, name := range renamed {
		config = bytes.ReplaceAll(config, []byte(node), []byte("'"+name+"'"))
	}
	file := filepath.Join(t.TempDir(), "serve.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	server := serve(t, waybill, append([]string{"--config", file}, args...)...)
	if out, err := exec.CommandContext(t.Context(), waybill, "fabric", scenario, "--quiet", "--reports", listener(t, server)).CombinedOutput(); err != nil {
		t.Fatalf("waybill fabric: %v\n%s", err, out)
	}
	return server
}
