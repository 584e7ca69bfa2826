package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/cli"
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

// What is asked for and is not there is an error in the command line, in words of the program.
func TestUnknown(t *testing.T) {
	for line, want := range map[string]string{
		"help nonsense":            `unknown command "nonsense"; see waybill --help`,
		"help alerts nonsense":     `unknown command "alerts nonsense"; see waybill --help`,
		"flows --limit ten":        `--limit is "ten"; want a whole number`,
		"serve --coalesce=perhaps": `--coalesce is "perhaps"; want true or false`,
	} {
		_, errs, code := runWaybill(t, strings.Fields(line)...)
		if code != command.ExitUsage || !strings.Contains(errs, want) || strings.Contains(errs, "strconv") {
			t.Errorf("%s: code %d, %s", line, code, errs)
		}
	}
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		c.Flags().SetOutput(io.Discard) // that some are deprecated
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range []string{"x9", "-1x", "99999999999999999999", "1e999"} {
				err := c.ParseFlags([]string{"--" + f.Name + "=" + value})
				if err == nil {
					continue
				}
				err = cli.ExplainFlag(c, err)
				for _, leak := range []string{"strconv", "invalid syntax", "out of range", "time: ", "invalid argument"} {
					if strings.Contains(err.Error(), leak) {
						t.Errorf("%s --%s %s: %v", c.CommandPath(), f.Name, value, err)
					}
				}
			}
		})
		for _, below := range c.Commands() {
			look(below)
		}
	}
	look(newRootCommand())
	if out, _, code := runWaybill(t, "version"); code != 0 || out != "waybill version "+version+"\n" {
		t.Errorf("code %d, %s", code, out)
	}
	if out, _, code := runWaybill(t, "help", "flows"); code != 0 || !strings.Contains(out, "--limit") {
		t.Errorf("code %d, %s", code, out)
	}
}

// Every example of a list and of path and trace is a command line that the program takes.
func TestHelpExamples(t *testing.T) {
	t.Setenv("WAYBILL_SERVER", "http://127.0.0.1:1")
	t.Setenv("WAYBILL_CONTEXTS", filepath.Join(t.TempDir(), "contexts.yaml"))
	for _, c := range newRootCommand().Commands() {
		if c.GroupID != "ask" && c.GroupID != "account" || c.Name() == "top" || // which needs a terminal first
			c.Name() == "context" { // which asks nobody
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
