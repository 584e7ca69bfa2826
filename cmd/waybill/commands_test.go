package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill-int/waybill/internal/command"
)

// Waybill alone prints its help: every command in a group, with an example, and no line longer than those of others.
func TestHelp(t *testing.T) {
	stdout, stderr, code := runWaybill(t)
	if code != 0 || stderr != "" {
		t.Fatalf("code %d, %s", code, stderr)
	}
	if help, _, _ := runWaybill(t, "--help"); help != stdout {
		t.Errorf("--help prints\n%s", help)
	}
	root := newRootCommand()
	for _, c := range root.Commands() {
		below := c.HasSubCommands() // whose subcommands have the examples
		if c.GroupID == "" || c.Example == "" && !below {
			t.Errorf("%s: group %q, example %q", c.Name(), c.GroupID, c.Example)
		}
		if !strings.Contains(stdout, "\n  "+c.Name()+" ") {
			t.Errorf("%s is not in the help", c.Name())
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if utf8.RuneCountInString(line) > 140 {
				t.Errorf("%s: %d columns: %s", c.Name(), utf8.RuneCountInString(line), line)
			}
		}
	}
	for _, g := range root.Groups() {
		if !strings.Contains(stdout, "\n"+g.Title+"\n") {
			t.Errorf("no group %s", g.Title)
		}
	}
}

// Every example of a list and of path and trace is a command line that the program takes.
func TestHelpExamples(t *testing.T) {
	t.Setenv("WAYBILL_SERVER", "http://127.0.0.1:1")
	for _, c := range newRootCommand().Commands() {
		if c.GroupID != "ask" && c.GroupID != "account" || c.Name() == "top" { // which needs a terminal first
			continue
		}
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, " > ")
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "waybill" || strings.ContainsAny(line, "\"'") ||
				strings.Contains(line, ".yaml") || strings.Contains(line, "--data") {
				continue
			}
			if _, stderr, code := runWaybill(t, args[1:]...); code != command.ExitFailed ||
				!strings.Contains(stderr, "is `waybill serve` running?") {
				t.Errorf("%s: code %d, %s", line, code, stderr)
			}
		}
	}
}
