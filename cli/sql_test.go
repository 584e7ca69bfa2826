package cli

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
)

// What a statement answers is printed in each format, its numbers exact, NULL as each format has it.
func TestSQLOutputs(t *testing.T) {
	answer := func(context.Context, string, int) (*store.Answer, error) {
		return &store.Answer{
			Columns: []string{"id", `a "name"`, "list"},
			Rows:    [][]any{{uint64(1<<64 - 1), nil, []any{1, 2}}, {uint64(2), "b,c", nil}},
		}, nil
	}
	s := httptest.NewServer(api.New(api.Config{Collector: &analyze.Collector{}, SQL: answer}))
	defer s.Close()
	for output, want := range map[string]string{
		"table": "id                    a \"name\"  list\n18446744073709551615  -         [1,2]\n2                     b,c       -\n",
		"csv":   "id,\"a \"\"name\"\"\",list\n18446744073709551615,,\"[1,2]\"\n2,\"b,c\",\n",
		"ndjson": `{"id":18446744073709551615,"a \"name\"":null,"list":[1,2]}` + "\n" +
			`{"id":2,"a \"name\"":"b,c","list":null}` + "\n",
	} {
		ask := []string{"query", "SELECT 1", "--server", s.URL, "-o", output}
		stdout, stderr, code := runQuery(t, ask...)
		if code != 0 || stdout != want {
			t.Errorf("%s: code %d, %s\ngot  %q\nwant %q", output, code, stderr, stdout, want)
		}
		bare, _, _ := runQuery(t, append(ask, "--no-headers")...)
		_, rows, _ := strings.Cut(want, "\n")
		if output == "csv" && bare != rows || output == "ndjson" && bare != want ||
			output == "table" && (strings.Contains(bare, "list") || strings.Count(bare, "\n") != 2) {
			t.Errorf("%s --no-headers: got %q", output, bare)
		}
	}
	if _, stderr, code := runQuery(t, "query", "SELECT 1", "-o", "wide"); code != 2 ||
		stderr != "waybill query: --output is \"wide\"; allowed: table, json, yaml, ndjson, csv\n" {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// TestSQLTables: --tables lists what statements can ask, of a store as it is.
func TestSQLTables(t *testing.T) {
	s, err := duckdb.Open(duckdb.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := httptest.NewServer(api.New(api.Config{Collector: &analyze.Collector{}, SQL: s.SQL}))
	defer server.Close()
	stdout, stderr, code := runQuery(t, "query", "--tables", "--server", server.URL)
	if code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	for _, name := range duckdb.TableNames() {
		if !strings.Contains(stdout, "\n"+name+" ") {
			t.Errorf("no %s in\n%s", name, stdout)
		}
	}
	if !strings.Contains(stdout, "start flow src_hi") {
		t.Errorf("no columns of flows in\n%s", stdout)
	}
	if _, stderr, code := runQuery(t, "query", "--tables", "SELECT 1"); code != 2 {
		t.Errorf("--tables with a statement: code %d, %s", code, stderr)
	}
}
