package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Difference is something of which a collector says something else than the truth, or that only one of them knows.
type Difference struct {
	What, Truth, Serve string
}

// A Result is a comparison.
type Result struct {
	Facts       int // that were compared
	Differences []Difference
	Left        map[Rule]int // flows and paths of which something was not compared
}

// Compare compares what a collector should say with what it says.
func Compare(want, got *Answers) Result {
	r := Result{Left: map[Rule]int{}}
	truth, serve := want.facts(want, r.Left), got.facts(want, map[Rule]int{})
	r.Facts = len(truth)
	const absent = "-"
	for what, value := range truth {
		if said, ok := serve[what]; !ok {
			r.Differences = append(r.Differences, Difference{what, value, absent})
		} else if said != value {
			r.Differences = append(r.Differences, Difference{what, value, said})
		}
	}
	for what, said := range serve {
		if _, ok := truth[what]; !ok {
			r.Differences = append(r.Differences, Difference{what, absent, said})
		}
	}
	slices.SortFunc(r.Differences, func(a, b Difference) int { return cmp.Compare(a.What, b.What) })
	return r
}

// Table lists at most limit differences, and says how many there are.
func (r *Result) Table(limit int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tTRUTH\tSERVE")
	for _, d := range r.Differences[:min(limit, len(r.Differences))] {
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.What, d.Truth, d.Serve)
	}
	w.Flush()
	if more := len(r.Differences) - limit; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}
