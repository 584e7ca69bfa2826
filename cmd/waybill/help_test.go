package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What --help prints of every command is as in the golden file.
func TestHelpTexts(t *testing.T) {
	var all strings.Builder
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.Fields(c.CommandPath())[1:]
		stdout, stderr, code := runWaybill(t, append(name, "--help")...)
		if code != 0 || stderr != "" {
			t.Errorf("%s --help: code %d, %s", c.CommandPath(), code, stderr)
		}
		all.WriteString("$ " + c.CommandPath() + " --help\n" + stdout + "\n")
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(newRootCommand())
	file := filepath.Join("testdata", "help.golden")
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(all.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("%s differs from line %d on (go test -run TestHelpTexts -update writes it): got %q", file, i+1,
				got[min(i, len(got)-1)])
		}
	}
}
