package clickhouse

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/waybill-int/waybill/internal/test/chdb"
)

// TestAsker: what somebody wrote as a statement is asked as who may read alone, and nothing else is.
func TestAsker(t *testing.T) {
	to, err := url.Parse(chdb.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]string{} // what "asks" has asked, by statement
	others := 0
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: to.Host})
	// The engine has no users: this stands before it.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		user, password := r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
		if name, key, ok := r.BasicAuth(); ok {
			user, password = name, key
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case user == "asks" && password == "of it":
			asked[string(body)] = r.URL.Query().Get("readonly")
		case user == "writes" && password == "of this":
			others++
		default:
			w.Header().Set("X-ClickHouse-Exception-Code", "516")
			http.Error(w, "Code: 516. DB::Exception: "+user+": Authentication failed", http.StatusForbidden)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	defer server.Close()
	to.Host, to.User = strings.TrimPrefix(server.URL, "http://"), url.UserPassword("writes", "of this")
	c := DefaultConfig(to.String())
	c.Asker = url.UserPassword("asks", "of it")
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, statement := range []string{"SELECT 40 + 2", "SELECT count() FROM flows_10s"} {
		if _, err := s.SQL(t.Context(), statement, 10); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := s.Select(t.Context(), "SELECT 'of the store'", 1); err != nil {
		t.Error(err)
	}
	if others < 30 {
		t.Errorf("%d requests of who writes", others)
	}
	written := 0
	for statement, readOnly := range asked {
		switch {
		case strings.Contains(statement, "40 + 2"), strings.Contains(statement, "flows_10s"):
			if written++; readOnly != "1" {
				t.Errorf("readonly is %q for %s", readOnly, statement)
			}
		case statement != "SELECT 1" && !strings.HasPrefix(statement, "SELECT displayName()"):
			t.Errorf("as who asks: %s", statement)
		}
	}
	if written != 2 {
		t.Errorf("asked: %v", asked)
	}
	c.Asker = url.UserPassword("asks", "of nothing")
	again, err := Open(t.Context(), c)
	if err == nil {
		again.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "as asks, who asks statements") {
		t.Errorf("got %v with a wrong password", err)
	}
}
