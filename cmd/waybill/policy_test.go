package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/serve"
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
	good, bad := file("nodes: [{id: 1, name: fw}]\nrules: [{waypoints: [fw]}]\n"),
		file("nodes: [{id: 1}]\nrules:\n  - avoid: 9\n    dscp: 64\n")
	rules := file("rules:\n  - {name: a, filter: x = 1,\n    severity: y}\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"policy check " + good, 0, "the policy is valid: 1 nodes, 1 rules\n"},
		{"policy check " + bad, 2, bad + ":4: rules[0].dscp: got 64, want numbers from 0 to 63\n" + bad +
			":3: rules[0].avoid[0]: node 9 is not under nodes"},
		{"policy check", 2, "want one policy file"},
		{"policy check /nonexistent", 2, "no such file"},
		{"policy chk", 2, "there is check"},
		{"alerts check " + rules, 2, rules + ":2: rules[0].filter: "},
		{"alerts check " + rules, 2, rules + ":3: rules[0].severity: "},
		{"node --check --config " + bad, 2, bad},
		{"serve --check --policy " + good, 0, "the configuration is valid\n"},
		{"serve --check --policy " + bad, 2, "policy: " + bad + ":4: "},
	} {
		root := newRootCommand()
		var out bytes.Buffer
		root.SetArgs(strings.Fields(c.args))
		root.SetOut(&out)
		root.SetErr(&out)
		if code := command.Execute(root); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got code %d and %q; want code %d and %q", c.args, code, out.String(), c.code, c.want)
		}
	}
}

// Names of nodes in the policy serve where the configuration has none.
func TestPolicyNames(t *testing.T) {
	c := serve.DefaultConfig()
	c.Names[2] = "core"
	c.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(c.Policy, []byte("nodes: [{id: 1, name: fw}, {id: 2, name: other}, {id: 3}]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if got := c.NodeNames(); len(got) != 2 || got[1] != "fw" || got[2] != "core" {
		t.Errorf("got %v", got)
	}
}
