package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/waybill-int/waybill/console"
)

// prefix is a path that the page knows nothing of.
const prefix = "/some/prefix/"

// serverTime is the server's clock in all tests; the canned answers are from shortly before.
const serverTime = "Fri, 21 Nov 2025 10:15:00 GMT"

// A server serves the page with canned answers. Its fields are set before start.
type server struct {
	api    string                   // directory of the answers; a missing one is an empty object
	down   func(round uint64) error // why a round of requests fails, counted from 1; nil for none
	script string                   // another script of the page, from testdata
	rounds atomic.Uint64
}

// start returns the address of the page.
func (s *server) start(t *testing.T) string {
	t.Helper()
	files := http.FileServerFS(console.Files())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/{resource}", s.answer)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		index, err := fs.ReadFile(console.Files(), "index.html")
		if err != nil {
			t.Error(err)
		}
		if s.script != "" {
			tag := `<script type="module" src="` + s.script + `"></script></head>`
			index = bytes.Replace(index, []byte("</head>"), []byte(tag), 1)
		}
		w.Write(index)
	})
	if s.script != "" {
		mux.HandleFunc("GET /"+s.script, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, path.Join("testdata", s.script))
		})
	}
	mux.Handle("GET /", files)
	under := http.StripPrefix(strings.TrimSuffix(prefix, "/"), mux)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", console.ContentSecurityPolicy)
		w.Header().Set("Date", serverTime)
		under.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	return ts.URL + prefix
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	resource := r.PathValue("resource")
	if resource == "nodes" { // the first request of a round
		s.rounds.Add(1)
	}
	if s.down != nil {
		if err := s.down(s.rounds.Load()); errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler) // cuts the connection
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	file := resource
	if r.URL.Query().Get("open") == "true" {
		file += "_open"
	}
	body, err := os.ReadFile(path.Join(s.api, file+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		body = []byte("{}")
	} else if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if resource == "exporters" && err == nil {
		body = grow(body, s.rounds.Load())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// grow adds a thousand reports per round to the first exporter: a live system counts.
func grow(body []byte, rounds uint64) []byte {
	var answer struct {
		Exporters []map[string]any `json:"exporters"`
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Exporters) == 0 {
		return body
	}
	reports, _ := answer.Exporters[0]["reports"].(float64)
	answer.Exporters[0]["reports"] = reports + float64(1000*rounds)
	grown, err := json.Marshal(answer)
	if err != nil {
		return body
	}
	return grown
}
