package grafana

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the dashboards")

// TestDashboards holds the files to what the code makes.
func TestDashboards(t *testing.T) {
	for i := range boards {
		b := &boards[i]
		built, err := b.build()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.MarshalIndent(built, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		file := b.name + ".json"
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what dashboards.go makes (%v): go test ./export/grafana -update", file, err)
		}
	}
}
