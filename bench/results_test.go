package bench

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// readResults returns the values of the runs in what a program of tests wrote, by benchmark and unit.
func readResults(t *testing.T, out []byte) map[string]map[string][]float64 {
	t.Helper()
	all := map[string]map[string][]float64{}
	r := benchfmt.NewReader(bytes.NewReader(out), "benchmark")
	for r.Scan() {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v in\n%s", r.Result(), out)
		}
		base, parts := result.Name.Parts()
		name := string(base)
		for _, part := range parts {
			if !strings.HasPrefix(string(part), "-") { // the number of processors
				name += string(part)
			}
		}
		if all[name] == nil {
			all[name] = map[string][]float64{}
		}
		for _, v := range result.Values {
			if v.OrigUnit != "" { // the reader makes seconds of nanoseconds
				v.Unit, v.Value = v.OrigUnit, v.OrigValue
			}
			all[name][v.Unit] = append(all[name][v.Unit], v.Value)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
