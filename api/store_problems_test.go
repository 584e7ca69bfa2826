package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
)

// TestStoreProblems: the status says whether the question is wrong, or the store cannot answer it.
func TestStoreProblems(t *testing.T) {
	var gone *store.GoneError
	for _, c := range []struct {
		err    error
		status int
	}{
		{errors.New("no such column"), http.StatusBadRequest},
		{&store.GoneError{Since: time.Unix(0, 0)}, http.StatusBadRequest},
		{fmt.Errorf("store: %w: context deadline exceeded", store.ErrTooLong), http.StatusGatewayTimeout},
		{fmt.Errorf("store: %w: Out of Memory Error", store.ErrTooLarge), http.StatusInsufficientStorage},
		{fmt.Errorf("store: %w: sql: database is closed", store.ErrUnavailable), http.StatusServiceUnavailable},
	} {
		h := New(Config{
			Collector: &analyze.Collector{},
			SQL:       func(context.Context, string, int) (*store.Answer, error) { return nil, c.err },
			History:   func(context.Context, *store.Query) (*store.Answer, error) { return nil, c.err },
			Between: func(context.Context, store.Table, time.Time, time.Time, int) (*store.Answer, error) {
				return nil, c.err
			},
		})
		for _, path := range []string{
			"/api/v1/query?sql=SELECT+1", "/api/v1/flows?since=1h", "/api/v1/events?since=1h",
			"/api/v1/events?since=1h&group_by=node",
			"/api/v1/flows/0000000000000001/paths", "/api/v1/heatmap", "/api/v1/bursts?since=1h", "/api/v1/bursts/1",
			"/api/v1/topology?at=10m", "/api/v1/nodes?since=1h", "/api/v1/links?at=10m", "/api/v1/ports?at=10m",
		} {
			w := ask(h, "GET", path)
			var p types.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != c.status || p.Status != c.status ||
				p.Detail == "" || w.Header().Get("Content-Type") != types.MediaProblem {
				t.Errorf("%s, %v: got %d %s", path, c.err, w.Code, w.Body)
			}
			// out of a question that is too much
			for _, way := range []string{
				"a shorter time range", "longer pieces", "interval", "fewer groups",
				"filter",
			} {
				if much := c.status == http.StatusGatewayTimeout ||
					c.status == http.StatusInsufficientStorage; !errors.As(c.err, &gone) &&
					much != strings.Contains(p.Detail, way) {
					t.Errorf("%s, %v: %q in %q is not %t", path, c.err, way, p.Detail, much)
				}
			}
		}
	}
}

// TestStoreInterrupted: DuckDB stops with a query whose client is gone.
func TestStoreInterrupted(t *testing.T) {
	s, err := duckdb.Open(duckdb.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun, ended := make(chan struct{}), make(chan error, 1)
	server := httptest.NewServer(
		New(Config{
			Collector: &analyze.Collector{},
			SQL: func(ctx context.Context, statement string, limit int) (*store.Answer, error) {
				close(begun)
				a, err := s.SQL(ctx, statement, limit)
				ended <- err
				return a, err
			},
		}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	const endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range + b.range = 5"
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/v1/query?sql="+url.QueryEscape(endless), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-begun
		cancel()
	}()
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		t.Fatal("there is an answer")
	}
	select {
	case err := <-ended: // SQL returns when DuckDB has: its connection can be used again
		if !errors.Is(err, store.ErrTooLong) {
			t.Errorf("got %v", err)
		}
	case <-time.After(queryTime / 2):
		t.Fatal("the query goes on")
	}
	if _, err := s.SQL(t.Context(), "SELECT 1", 1); err != nil {
		t.Error(err)
	}
}
