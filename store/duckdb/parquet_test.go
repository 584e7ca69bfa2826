package duckdb

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of rows becomes Parquet whatever its name has in it; what is no type does not get into the statement.
func TestWriteParquet(t *testing.T) {
	dir := t.TempDir()
	rows, to := filepath.Join(dir, "it's rows"), filepath.Join(dir, "it's parquet")
	if err := os.WriteFile(rows, []byte(`{"a'b":[1,2]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteParquet(t.Context(), rows, to, []ExportColumn{{"a'b", "UINTEGER[]"}}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(to)
	if err != nil || !bytes.HasPrefix(content, []byte("PAR1")) || !bytes.HasSuffix(content, []byte("PAR1")) {
		t.Errorf("%v, %d bytes", err, len(content))
	}
	for _, kind := range []string{"", "UINTEGER'}) --", "uinteger", "X; DROP"} {
		if err := WriteParquet(t.Context(), rows, to, []ExportColumn{{"a", kind}}); err == nil ||
			!strings.Contains(err.Error(), "cannot be written") {
			t.Errorf("%q: %v", kind, err)
		}
	}
	if err := WriteParquet(t.Context(), rows, to, []ExportColumn{{"a'b", "TIMESTAMP_NS"}}); err == nil ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("rows that do not fit: %v", err)
	}
}
