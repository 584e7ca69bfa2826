package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// Of each list and each flag that lists have: it is taken, or one line says why not.
var lists = []string{
	"topology", "nodes", "links", "hops", "clocks", "cables", "hosts", "flows", "paths", "drops", "events", "bursts",
	"queues", "exporters", "loss",
}

func TestListFlags(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := startServer(t, func(c *serve.Config) { c.Data = t.TempDir() })
	server := s.URL()
	records := []string{"flows", "paths", "hops", "queues", "links", "drops", "exporters", "events", "bursts"}
	nowOnly := []string{"clocks", "cables", "hosts"}
	for _, name := range lists {
		for _, c := range []struct {
			flags string
			why   string // part of the error, if it is not taken
		}{
			{"-o wide", ""},
			{"-o json", ""},
			{"-o ndjson", ""},
			{"-o csv", ""},
			{"--limit 3", ""},
			{"-n 3 -w 1ms", "--watch is 1ms"},
			{"--filter node=1", ""},
			{"--top 2", ""},
			{"-o parquet", ""},
			{
				"--sort node",
				unless(name != "flows" && name != "paths" && name != "links" && name != "topology" &&
					name != "hosts", "allowed: |shown as a whole"),
			},
			{"--since 10m", unless(!slices.Contains(nowOnly, name), "of now only")},
			{"--since 10m --until now -o ndjson", unless(!slices.Contains(nowOnly, name), "of now only")},
			{
				"--since 10m --group-by ",
				unless(slices.Contains(records, name) || name == "loss", "of which records add up"),
			},
			{"--since 10m --interval 1m", unless(slices.Contains(records, name), "of which records add up")},
			{"--group-by x", "add --since|of which records add up|group_by has"},
			{"--since 10m --follow", "do not go together|of now only|--watch 2s"},
			{"--sort beauty", "allowed: |shown as a whole"},
			{"--filer node=1", "unknown flag: --filer"},
			{"-o xml", "allowed: table"},
		} {
			args := append([]string{name, "-s", server}, strings.Split(c.flags, " ")...)
			_, stderr, code := runWaybill(t, args...)
			said := slices.ContainsFunc(strings.Split(c.why, "|"),
				func(why string) bool { return strings.Contains(stderr, why) })
			if c.why == "" && code != 0 || c.why != "" &&
				(code != command.ExitUsage || !said || strings.Count(stderr, "\n") != 1) {
				t.Errorf("%s %s: code %d, said %q, want %q", name, c.flags, code, stderr, c.why)
			}
		}
	}
	if _, stderr, _ := runWaybill(t, "hosts", "--filer", "node=1"); !strings.Contains(stderr,
		"did you mean --filter?") {
		t.Errorf("got %q", stderr)
	}
}

// TestFlagLetters: a flag that several commands have has the same letter in all of them, and what is printed as a table
// is printed as JSON and YAML too.
func TestFlagLetters(t *testing.T) {
	letters := map[string]string{
		"config": "c", "follow": "f", "limit": "n", "output": "o", "quiet": "q", "server": "s", "watch": "w",
	}
	tables := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name, usage := pflag.UnquoteUsage(f)
			if name == "NAME" { // --output of waybill alerts test names one of those of alerts
				return
			}
			if want, ok := letters[f.Name]; ok && f.Shorthand != want {
				t.Errorf("%s: --%s is -%s for short, want -%s", c.CommandPath(), f.Name, f.Shorthand, want)
			}
			if f.Name != "output" || f.DefValue != "table" {
				return
			}
			tables++
			if !strings.Contains(usage, " json, yaml") {
				t.Errorf("%s -o: got %q", c.CommandPath(), usage)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
	if tables < 20 {
		t.Errorf("only %d commands print tables", tables)
	}
}

// unless returns text unless is.
func unless(is bool, text string) string {
	if is {
		return ""
	}
	return text
}
