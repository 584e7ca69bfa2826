package api

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
)

// schemas returns what filters may be about by name; nodes have these names.
func schemas(names map[uint32]string) map[string]*filter.Schema {
	all := map[string]*filter.Schema{}
	for _, s := range slices.Concat(filter.Schemas(), []*filter.Schema{
		portTable.Schema(), listenerTable.Schema(), ruleTable.Schema(), outputTable.Schema(), silenceTable.Schema(),
		viewTable.Schema(),
		alertTable.Schema(),
	}) {
		all[s.Name()] = s.WithNodes(nodeIDs(names))
	}
	all["bursts.records"] = all["bursts"].WithNames(names)
	return all
}

// schemaNames lists what filters may be about: lists of now, and with ".records" lists of a time range.
func schemaNames() []string {
	all := slices.Collect(maps.Keys(schemas(nil)))
	for name := range histories() {
		all = append(all, name+".records")
	}
	slices.Sort(all)
	return all
}

// nodeIDs returns the ids of nodes by name; of equal names the lowest id wins.
func nodeIDs(names map[uint32]string) map[string]uint32 {
	ids := map[string]uint32{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(names))) {
		ids[names[id]] = id
	}
	return ids
}

func (h *handler) validate(w http.ResponseWriter, _ *http.Request, p *params) {
	schema, text := h.schemaOf(p), p.given("text")
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

func (h *handler) complete(w http.ResponseWriter, _ *http.Request, p *params) {
	schema, text := h.schemaOf(p), p.given("text")
	cursor, given := p.text("cursor")
	at, err := strconv.ParseUint(cursor, 10, 31)
	if !given {
		at = uint64(len(text))
	} else if err != nil || at > uint64(len(text)) {
		p.reject("cursor", "0 to "+strconv.Itoa(len(text)), "cursor is %q", cursor)
	}
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	candidates := filter.Complete(schema, text, int(at))
	if candidates == nil {
		candidates = []filter.Candidate{} // null would not be a list
	}
	writeAnswer(w, types.Completions{Candidates: candidates})
}

// schemaOf returns the schema that the parameter schema names.
func (h *handler) schemaOf(p *params) *filter.Schema {
	p.given("schema")
	return h.views().schemas[p.choice("schema")]
}
