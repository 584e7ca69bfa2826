package main

import (
	"fmt"
	"strings"
)

const head = `# Conformance

What the specifications of INT, of telemetry reports and of IOAM ask of a node and of a collector, rule by rule, and the test
that holds Waybill to it. The rules are in Waybill's words; the section named with each of them decides.

%s

**Who**: S source, T transit, K sink, N every node that reports, C collector; MX and XD are modes of INT. **Level** is that of
the specification; *own* marks a rule where the specifications are silent or leave it to arithmetic.

This page is written by ` + "`go generate ./internal/conformance`" + `, which finds the tests by their names.
`

// page writes docs/reference/conformance.md.
func page(tests []found) string {
	var body strings.Builder
	rules, tested, refused := 0, 0, 0
	for _, s := range sections {
		fmt.Fprintf(&body,
			"\n## %s\n\n| Rule | Who | Level | What | From | Status | Tests |\n|---|---|---|---|---|---|---|\n",
			s.title)
		for i := range s.rules {
			r := &s.rules[i]
			rules++
			status, cell := "**no test**", r.not
			if list := r.of(tests); len(list) > 0 {
				tested++
				status, cell = "tested", links(list)
			} else if r.not != "" {
				refused++
				status = "not implemented"
			}
			fmt.Fprintf(&body, "| R-%d | %s | %s | %s | %s | %s | %s |\n", r.id, r.who, r.level, r.text, r.from, status,
				cell)
		}
	}
	sum := fmt.Sprintf("%d rules: %d tested, %d not implemented, for the reason that their row gives.", rules, tested,
		refused)
	if refused == 0 {
		sum = fmt.Sprintf("%d rules: %d tested.", rules, tested)
	}
	return fmt.Sprintf(head, sum) + body.String()
}

// links names tests with their package, as links to their files from docs/reference.
func links(list []found) string {
	var cells []string
	for _, f := range list {
		cells = append(cells, fmt.Sprintf("[`%s`](../../%s) in %s", f.name, f.file, f.folder()))
	}
	return strings.Join(cells, "<br>")
}

// untested returns the rules that have neither a test nor a reason.
func untested(tests []found) (list []int) {
	for _, s := range sections {
		for i := range s.rules {
			if r := &s.rules[i]; r.not == "" && len(r.of(tests)) == 0 {
				list = append(list, r.id)
			}
		}
	}
	return list
}
