package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/store"
)

// A defect that one request meets is answered, told and counted, and takes nothing from the others.
func TestDefect(t *testing.T) {
	var log bytes.Buffer
	server := httptest.NewServer(New(Config{
		Collector: &analyze.Collector{}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		SQL: func(_ context.Context, statement string, _ int) (*store.Answer, error) {
			if statement == "bad" {
				panic("the 13th")
			}
			return &store.Answer{Columns: []string{"a"}, Rows: [][]any{{int64(1)}}}, nil
		},
	}))
	defer server.Close()
	get := func(path string) (int, string) {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	for range 3 * maxStatements {
		if status, text := get("/api/v1/query?sql=bad"); status != http.StatusInternalServerError ||
			!strings.Contains(text, "defect") {
			t.Fatalf("got %d, %s", status, text)
		}
	}
	if status, text := get("/api/v1/query?sql=good"); status != http.StatusOK {
		t.Errorf("then: %d, %s", status, text)
	}
	if !strings.Contains(log.String(), "the 13th") || !strings.Contains(log.String(), "panics_test.go") {
		t.Errorf("the log has %q", log.String())
	}
	if _, text := get("/metrics"); !strings.Contains(text,
		fmt.Sprintf("waybill_http_defects_total %d\n", 3*maxStatements)) {
		t.Errorf("not counted: %s", text)
	}
}
