package docs_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

var (
	code    = regexp.MustCompile("(?s)```.*?\n```|`[^`\n]+`|(?m:^    [^\n]*)")
	call    = regexp.MustCompile(`(?:^|\s|bin/)waybill ([a-z]+)([^\n|)#]*)`) // up to a pipe, a bracket or a remark
	flag    = regexp.MustCompile(`(?:^|[\s"(])(--?[a-zA-Z][a-z0-9-]*)`)
	helpFor = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`)
	inHelp  = regexp.MustCompile(`(?m)^  (?:-[a-zA-Z], |    )--[a-z0-9-]+`)
)

// TestCommands compares the commands and flags on all pages with those of the program, in both directions for cli.md.
func TestCommands(t *testing.T) {
	flags := commandTree(t)
	check := func(t *testing.T, _, text string) {
		for _, block := range code.FindAllString(text, -1) {
			block = strings.ReplaceAll(strings.Trim(block, "`"), "\\\n", " ")
			for _, m := range call.FindAllStringSubmatch(block, -1) {
				known, ok := flags[m[1]]
				if !ok {
					t.Errorf("there is no waybill %s", m[1])
				}
				for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
					if ok && !slices.Contains(known, f[1]) {
						t.Errorf("waybill %s has no %s", m[1], f[1])
					}
				}
			}
			if m := flag.FindStringSubmatch(block); m != nil && strings.HasPrefix(block, "-") &&
				!slices.Contains(flags[""], m[1]) {
				t.Errorf("no command has %s", m[1])
			}
		}
	}
	eachPage(t, check)
	readme, page := read(t, "../README.md"), read(t, "reference/cli.md")
	check(t, "", readme)
	if n := strings.Count(readme, "\n"); n > 100 {
		t.Errorf("README.md has %d lines; more than 100 nobody reads", n)
	}
	for _, m := range link.FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat("../" + m[1]); err != nil {
			t.Errorf("README.md: link to %s: no such file", m[1])
		}
	}
	for name, known := range flags {
		if !strings.Contains(page, "`waybill "+name) && name != "help" {
			t.Errorf("cli.md: no waybill %s", name)
		}
		for _, f := range known {
			if !strings.Contains(page, "`"+f+"`") && !strings.Contains(page, "`"+f+" ") {
				t.Errorf("cli.md: no %s, which waybill %s has", f, name)
			}
		}
	}
}

var (
	console = regexp.MustCompile("(?s)```console\n(.*?)```")
	listing = regexp.MustCompile(`(?m)^\$ (?:bin/)?waybill ([a-z]+)([^\n]*)\n([A-Z][^\n]*)$`)
	gap     = regexp.MustCompile(` {2,}`)
)

// TestTables compares the titles of tables on all pages with those that the program prints.
func TestTables(t *testing.T) {
	n := 0
	check := func(t *testing.T, page, text string) {
		for _, block := range console.FindAllStringSubmatch(text, -1) {
			for _, m := range listing.FindAllStringSubmatch(block[1], -1) {
				golden := "../cli/testdata/" + m[1] + ".table"
				if strings.Contains(m[2], "-o wide") {
					golden = "../cli/testdata/" + m[1] + ".wide"
				}
				text, err := os.ReadFile(golden)
				if err != nil || strings.Contains(m[2], "--since") || m[1] == "decode" {
					continue
				}
				titles, _, _ := strings.Cut(string(text), "\n")
				if got, want := gap.Split(m[3], -1), gap.Split(titles, -1); !slices.Equal(got, want) {
					t.Errorf("%s: waybill %s%s shows\n%v, and prints\n%v", page, m[1], m[2], got, want)
				}
				n++
			}
		}
	}
	eachPage(t, check)
	check(t, "README.md", read(t, "../README.md"))
	if n < 10 {
		t.Errorf("%d tables", n)
	}
}

// commandTree returns the flags of each command; those of "" are of all together.
func commandTree(t *testing.T) map[string][]string {
	program := test.Program(t)
	all, _ := exec.Command(program, "--help").Output()
	flags := map[string][]string{"": {"--version"}}
	for _, m := range helpFor.FindAllStringSubmatch(string(all), -1) {
		help, _ := exec.Command(program, m[1], "--help").Output()
		for _, below := range helpFor.FindAllStringSubmatch(string(help), -1) { // of subcommands
			if more, err := exec.Command(program, m[1], below[1], "--help").Output(); err == nil &&
				m[1] != "completion" {
				help = append(help, more...)
				for _, deep := range helpFor.FindAllStringSubmatch(string(more), -1) { // such as node filter add
					deeper, _ := exec.Command(program, m[1], below[1], deep[1], "--help").Output()
					help = append(help, deeper...)
				}
			}
		}
		names := strings.Fields(strings.ReplaceAll(strings.Join(inHelp.FindAllString(string(help), -1), "\n"), ",",
			" "))
		slices.Sort(names)
		flags[m[1]] = slices.Compact(names)
		flags[""] = append(flags[""], flags[m[1]]...)
	}
	return flags
}
