package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
)

// TestQuery: what the store answers comes to the client as it is, with exact numbers, and so do its errors.
func TestQuery(t *testing.T) {
	ask := func(_ context.Context, statement string, limit int) (*store.Answer, error) {
		if statement != "SELECT 1" {
			return nil, errors.New("no such table")
		}
		return &store.Answer{
			Columns: []string{"flow", "name"}, Rows: [][]any{{uint64(1<<64 - 1), nil}},
			More: limit == 1,
		}, nil
	}
	server := httptest.NewServer(New(Config{Collector: &analyze.Collector{}, SQL: ask}))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.SQL(t.Context(), "SELECT 1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(*table); got != "{[flow name] [[18446744073709551615 <nil>]] true}" ||
		table.Rows[0][0] != json.Number("18446744073709551615") {
		t.Errorf("got %s", got)
	}
	problem := func(url string, status int, detail string) {
		t.Helper()
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var p types.Problem
		if err := json.NewDecoder(response.Body).Decode(&p); err != nil || p.Status != status || p.Detail != detail {
			t.Errorf("%s: got %+v, %v", url, p, err)
		}
	}
	problem(server.URL+"/api/v1/query?sql=SELECT+2", http.StatusBadRequest, "sql: no such table")
	problem(server.URL+"/api/v1/query", http.StatusBadRequest, "sql is missing")
	problem(server.URL+"/api/v1/query?sql=SELECT+1&limit=100000", http.StatusBadRequest, `limit is "100000"`)
	without := httptest.NewServer(New(Config{Collector: &analyze.Collector{}}))
	defer without.Close()
	problem(without.URL+"/api/v1/query?sql=SELECT+1", http.StatusNotFound,
		"no store configured (start with `--data DIR`)")
}
