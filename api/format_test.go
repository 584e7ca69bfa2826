package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// Each format has the items of the JSON answer, which the golden files vouch for.
func TestFormats(t *testing.T) {
	cfg := testConfig(captured(t))
	_, cfg.Events = happened(t)
	h := New(cfg)
	for name := range (&handler{}).resources() {
		if needsAlerts("/api/v1/" + name) {
			continue // not without rules
		}
		target := "/api/v1/" + name
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
				got, there := row[column]
				if !there {
					t.Errorf("%s: parquet has no column %s", name, column)
				}
				if number, ok := want.(float64); ok && fmt.Sprint(number) != fmt.Sprint(asFloat(got)) {
					t.Errorf("%s: parquet: item %d, %s: got %v, want %v", name, i, column, got, want)
				}
				if (want == nil) != (got == nil) && want == nil && fmt.Sprint(got) != "null" && asFloat(got) != 0 && fmt.Sprint(got) != "" && got != false {
					t.Errorf("%s: parquet: item %d, %s: got %v, want nothing", name, i, column, got)
				}
			}
		}
	}
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
		"": "application/json", "*/*": "application/json", "text/csv": "text/csv", "text/csv;q=0.5, application/x-ndjson": "application/x-ndjson",
		"text/html,application/xhtml+xml,*/*;q=0.8": "application/json", "text/csv;q=0": "application/json", "application/json, text/csv;q=0.9": "application/json",
		"/;;": "application/json",
	} {
		if got := ask(h, "GET", "/api/v1/nodes", accept(header)).Header().Get("Content-Type"); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
	w := ask(h, "GET", "/api/v1/nodes?format=xml")
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"allowed":"json, ndjson, csv, parquet"`) {
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
