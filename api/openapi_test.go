package api

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/waybill-int/waybill/api/types"
)

// description returns the description that a server gives, as an implementation that did not write it reads it.
func description(t *testing.T) *openapi3.T {
	t.Helper()
	w := ask(New(testConfig(newFeed().Collector)), "GET", "/api/v1/openapi.json")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("got %d, %v", w.Code, w.Header())
	}
	d, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpenAPIIsValid(t *testing.T) {
	d := description(t)
	if err := d.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
}

// What the server answers is what the description says, in all golden files.
func TestOpenAPIDescribesAnswers(t *testing.T) {
	d := description(t)
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "_")
		path := "/api/v1/" + name
		switch name {
		case "attack", "burst", "report", "flow", "incident":
			path = "/api/v1/" + name + "s/{id}"
		case "flowpaths":
			path = "/api/v1/flows/{id}/paths"
		}
		item := d.Paths.Find(path)
		if item == nil {
			t.Errorf("%s: there is no %s", file, path)
			continue
		}
		operation := item.Get
		if operation == nil {
			operation = item.Post
		}
		schema := operation.Responses.Value("200").Value.Content.Get("application/json").Schema
		if err := schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %.600v", file, err)
		}
		if err := schema.Value.VisitJSON(map[string]any{"generated_at": 1},
			openapi3.EnableJSONSchema2020()); err == nil {
			t.Errorf("%s: the schema of %s allows what nobody would answer", file, path)
		}
	}
}

// The parameters of the description are those that the server knows: it says which when it is given another.
func TestOpenAPIParameters(t *testing.T) {
	withAlerts(t, func(t *testing.T, h http.Handler) {
		for _, o := range operations() {
			if o.method != "GET" || o.id == "" {
				continue
			}
			query := "?no_such_parameter=1"
			for name, value := range map[string]string{
				"words": "x", "sql": "SELECT+1", "schema": "events",
				"text": "",
			} {
				if slices.Contains(strings.Fields(o.params), name) {
					query += "&" + name + "=" + value
				}
			}
			w := ask(h, "GET", strings.ReplaceAll(o.path, "{id}", "0000000000000001")+query)
			var p types.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%s: %v", o.path, err)
			}
			if p.Parameter != "no_such_parameter" && o.params != "" {
				t.Errorf("%s: got %+v", o.path, p)
				continue
			}
			want := o.allParams()
			slices.Sort(want)
			if got := strings.Join(want, ", "); got != p.Allowed {
				t.Errorf("%s:\ndescribed %s\nknown     %s", o.path, got, p.Allowed)
			}
			if o.past != "" {
				json.Unmarshal(ask(h, "GET", o.path+"?since=1h&no_such_parameter=1").Body.Bytes(), &p)
				past := strings.Fields(o.past)
				slices.Sort(past)
				if got := strings.Join(past, ", "); got != p.Allowed {
					t.Errorf("%s of a time range:\ndescribed %s\nknown     %s", o.path, got, p.Allowed)
				}
			}
			for _, name := range o.allParams() {
				if o.parameter(name).doc == "" {
					t.Errorf("%s: %s is not described", o.path, name)
				}
			}
		}
	})
}
