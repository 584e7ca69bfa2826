package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A policy is checked by itself and with the configuration; each mistake has its line.
func TestPolicyCheck(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good, bad := file("nodes: [{id: 1, name: fw}]\nrules: [{waypoints: [fw]}]\n"), file("nodes: [{id: 1}]\nrules:\n  - avoid: 9\n    dscp: 64\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"policy check " + good, 0, "the policy is valid: 1 nodes, 1 rules\n"},
		{"policy check " + bad, 1, bad + ":4: rules[0].dscp: got 64, want numbers from 0 to 63\n" + bad + ":3: rules[0].avoid[0]: node 9 is not under nodes"},
		{"policy check", 2, "want one policy file"},
		{"policy check /nonexistent", 1, "no such file"},
		{"policy chk", 2, "there is check"},
		{"serve --check --policy " + good, 0, "the configuration is valid\n"},
		{"serve --check --policy " + bad, 2, "policy: " + bad + ":4: "},
	} {
		root := newRootCommand()
		var out bytes.Buffer
		root.SetArgs(strings.Fields(c.args))
		root.SetOut(&out)
		root.SetErr(&out)
		if code := execute(root); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got code %d and %q; want code %d and %q", c.args, code, out.String(), c.code, c.want)
		}
	}
}

// Names of nodes in the policy serve where the configuration has none.
func TestPolicyNames(t *testing.T) {
	c := defaultServeConfig()
	c.Names[2] = "core"
	c.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(c.Policy, []byte("nodes: [{id: 1, name: fw}, {id: 2, name: other}, {id: 3}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if got := c.nodeNames(); len(got) != 2 || got[1] != "fw" || got[2] != "core" {
		t.Errorf("got %v", got)
	}
}

// The command that is printed with an event decodes its bytes.
func TestDecodeHint(t *testing.T) {
	report := test.Report(test.Form20MD, 1, 7, 3)
	hint := decodeHint([]telemetry.Event{{Bytes: report}})
	_, command, ok := strings.Cut(hint, "\nwaybill ")
	if !ok {
		t.Fatalf("got %q", hint)
	}
	root := newRootCommand()
	var out bytes.Buffer
	root.SetArgs(strings.Fields(command))
	root.SetOut(&out)
	root.SetErr(&out)
	if code := execute(root); code != 0 || !strings.Contains(out.String(), "telemetry report v2.0 of node 3") {
		t.Errorf("%s: code %d\n%s", command, code, out.String())
	}
	if decodeHint(nil) != "" || decodeHint([]telemetry.Event{{}}) != "" {
		t.Error("there is nothing to decode")
	}
}
