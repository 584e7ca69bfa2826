package incident

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

var update = flag.Bool("update", false, "write the rules into docs/reference/incidents.md")

// The reference has the rules as they are.
func TestGenerated(t *testing.T) {
	file := filepath.Join(test.Root(), "docs/reference/incidents.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-run Generated -update -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the rules")
	}
	var b strings.Builder
	b.WriteString("\n| Rule | Cause | Effect | Holds | Says |\n|---|---|---|---|---|\n")
	for i := range rules {
		b.WriteString(row(&rules[i]))
	}
	b.WriteString("\n")
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("docs/reference/incidents.md is not up to date: go test ./analyze/incident -run Generated -update")
	}
}

func row(r *rule) string {
	var when []string
	switch {
	case r.within != 0 && r.after == 0:
		when = append(when, fmt.Sprintf("it begins within %v of the cause", r.within))
	case r.after != 0:
		when = append(when, fmt.Sprintf("it begins before the cause is over for %v", r.after))
	}
	if r.when != "" {
		when = append(when, r.when)
	}
	kind := "proved"
	if r.likely {
		kind = "likely"
	}
	if r.same {
		kind = "again"
	}
	return fmt.Sprintf("| `%s`, %s | %s | %s | %s | %s |\n", r.id, kind, names(r.causes), names(r.effects),
		strings.Join(when, "; "), r.because)
}

func names(kinds []telemetry.EventKind) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = fmt.Sprintf("[%s](events.md#%s)", k, k)
	}
	return strings.Join(list, ", ")
}
