package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

// schemas returns what filters may be about by name; nodes have these names.
func schemas(names map[uint32]string) map[string]*filter.Schema {
	all := map[string]*filter.Schema{}
	for _, s := range slices.Concat(filter.Schemas(), []*filter.Schema{
		portTable.Schema(), listenerTable.Schema(), ruleTable.Schema(), outputTable.Schema(), silenceTable.Schema(),
	}) {
		all[s.Name()] = s.WithNodes(nodeIDs(names))
	}
	all["alerts"] = all["events"]
	all["bursts.records"] = all["bursts"].WithNames(names)
	return all
}

// schemaNames lists what filters may be about: lists of now, and with ".records" lists of a time range.
func schemaNames() huma.Schema {
	all := schemas(nil)
	for name := range histories() {
		all[name+".records"] = nil
	}
	return options(slices.Sorted(maps.Keys(all))...)
}

// nodeIDs returns the ids of nodes by name; of equal names the lowest id wins.
func nodeIDs(names map[uint32]string) map[string]uint32 {
	ids := map[string]uint32{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(names))) {
		ids[names[id]] = id
	}
	return ids
}

// filter returns what a parameter with a filter selects; without it everything.
func (p *params) filter(name string, s *filter.Schema, now func() time.Time) *filter.Matcher {
	text, _ := p.text(name)
	e, err := filter.Parse(s, text)
	if err != nil {
		if p.wrong == nil {
			p.reject(name, "", "%s: %v", name, err)
			p.wrong.Filter = filter.Validate(s, text)
		}
		return nil
	}
	return e.Matcher(now)
}

func (h *handler) validate(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.RawQuery)
	schema, text := p.schema(h.schemas), p.given("text")
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	e, err := filter.Parse(schema, text)
	if err != nil {
		writeAnswer(w, types.Validation{Error: filter.Validate(schema, text)})
		return
	}
	writeAnswer(w, types.Validation{Valid: true, Filter: e.String()})
}

func (h *handler) complete(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.RawQuery)
	schema, text := p.schema(h.schemas), p.given("text")
	cursor, hasCursor := p.number("cursor", uint64(len(text)))
	if !hasCursor {
		cursor = uint64(len(text))
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	candidates := filter.Complete(schema, text, int(cursor))
	if candidates == nil {
		candidates = []filter.Candidate{} // null would not be a list
	}
	writeAnswer(w, types.Completions{Candidates: candidates})
}

// schema returns the schema that the parameter "schema" names.
func (p *params) schema(all map[string]*filter.Schema) *filter.Schema {
	name, given := p.text("schema")
	if all[name] == nil {
		what := "schema is " + strconv.Quote(name)
		if !given {
			what = "schema is missing"
		}
		p.reject("schema", names(all), "%s", what)
	}
	return all[name]
}

// given returns the value of a parameter that must be there, but may be empty.
func (p *params) given(name string) string {
	text, given := p.text(name)
	if !given {
		p.reject(name, "a filter, which may be empty", "%s is missing", name)
	}
	return text
}

// writeAnswer writes an answer that is no list.
func writeAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // an error means that who asked is gone
}
