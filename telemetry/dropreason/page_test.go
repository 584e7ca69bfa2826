package dropreason

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/drop-reasons.md")

const pagePath = "../../docs/reference/drop-reasons.md"

func TestPageIsAsGenerated(t *testing.T) {
	want := page()
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not up to date: go test ./telemetry/dropreason -update", pagePath)
	}
}

const pageHead = `# Drop reasons

Why packets are dropped, in words that do not depend on who made the device; then what each source of reasons means by its
numbers and names. A number says nothing without its sender: the [dialect](dialects.md) of a source says which table its
numbers are of.

**Severity** is that of a single drop: *info* if somebody wants these packets dropped or every network has some, *warning* if
traffic suffers or somebody sends what nobody should, *critical* if the network does not do what it is for. How many there are
is another question.

This page is written by ` + "`go test ./telemetry/dropreason -update`" + ` from the catalogue in telemetry/dropreason.
`

// page writes docs/reference/drop-reasons.md.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for g, reasons := range catalogue {
		fmt.Fprintf(&b,
			"\n## %s\n\n| No. | Id | Name | Severity | What it means | What to do |\n|---|---|---|---|---|---|\n",
			groupNames[g].title)
		for i := range reasons {
			r := &reasons[i]
			fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s | %s |\n", r.Number, r.ID, r.Name, r.Severity, r.Meaning,
				r.Action)
		}
	}
	b.WriteString("\n## Numbers that contradict each other\n\n" +
		"The same number at two senders. None of them is wrong: the field is defined by each implementation (TR 2.0 §3.3.1).\n\n" +
		"| Number | Means |\n|---|---|\n")
	for _, n := range conflicts() {
		fmt.Fprintf(&b, "| %d | %s |\n", n, strings.Join(meanings(n), "; "))
	}
	b.WriteString("\n## Reasons with several numbers\n\n| Id | Numbers |\n|---|---|\n")
	for _, r := range All() {
		if list := numbersOf(r.ID); len(list) > 0 {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID, strings.Join(list, "; "))
		}
	}
	b.WriteString(
		"\nNumbers of the Linux kernel are not in these tables: they change from version to version (`NETFILTER_DROP` was 8 for\n" +
			"years, and is 12 since others were put in front of it). Use the names. Those of SAI have more than 8 bits in the range that\n" +
			"vendors may use, so they do not fit into the field.\n\n" +
			"Old versions of fabric-tna, before the user plane function was renamed from SPGW to UPF, mean something else by three numbers:\n" +
			"132 and 133 are a missing downlink and uplink rule (`session_missing`), 134 a missing forwarding action\n" +
			"(`termination_missing`).\n")
	b.WriteString("\n## Names by source\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "\n### %s\n\nFrom %s.\n\n", s.name, s.from)
		numbered := s.aliases[0].number != noNumber
		if numbered {
			b.WriteString("| Number | Name | Id |\n|---|---|---|\n")
		} else {
			b.WriteString("| Name | Id |\n|---|---|\n")
		}
		for _, a := range s.aliases {
			if numbered {
				fmt.Fprintf(&b, "| %d | `%s` | `%s` |\n", a.number, a.name, a.id)
			} else {
				fmt.Fprintf(&b, "| `%s` | `%s` |\n", strings.ToUpper(a.name), a.id)
			}
		}
	}
	return b.String()
}

// conflicts returns the numbers that have two meanings.
func conflicts() []int {
	ids := map[int]map[string]bool{}
	for _, s := range sources {
		for _, a := range s.aliases {
			if a.number != noNumber {
				if ids[a.number] == nil {
					ids[a.number] = map[string]bool{}
				}
				ids[a.number][a.id] = true
			}
		}
	}
	var list []int
	for _, n := range slices.Sorted(maps.Keys(ids)) {
		if len(ids[n]) > 1 {
			list = append(list, n)
		}
	}
	return list
}

func meanings(n int) (list []string) {
	for _, s := range sources {
		for _, a := range s.aliases {
			if a.number == n {
				list = append(list, fmt.Sprintf("%s: `%s`", s.name, a.id))
			}
		}
	}
	return list
}

// numbersOf returns the numbers of a reason by source, if there is more than one number.
func numbersOf(id string) (list []string) {
	seen := map[int]bool{}
	for _, s := range sources {
		var numbers []string
		for _, a := range s.aliases {
			if a.id == id && a.number != noNumber {
				seen[a.number] = true
				numbers = append(numbers, fmt.Sprint(a.number))
			}
		}
		if numbers != nil {
			list = append(list, s.name+" "+strings.Join(numbers, ", "))
		}
	}
	if len(seen) < 2 {
		return nil
	}
	return list
}

// TestKnownConflicts holds the ones that the specifications' readers know of.
func TestKnownConflicts(t *testing.T) {
	got := conflicts()
	for _, n := range []int{15, 29, 30, 31} {
		if !slices.Contains(got, n) {
			t.Errorf("%d does not contradict", n)
		}
	}
	for _, id := range []string{"acl_deny", "queue_full", "vlan_not_on_port"} {
		if len(numbersOf(id)) < 2 {
			t.Errorf("%s has one number only", id)
		}
	}
}
