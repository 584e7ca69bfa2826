package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// Of TestGrowth: GROWTH_PICTURES is the directory for its pictures; without it the test takes seconds, and leaves
// nothing. GROWTH_RESULT is the file for its figures. GROWTH_AXES says of what there is more; else of each in turn.
const (
	growthPictures = "GROWTH_PICTURES"
	growthResult   = "GROWTH_RESULT"
	growthAxes     = "GROWTH_AXES"
)

// A growthAxis is of what there is more from point to point, and which figures are drawn.
type growthAxis struct {
	name   string
	points []int
	units  []string
}

var growth = []growthAxis{
	{"flows", []int{1000, 10_000, 100_000, 1_000_000, 10_000_000}, []string{"gp/report", "ns/report", "B/flow"}},
	{"active", []int{1000, 10_000, 100_000, 1_000_000}, []string{"gp/report", "ns/report"}},
	{"hops", []int{1, 2, 4, 6, 8, 12, 16}, []string{"gp/report", "ns/report", "B/flow"}},
	{"exporters", []int{1, 4, 16, 64, 256, 1024, 4096}, []string{"gp/report", "ns/report", "MB"}},
	{"shards", []int{1, 2, 4, 8, 16}, []string{"ns/report", "cpu-ns/report", "MB"}},
	{"sampling", []int{1, 10, 100, 1000}, []string{"gp/report", "ns/report", "flows"}},
}

var growthTitles = map[string]string{
	"gp/report": "a report, of gopacket's time", "ns/report": "a report, ns", "B/flow": "a flow, bytes",
	"cpu-ns/report": "a report, ns of processors", "MB": "heap, MB", "flows": "flows in the table",
}

// bytesPerFlow is more than a flow takes while tables are filled: points for which there is no memory are left out.
const bytesPerFlow = 1100

// TestGrowth measures what a report and a flow take as there is more of one thing, and draws it: BenchmarkGrowth of
// package analyze, each point in a process of its own. "make bench-growth" has all points, ten times.
func TestGrowth(t *testing.T) {
	pictures, runs, length := os.Getenv(growthPictures), 10, "300ms"
	axes, build := growth, []string{"-pgo", filepath.Join(test.Root(), "cmd/waybill/default.pgo")}
	if pictures == "" {
		pictures, runs, length, build = t.TempDir(), 2, "1x", []string{"-buildvcs=false"}
		axes = test.Part(t, []growthAxis{
			{"flows", []int{1000, 4000}, growth[0].units},
			{"shards", []int{1, 2}, []string{"ns/report", "cpu-ns/report", "MB"}},
		}, 2)
	}
	program := filepath.Join(t.TempDir(), "analyze.test")
	arguments := append([]string{"test", "-c", "-o", program}, build...)
	cmd := exec.CommandContext(t.Context(), "go", append(arguments, "./analyze")...)
	cmd.Dir = test.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	var all bytes.Buffer
	for name := range strings.FieldsSeq(os.Getenv(growthAxes)) {
		if !slices.ContainsFunc(axes, func(a growthAxis) bool { return a.name == name }) {
			t.Fatalf("%s: there is no axis %s", growthAxes, name)
		}
	}
	for _, axis := range axes {
		if names := os.Getenv(growthAxes); names != "" && !slices.Contains(strings.Fields(names), axis.name) {
			continue
		}
		panels := make([]panel, len(axis.units))
		for i, unit := range axis.units {
			panels[i] = panel{title: axis.name + ": " + growthTitles[unit], lines: make([][]float64, 3)}
		}
		for _, n := range axis.points {
			memory, _ := os.ReadFile("/proc/meminfo")
			free := 1024 * int(numberBehind(string(memory), "MemAvailable:"))
			if axis.name == "flows" && n*bytesPerFlow > free {
				t.Logf("%s=%d is left out: it takes %d MB, %d are free", axis.name, n, n*bytesPerFlow/1e6, free/1e6)
				continue
			}
			point := fmt.Sprintf("%s=%d", axis.name, n)
			cmd := exec.CommandContext(t.Context(), program, "-test.run", "^$", "-test.bench", "^BenchmarkGrowth$",
				"-test.count", strconv.Itoa(runs), "-test.benchtime", length, "-test.timeout", "0")
			cmd.Env = append(os.Environ(), "WAYBILL_BENCH_GROWTH="+point)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", point, err, out)
			}
			all.Write(out)
			figures := readResults(t, out)["Growth/"+point+"/report"]
			said := point
			for i, unit := range axis.units {
				values := figures[unit]
				if len(values) != runs {
					t.Fatalf("%s: %d runs have %s, want %d:\n%s", point, len(values), unit, runs, out)
				}
				slices.Sort(values)
				lowest, median, highest := values[0], values[len(values)/2], values[len(values)-1]
				for line, value := range []float64{median, lowest, highest} {
					panels[i].lines[line] = append(panels[i].lines[line], value)
				}
				panels[i].labels = append(panels[i].labels, short(n))
				said += fmt.Sprintf("  %.4g (%.4g to %.4g) %s", median, lowest, highest, unit)
			}
			if flows := figures["flows"][0]; axis.name == "flows" && int(flows) != n {
				t.Errorf("%s: there are %v flows in the tables", point, flows)
			}
			t.Log(said)
		}
		file := filepath.Join(pictures, "growth-"+axis.name+".svg")
		draw(t, file, len(panels), 300, 180, panels)
		checkPicture(t, file, panels)
	}
	if file := os.Getenv(growthResult); file != "" {
		if err := os.WriteFile(file, all.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// short writes a number of a picture's bottom line.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 10_000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

// checkPicture: a picture is well-formed, and has titles and labels.
func checkPicture(t *testing.T, file string, panels []panel) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch e := token.(type) {
		case xml.CharData:
			texts[string(e)] = true
		case xml.StartElement:
			if slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "style" }) {
				t.Errorf("%s has inline style", file)
			}
		}
	}
	for _, p := range panels {
		if !texts[p.title] || !texts[p.labels[0]] {
			t.Errorf("%s has no %q with %q", file, p.title, p.labels[0])
		}
	}
}
