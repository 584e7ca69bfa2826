package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/test"
)

// YAML says what JSON says, of a list, of one item and of a statement.
func TestQueryYAML(t *testing.T) {
	s := test.CannedServer(t, map[string]string{
		"bursts/x": readAnswer(t, "burst"),
		"query":    `{"columns": ["n"], "rows": [[18446744073709551615], ["no"]]}`,
	})
	for _, args := range [][]string{{"exporters"}, {"bursts", "x"}, {"query", "SELECT 1"}} {
		var values [2]any
		for i, output := range []string{"json", "yaml"} {
			stdout, stderr, code := runQuery(t, append(args, "--server", s.URL, "-o", output)...)
			if code != 0 {
				t.Fatalf("%v: code %d: %s", args, code, stderr)
			}
			if isJSON := json.Valid([]byte(stdout)); isJSON != (output == "json") {
				t.Errorf("%v -o %s: got %.300s", args, output, stdout)
			}
			if err := yaml.Unmarshal([]byte(stdout), &values[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(values[0], values[1]) {
			t.Errorf("%v: YAML has %v\nJSON has %v", args, values[1], values[0])
		}
	}
	if _, stderr, code := runQuery(t, "exporters", "--server", s.URL, "-o", "yaml", "--watch", "1s"); code != 2 {
		t.Errorf("--watch: code %d: %s", code, stderr)
	}
}

// Without titles a table and CSV have their rows only. Rows that differ by their hardware id say so.
func TestQueryNoHeaders(t *testing.T) {
	s := test.CannedServer(t, nil)
	whole, _, _ := runQuery(t, "exporters", "--server", s.URL)
	bare, _, code := runQuery(t, "exporters", "--server", s.URL, "--no-headers")
	title, rows, _ := strings.Cut(whole, "\n")
	if code != 0 || !strings.Contains(title, "HW ID") ||
		strings.Join(strings.Fields(bare), " ") != strings.Join(strings.Fields(rows), " ") {
		t.Errorf("got\n%s\nwant the rows of\n%s", bare, whole)
	}
	s = test.CannedServer(t, map[string]string{"exporters": "source,node\n192.0.2.1,1\n"})
	if got, _, _ := runQuery(t, "exporters", "--server", s.URL, "-o", "csv", "--no-headers"); got != "192.0.2.1,1\n" {
		t.Errorf("got %q", got)
	}
}

func readAnswer(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(apiAnswers + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
