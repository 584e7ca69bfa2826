package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// describer returns a function to the description of operations, OpenAPI 3.1, as JSON.
func describer(all []operation) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) { return describe(all) })
}

func describe(all []operation) ([]byte, error) {
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Waybill", Version: "v1",
			Description: "What telemetry reports tell of the network. Whatever is wrong with a request is answered by a Problem (RFC 9457).",
		},
		Servers: []*huma.Server{
			{URL: "../..", Description: "the server that this description comes from, also below a path"},
		},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {
					Type: "http", Scheme: "bearer",
					Description: "if the server asks who one is: docs/reference/api.md",
				},
			},
		},
		Security: []map[string][]string{{}, {"token": {}}},
	}
	schemas := newTypes(d.Components.Schemas)
	for i := range all {
		if o := &all[i]; o.id != "" {
			d.AddOperation(o.describe(schemas))
		}
	}
	return json.Marshal(d)
}

// describe returns o as OpenAPI has it.
func (o *operation) describe(schemas *typeSchemas) *huma.Operation {
	status := "200"
	switch o.status {
	case http.StatusCreated:
		status = "201"
	case http.StatusNoContent:
		status = "204"
	}
	response := &huma.Response{Description: o.doc}
	d := &huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.doc,
		Responses: map[string]*huma.Response{
			status: response,
			"default": {Description: "what is wrong with the request", Content: map[string]*huma.MediaType{
				types.MediaProblem: {Schema: schemas.of(types.Problem{})},
			}},
		},
	}
	if o.answer != nil {
		response.Content = map[string]*huma.MediaType{types.MediaJSON: {Schema: schemas.of(o.answer)}}
	}
	if o.history != nil {
		either := []*huma.Schema{schemas.of(o.answer), schemas.of(o.history)}
		response.Content[types.MediaJSON].Schema = &huma.Schema{OneOf: either}
	}
	if o.groups != nil { // an empty list may be of either type
		either := []*huma.Schema{schemas.of(o.answer), schemas.of(o.groups)}
		if o.history != nil {
			either = append(either, schemas.of(o.history))
		}
		response.Content[types.MediaJSON].Schema = &huma.Schema{AnyOf: either}
	}
	if o.media != "" {
		response.Content = map[string]*huma.MediaType{o.media: {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	if o.body != nil {
		d.RequestBody = &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{types.MediaJSON: {Schema: schemas.of(o.body)}},
		}
	}
	if o.bytes {
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}
	}
	if _, rest, ok := strings.Cut(o.path, "{"); ok {
		name, _, _ := strings.Cut(rest, "}")
		d.Parameters = append(d.Parameters,
			&huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	for _, name := range o.allParams() {
		p := o.parameter(name)
		d.Parameters = append(d.Parameters, &huma.Param{
			Name: name, In: "query", Description: plain.Replace(links.ReplaceAllString(p.doc, "$1")),
			Required: p.required, Schema: p.schema(),
		})
		if name == "format" {
			for _, f := range encode.Formats[1:] {
				response.Content[f.Media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
			}
			if slices.Contains(p.options, formatPcap) {
				response.Content[types.MediaCapture] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
			}
		}
	}
	return d
}

// What documents have of markdown.
var (
	links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	plain = strings.NewReplacer("`", "")
)

// schemaName is the name of a type in the description, by which others generate code.
func schemaName(of reflect.Type, hint string) string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	name := huma.DefaultSchemaNamer(of, hint)
	if of.PkgPath() == reflect.TypeFor[telemetry.FilterError]().PkgPath() {
		name = strings.TrimPrefix(name, "Filter")
	}
	return name
}

// typeSchemas makes schemas of the types of answers.
type typeSchemas struct {
	registry  huma.Registry
	corrected map[reflect.Type]bool
}

func newTypes(registry huma.Registry) *typeSchemas {
	return &typeSchemas{registry: registry, corrected: map[reflect.Type]bool{}}
}

// of returns the schema of the type of v.
func (t *typeSchemas) of(v any) *huma.Schema {
	s := t.registry.Schema(reflect.TypeOf(v), true, "")
	t.correct(reflect.TypeOf(v))
	return s
}

// correct repairs what huma takes differently from encoding/json: pointers to structs may be null, and unsigned numbers
// need a format that holds them.
func (t *typeSchemas) correct(of reflect.Type) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map ||
		of.Kind() == reflect.Array {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || t.corrected[of] {
		return
	}
	t.corrected[of] = true
	s := t.registry.SchemaFromRef("#/components/schemas/" + schemaName(of, ""))
	for _, f := range reflect.VisibleFields(of) {
		if !f.IsExported() {
			continue
		}
		t.correct(f.Type)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if s == nil || s.Properties[name] == nil {
			continue
		}
		p := s.Properties[name]
		p.Description = catalogue.Alone(p.Description)
		if f.Type.Kind() == reflect.Pointer && p.Ref != "" && !strings.Contains(rest, "omit") {
			s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{p, {Type: "null"}}}
		}
		if p.Items != nil {
			p.Items.Format = formatOf(p.Items)
		}
		p.Format = formatOf(p)
	}
}

// formatOf returns the format of a schema; that of an unsigned number holds all of them.
func formatOf(s *huma.Schema) string {
	if s.Type == huma.TypeInteger && s.Minimum != nil {
		return map[string]string{"int32": "int64", "int64": "uint64"}[s.Format]
	}
	return s.Format
}

// serveOpenAPI answers GET /api/v1/openapi.json.
func (h *handler) serveOpenAPI(w http.ResponseWriter, _ *http.Request, p *params) {
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	text, err := h.openAPI()
	if err != nil {
		types.NewProblem(http.StatusInternalServerError, "the description cannot be written: %v", err).Write(w)
		return
	}
	w.Header().Set("Content-Type", types.MediaJSON)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // an error means that who asked is gone
}
