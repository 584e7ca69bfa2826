package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Of a time range, whose total nobody counts, it is said that there are more.
func TestQueryPastIsCut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := `"next_cursor":"eyJz",`
		if r.URL.Query().Get("limit") == "7" {
			next = ""
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"generated_at":"2026-11-21T09:01:00Z","total":1,%s"since":"2026-11-21T08:00:00Z","until":"2026-11-21T09:00:00Z","events":[%s],"bursts":[{"id":"a1","start":"2026-11-21T08:00:00Z"}]}`, next, anEvent("a", 1, "null"))
	}))
	t.Cleanup(s.Close)
	for _, list := range []string{"events", "bursts"} {
		for limit, want := range map[string]string{
			"1": "listed the first 1 " + list + "; --limit lists more\n",
			"7": "",
		} {
			_, stderr, code := runQuery(t, list, "--server", s.URL, "--since", "1d", "--limit", limit)
			if code != 0 || stderr != want && !(want == "" && !strings.Contains(stderr, "listed")) {
				t.Errorf("%s --limit %s: code %d, %q, want %q", list, limit, code, stderr, want)
			}
		}
	}
}
