package console_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api"
)

// otherNames are those of interfaces that the API calls something else.
var otherNames = map[string]string{
	"Arrival": "NodeArrival", "Session": "Identity", "FilterError": "Error", "AlertRule": "RuleStatus", "AlertOutput": "OutputStatus",
	"RawReportDetail": "ReportAnswer", "PathTime": "FlowPathSpan",
}

// A schema is what the OpenAPI description says of a type, as far as it matters here.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a name, or a list of names
	AnyOf      []*schema          `json:"anyOf"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
}

// kind returns what JSON has there, and whether it may be null.
func (s *schema) kind() (kind string, null bool) {
	if s.Ref != "" {
		return "object", false
	}
	for _, part := range s.AnyOf {
		k, _ := part.kind()
		null = null || k == "null"
		if k != "null" {
			kind = k
		}
	}
	names, _ := s.Type.([]any)
	if name, ok := s.Type.(string); ok {
		names = []any{name}
	}
	for _, name := range names {
		switch name {
		case "null":
			null = true
			if len(names) == 1 {
				kind = "null"
			}
		case "integer":
			kind = "number"
		default:
			kind, _ = name.(string)
		}
	}
	return kind, null
}

var (
	interfaceOf = regexp.MustCompile(`(?s)export interface (\w+)[^{\n]*\{(.*?)\n?\}\n`)
	commentOf   = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	nestedOf    = regexp.MustCompile(`\{[^{}]*\}`)
	fieldOf     = regexp.MustCompile(`^(\w+)(\??):\s*(.+)$`)
)

// kindOf returns what a type of TypeScript is in JSON. An empty text: it may be several.
func kindOf(ts string) (kind string, null bool) {
	ts, null = strings.CutSuffix(ts, " | null")
	switch {
	case strings.HasSuffix(ts, "[]"):
		return "array", null
	case ts == "string" || ts == "number" || ts == "boolean":
		return ts, null
	case ts == "Severity" || strings.HasPrefix(ts, "'"):
		return "string", null
	case strings.Contains(ts, " | "):
		return "", null
	}
	return "object", null
}

// What the console takes for the answers of the API is what the API says that they are: names, kinds, what may be missing and
// what may be null.
func TestTypes(t *testing.T) {
	w := httptest.NewRecorder()
	api.New(api.Config{Collector: &analyze.Collector{}}).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/openapi.json", nil))
	var description struct {
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &description); err != nil {
		t.Fatalf("%v: %.200s", err, w.Body)
	}
	source, err := os.ReadFile("src/api/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range interfaceOf.FindAllStringSubmatch(commentOf.ReplaceAllString(string(source), ""), -1) {
		name := m[1]
		if other := otherNames[name]; other != "" {
			name = other
		}
		s := description.Components.Schemas[name]
		if s == nil {
			continue // a part of an answer, or one that has several shapes
		}
		compared++
		fields := m[2]
		for nestedOf.MatchString(fields) { // what is inside is a type without a name
			fields = nestedOf.ReplaceAllString(fields, "Inside")
		}
		for field := range strings.SplitSeq(strings.ReplaceAll(fields, "\n", ";"), ";") {
			f := fieldOf.FindStringSubmatch(strings.TrimSpace(field))
			if f == nil {
				continue
			}
			property := s.Properties[f[1]]
			if property == nil {
				t.Errorf("%s: the API has no %s", m[1], f[1])
				continue
			}
			want, mayBeNull := property.kind()
			got, null := kindOf(f[3])
			if got != "" && want != "" && got != want {
				t.Errorf("%s.%s is %s, and the API says %s", m[1], f[1], got, want)
			}
			if mayBeNull && !null && got != "" {
				t.Errorf("%s.%s may be null", m[1], f[1])
			}
			if f[2] == "" && !slices.Contains(s.Required, f[1]) {
				t.Errorf("%s.%s may be missing", m[1], f[1])
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d interfaces were compared", compared)
	}
}
