package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/waybill-int/waybill/api/types"
)

// Each format has the items of the JSON answer, which the golden files vouch for.
func TestFormats(t *testing.T) {
	cfg := testConfig(captured(t))
	_, cfg.Events = happened(t)
	h := New(cfg)
	schemas := map[string][]string{}
	for _, o := range operations() {
		if o.find == nil || o.needs != nil || o.list == "" {
			continue // not without rules
		}
		sameInFormats(t, h, o.list, o.path)
		schemas[o.path] = parquetSchema(t, h, o.path)
	}
	text, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schemas/parquet", text)
}

// parquetSchema returns the columns that a list has in Parquet, with types, and whether they may lack or be repeated.
func parquetSchema(t *testing.T, h http.Handler, target string) (columns []string) {
	t.Helper()
	body := ask(h, "GET", target, accept("application/vnd.apache.parquet")).Body.Bytes()
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatalf("%s: parquet: %v", target, err)
	}
	lines := strings.Split(strings.TrimSpace(file.Schema().String()), "\n")
	for _, line := range lines[1 : len(lines)-1] { // without "message x {" and "}"
		columns = append(columns, strings.ReplaceAll(strings.TrimPrefix(line, "\t"), "\t", "  "))
	}
	return columns
}

// sameInFormats holds what each format has of a list to its JSON.
func sameInFormats(t *testing.T, h http.Handler, name, target string) {
	t.Helper()
	var list map[string]any
	json.Unmarshal(ask(h, "GET", target).Body.Bytes(), &list)
	items := list[name].([]any)

	w := ask(h, "GET", target+"?format=ndjson")
	decoder := json.NewDecoder(w.Body)
	for i := range items {
		var item any
		if err := decoder.Decode(&item); err != nil || fmt.Sprint(item) != fmt.Sprint(items[i]) {
			t.Errorf("%s: ndjson %d: %v %v", name, i, item, err)
		}
	}
	if decoder.More() {
		t.Errorf("%s: ndjson has more", name)
	}

	w = ask(h, "GET", target, accept("text/csv"))
	lines, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(lines) != len(items)+1 || w.Header().Get("Content-Type") != "text/csv" {
		t.Fatalf("%s: csv: %d lines of %d items, %v %v", name, len(lines), len(items), err, w.Header())
	}
	body := ask(h, "GET", target, accept("application/vnd.apache.parquet")).Body.Bytes()
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil || file.NumRows() != int64(len(items)) {
		t.Fatalf("%s: parquet: %v", name, err)
	}
	streamed := arrowRows(t, ask(h, "GET", target, accept("application/vnd.apache.arrow.stream")).Body)
	if len(streamed) != len(items) {
		t.Fatalf("%s: arrow: %d items, want %d", name, len(streamed), len(items))
	}
	reader := parquet.NewReader(file)
	for i := range items {
		row := map[string]any{}
		if err := reader.Read(&row); err != nil {
			t.Fatalf("%s: parquet: %v", name, err)
		}
		for j, column := range lines[0] {
			want := lookUp(items[i], column)
			if got := lines[i+1][j]; !same(want, got) {
				t.Errorf("%s: csv: item %d, %s: got %q, want %v", name, i, column, got, want)
			}
			if got := streamed[i][column]; got != lines[i+1][j] {
				t.Errorf("%s: arrow: item %d, %s: got %q, want %q", name, i, column, got, lines[i+1][j])
			}
			got, there := row[column]
			if !there {
				t.Errorf("%s: parquet has no column %s", name, column)
			}
			if number, ok := want.(float64); ok && fmt.Sprint(number) != fmt.Sprint(asFloat(got)) {
				t.Errorf("%s: parquet: item %d, %s: got %v, want %v", name, i, column, got, want)
			}
			if (want == nil) != (got == nil) && want == nil && fmt.Sprint(got) != "null" && asFloat(got) != 0 &&
				fmt.Sprint(got) != "" && got != false {
				t.Errorf("%s: parquet: item %d, %s: got %v, want nothing", name, i, column, got)
			}
		}
	}
}

// arrowRows returns the rows of a stream, with their values as CSV has them.
func arrowRows(t *testing.T, body io.Reader) (rows []map[string]string) {
	t.Helper()
	r, err := ipc.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		batch := r.RecordBatch()
		for i := range int(batch.NumRows()) {
			row := map[string]string{}
			for j, column := range batch.Columns() {
				name := batch.ColumnName(j)
				switch {
				case column.IsNull(i):
					row[name] = ""
				case column.DataType().ID() == arrow.TIMESTAMP:
					row[name] = time.Unix(0, int64(column.(*array.Timestamp).Value(i))).UTC().Format(time.RFC3339Nano)
				case column.DataType().ID() == arrow.FLOAT64:
					row[name] = strconv.FormatFloat(column.(*array.Float64).Value(i), 'g', -1, 64)
				default:
					row[name] = column.ValueStr(i)
				}
			}
			rows = append(rows, row)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// accept asks for a media type.
func accept(media string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Accept", media) }
}

// lookUp returns the value of a column: a member, or a member of a member.
func lookUp(item any, column string) any {
	for name := range strings.SplitSeq(column, ".") {
		object, _ := item.(map[string]any)
		item = object[name]
	}
	return item
}

// same reports whether CSV says what JSON says. What JSON leaves out is empty or the value that it is left out for.
func same(want any, got string) bool {
	switch want := want.(type) {
	case nil:
		return slices.Contains([]string{"", "0", "false", "null"}, got)
	case []any, map[string]any:
		var v any
		return json.Unmarshal([]byte(got), &v) == nil && fmt.Sprint(v) == fmt.Sprint(want)
	case float64:
		var v float64
		return json.Unmarshal([]byte(got), &v) == nil && v == want
	}
	return fmt.Sprint(want) == got
}

func asFloat(v any) float64 {
	var f float64
	fmt.Sscan(fmt.Sprint(v), &f)
	return f
}

func TestFormatIsChosen(t *testing.T) {
	h := New(testConfig(captured(t)))
	for header, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/csv": "text/csv",
		"text/csv;q=0.5, application/x-ndjson":      "application/x-ndjson",
		"text/html,application/xhtml+xml,*/*;q=0.8": "application/json", "text/csv;q=0, */*": "application/json",
		"application/json, text/csv;q=0.9": "application/json",
		"/;;":                              "application/json", "text/*": "text/csv",
		"application/json;q=0, */*":            "application/x-ndjson",
		"application/json;q=0.1, text/*;q=0.2": "text/csv",
		"text/csv, application/json":           "text/csv", "text/csv;q=0.4, */*;q=0.5": "application/json",
		"application/x-arrow, */*;q=0.1":                 "application/json",
		"application/vnd.apache.arrow.stream, */*;q=0.1": "application/vnd.apache.arrow.stream",
	} {
		if got := ask(h, "GET", "/api/v1/nodes", accept(header)).Header().Get("Content-Type"); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
	w := ask(h, "GET", "/api/v1/nodes?format=xml")
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"allowed":"json, ndjson, csv, parquet, arrow"`) {
		t.Errorf("got %s", w.Body)
	}
}

func TestZstd(t *testing.T) {
	h := New(testConfig(captured(t)))
	w := ask(h, "GET", "/api/v1/nodes", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip, zstd") })
	if w.Header().Get("Content-Encoding") != "zstd" {
		t.Fatalf("got %v", w.Header())
	}
	z, _ := zstd.NewReader(nil)
	defer z.Close()
	body, err := z.DecodeAll(w.Body.Bytes(), nil)
	if err != nil || string(body) != ask(h, "GET", "/api/v1/nodes").Body.String() {
		t.Errorf("got %v, %s", err, body)
	}
}

// What a client does not take is not answered with something else; the problem says what there is.
func TestNotAcceptable(t *testing.T) {
	h := New(remembered(t))
	const lists,
		whole = "application/json, application/x-ndjson, text/csv, application/vnd.apache.parquet, application/vnd.apache.arrow.stream", "application/json"
	for target, allowed := range map[string]string{
		"events/stream": types.MediaStream, "flows/stream": types.MediaStream, "nodes": lists,
		"flows?" + tuesdays: lists, "query?sql=SELECT+1": lists, "reports": lists, "topology": whole,
		"heatmap?" + tuesdays: whole,
	} {
		for _, header := range []string{
			"application/vnd.apache.arrow.file", "application/json;q=0", "text/html",
			"image/*",
		} {
			w := ask(h, "GET", "/api/v1/"+target, accept(header))
			var p types.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 406 || p.Status != 406 ||
				p.Allowed != allowed {
				t.Errorf("%s: %s: got %d %s", target, header, w.Code, w.Body)
			}
		}
		if code := ask(h, "GET", "/api/v1/"+target, accept("text/csv")).Code; (code == 200) != (allowed == lists) &&
			target != "reports" {
			t.Errorf("%s as CSV: got %d", target, code)
		}
	}
	for _, target := range []string{"topology", "heatmap?" + tuesdays} {
		w := ask(h, "GET", "/api/v1/"+target+map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")]+
			"format=csv")
		if w.Code != 400 || !strings.Contains(w.Body.String(), "application/json only") {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
	}
}

// A statement is answered in each format with the same values, which DuckDB has.
func TestQueryFormats(t *testing.T) {
	h := New(remembered(t))
	const statement = "SELECT i AS n, 'a,' || i AS \"name\", CAST(i AS DECIMAL(9,2)) / 4 AS share, CAST(1.50 AS DECIMAL(9,2)) AS exact, i > 1 AS big, NULL AS nothing, [i, 2] AS list, " +
		"TIMESTAMP '2026-11-21 09:00:00' AS at, sum(i) OVER () AS total, INTERVAL 1 DAY AS one, i AS n FROM range(3) t(i) ORDER BY i"
	target := "/api/v1/query?sql=" + url.QueryEscape(statement)
	var table struct {
		Columns []string
		Rows    [][]any
	}
	if err := json.Unmarshal(ask(h, "GET", target).Body.Bytes(), &table); err != nil || len(table.Rows) != 3 {
		t.Fatalf("%v, %+v", err, table)
	}
	if row := table.Rows[2]; row[3] != 1.5 || row[9] != "1 day" || row[8] != 3.0 {
		t.Errorf("got %v", row)
	}
	const csvText = "n,name,share,exact,big,nothing,list,at,total,one,n_1\n" +
		"0,\"a,0\",0,1.5,false,,\"[0,2]\",2026-11-21T09:00:00Z,3,1 day,0\n1,\"a,1\",0.25,1.5,false,,\"[1,2]\",2026-11-21T09:00:00Z,3,1 day,1\n2,\"a,2\",0.5,1.5,true,,\"[2,2]\",2026-11-21T09:00:00Z,3,1 day,2\n"
	for _, w := range []*httptest.ResponseRecorder{
		ask(h, "GET", target, accept("text/csv")),
		ask(h, "GET", target+"&format=csv"), ask(h, "GET", target, accept("text/*")),
	} {
		if got := w.Body.String(); got != csvText || w.Header().Get("Content-Type") != "text/csv" {
			t.Errorf("got %v\n%s", w.Header(), got)
		}
	}
	decoder := json.NewDecoder(ask(h, "GET", target, accept("application/x-ndjson")).Body)
	body := ask(h, "GET", target+"&format=parquet").Body.Bytes()
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil || file.NumRows() != 3 {
		t.Fatal(err)
	}
	reader := parquet.NewReader(file)
	lines, _ := csv.NewReader(strings.NewReader(csvText)).ReadAll()
	streamed := arrowRows(t, ask(h, "GET", target+"&format=arrow").Body)
	for i, row := range table.Rows {
		var object, record map[string]any
		if err := decoder.Decode(&object); err != nil {
			t.Fatal(err)
		}
		record = map[string]any{}
		if err := reader.Read(&record); err != nil {
			t.Fatal(err)
		}
		for j, name := range table.Columns {
			if got := streamed[i][name]; got != lines[i+1][j] {
				t.Errorf("row %d, %s: Arrow has %q, want %q", i, name, got, lines[i+1][j])
			}
			if fmt.Sprint(object[name]) != fmt.Sprint(row[j]) {
				t.Errorf("row %d, %s: NDJSON has %v, want %v", i, name, object[name], row[j])
			}
			switch name {
			case "n", "total", "n_1", "share", "exact":
				if asFloat(record[name]) != row[j] {
					t.Errorf("row %d, %s: Parquet has %v, want %v", i, name, record[name], row[j])
				}
			case "name", "big", "one":
				if fmt.Sprint(record[name]) != fmt.Sprint(row[j]) {
					t.Errorf("row %d, %s: Parquet has %v, want %v", i, name, record[name], row[j])
				}
			case "nothing":
				if record[name] != nil {
					t.Errorf("row %d: Parquet has %v for NULL", i, record[name])
				}
			}
		}
	}
}

// The coding is the one that is wanted most; zstd if nothing tells them apart.
func TestCodingIsChosen(t *testing.T) {
	h := New(testConfig(captured(t)))
	for header, want := range map[string]string{
		"": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "zstd;q=0.1, gzip;q=0.9": "gzip",
		"zstd;q=0.9, gzip;q=0.1": "zstd", "zstd;q=0, gzip": "gzip",
		"gzip;q=0": "", "gzip;q=0.5, identity": "gzip", "identity;q=0.5, gzip": "gzip", "br": "",
		"GZIP;Q=0.3, zstd;q=0.2": "gzip",
	} {
		w := ask(h, "GET", "/api/v1/nodes", func(r *http.Request) { r.Header.Set("Accept-Encoding", header) })
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
