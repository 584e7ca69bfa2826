package cli

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// keptFlows serves a store with flows of 5 intervals, 7 in each, whose bytes are large numbers. It returns the line of
// each flow, in order, and the URL.
func keptFlows(t *testing.T, from time.Time) (lines []string, url string) {
	t.Helper()
	config := duckdb.DefaultConfig(filepath.Join(t.TempDir(), "store"))
	config.MinFree = 1 << 20
	s, err := duckdb.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	kept := &telemetry.Intervals{}
	for i := range 5 {
		for port := range 7 {
			start := from.Add(time.Duration(i) * 10 * time.Second)
			bytes := uint64(1)<<60 + uint64(10*i+port)
			kept.Flows = append(kept.Flows, telemetry.FlowInterval{
				StartNs: start.UnixNano(), Reports: 1, Packets: 1, Bytes: bytes, Path: 0xabc,
				Key: telemetry.FlowKey{
					Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}),
					Dst: telemetry.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: uint16(port + 1), Protocol: 17,
				},
			})
			lines = append(lines, fmt.Sprintf("%s %d %d", start.Format(time.RFC3339Nano), port+1, bytes))
		}
	}
	if err := s.Write([]*telemetry.Intervals{kept}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(api.Config{Collector: &analyze.Collector{}, SQL: s.SQL}))
	t.Cleanup(server.Close)
	return lines, server.URL
}

// keptTexts are the addresses and the path of all flows of keptFlows, as text.
const keptTexts = "10.0.0.1 10.0.0.2 0000000000000abc"

// exported runs an export in pages of so many rows, and returns the times, ports and bytes in the file.
func exported(t *testing.T, url, file string, page int, since, until string) []string {
	t.Helper()
	c := exportCommand{
		sql: sqlCommand{local: serve.LocalStore{}}, page: page, table: "flows_10s", file: file,
		since: since, until: until,
	}
	c.sql.server.url = url
	if err := c.check(time.Now()); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := c.run(t.Context(), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".waybill*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	var lines []string
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(file) {
	case ".csv":
		rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		for _, row := range rows[1:] {
			lines = append(lines, fmt.Sprintf("%s %s %s", row[at["start"]], row[at["src_port"]], row[at["bytes"]]))
			if got := row[at["src"]] + " " + row[at["dst"]] + " " + row[at["path"]]; got != keptTexts {
				t.Errorf("got %s, want %s", got, keptTexts)
			}
		}
	case ".ndjson":
		for line := range strings.Lines(string(content)) {
			var row struct {
				Start           string
				Src_port, Bytes json.Number
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s", row.Start, row.Src_port, row.Bytes))
		}
	case ".parquet":
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), "SELECT start, src_port, bytes FROM read_parquet('"+file+
			"') WHERE src || ' ' || dst || ' ' || path = '"+keptTexts+"'")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var start time.Time
			var port uint16
			var n uint64
			if err := rows.Scan(&start, &port, &n); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%s %d %d", start.UTC().Format(time.RFC3339Nano), port, n))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if said := fmt.Sprintf("%s of flows_10s in %s\n", counted(uint64(len(lines)), "row"),
		file); stderr.String() != said || stdout.Len() > 0 {
		t.Errorf("said %q, want %q", stderr.String(), said)
	}
	at := func(line string) string { at, _, _ := strings.Cut(line, " "); return at }
	if !slices.IsSortedFunc(lines, func(a, b string) int { return strings.Compare(at(a), at(b)) }) {
		t.Errorf("%s: not in the order of times: %q", file, lines)
	}
	slices.Sort(lines) // in one interval, flows are in the order of their ids
	return lines
}

// Every row is in the file, once and with its exact numbers, in whatever pages it came.
func TestExport(t *testing.T) {
	from := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	want, url := keptFlows(t, from)
	for _, file := range []string{"flows.csv", "flows.ndjson", "flows.parquet"} {
		pages := append(test.Part(t, []int{1, 3, 7}, 3), 35, 36, 10000)
		if file != "flows.csv" {
			pages = []int{7} // what is in a page does not depend on how it is written
		}
		for _, page := range pages {
			got := exported(t, url, filepath.Join(t.TempDir(), file), page, "", "")
			if !slices.Equal(got, want) {
				t.Fatalf("%s in pages of %d: got %d rows, want %d:\n%s", file, page, len(got), len(want),
					strings.Join(got, "\n"))
			}
		}
	}
	at := func(i int) string { return from.Add(time.Duration(i) * 10 * time.Second).Format(time.RFC3339) }
	if got := exported(t, url, filepath.Join(t.TempDir(), "part.csv"), 4, at(1), at(3)); !slices.Equal(got,
		want[7:21]) {
		t.Errorf("two intervals: got\n%s", strings.Join(got, "\n"))
	}
	stdout, _, code := runQuery(t, "export", "flows_10s", "--server", url)
	if code != 0 || strings.Count(stdout, "\n") != 36 || !strings.HasPrefix(stdout, "start,") {
		t.Errorf("code %d, got\n%s", code, stdout)
	}
}

func TestExportErrors(t *testing.T) {
	_, url := keptFlows(t, time.Now().UTC().Truncate(time.Hour))
	file := filepath.Join(t.TempDir(), "none", "x.csv")
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"":                          {2, "got 0 tables, want one"},
		"flows":                     {2, "there is no table flows; the tables are flows_10s, flows_1m, "},
		"waybill_schema":            {2, "there is no table waybill_schema; "},
		"flows_1m;":                 {2, `"flows_1m;" is not the name of a table`},
		"flows_1m -o xml":           {2, `--output is "xml"; allowed: csv, ndjson, parquet`},
		"flows_1m -o csv --parquet": {2, "--parquet and --output csv do not go together"},
		"flows_1m --file x.txt": {
			2,
			`--file is "x.txt", whose end says no format; --output says one: csv, ndjson, parquet`,
		},
		"flows_1m --since yesterday": {
			2,
			`--since is "yesterday"; allowed: a time such as 2026-11-21T09:00:00Z, or how long ago, such as 10m`,
		},
		"flows_1m --since 5m --until 10m": {2, "--until is not after --since"},
		"flows_1m --file " + file:         {1, "no such file or directory"},
	} {
		_, stderr, code := runQuery(t, append([]string{"export", "--server", url}, strings.Fields(args)...)...)
		if code != want.code || !strings.Contains(stderr, want.text) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %s", args, code, stderr)
		}
	}
	_, stderr, code := runQuery(t, "export", "flows_1m", "--server", emptyServer(t).URL)
	if code != 1 || !strings.Contains(stderr, "no store configured") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// What is offered to a shell are the tables that there are.
func TestExportTables(t *testing.T) {
	_, url := keptFlows(t, time.Now().UTC().Truncate(time.Hour))
	for _, table := range test.Part(t, duckdb.TableNames(), 4) {
		if stdout, stderr, code := runQuery(t, "export", table, "--server", url); code != 0 ||
			!strings.HasPrefix(stdout, "start,") {
			t.Errorf("%s: code %d, %s", table, code, stderr)
		}
	}
}
