package api

import (
	"math"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
)

// A parameter of a query.
type parameter struct {
	doc      string   // markdown
	options  []string // that it may be, the first one by default
	kind     string   // in OpenAPI; "": a text
	low      float64
	high     float64
	usual    any
	required bool
}

// parameters by name, or by operation and name where they differ.
var parameters = map[string]parameter{
	"limit": {
		doc:  "items at most; up to 10000, of a time range in a format other than `json` up to 100000",
		kind: huma.TypeInteger,
		low:  1, high: maxFileLimit, usual: types.DefaultLimit,
	},
	"capture.limit": {
		doc: "the newest of them, at most; all, if it is not given", kind: huma.TypeInteger, low: 1,
		high: maxLimit,
	},
	"format":         {doc: "of the answer, instead of what Accept says", options: encode.Names()},
	"reports.format": {doc: "of the answer, instead of what Accept says", options: append(encode.Names(), formatPcap)},

	"filter": {doc: "a [filter](filter.md) with the fields of the list"},
	"order": {
		doc: "a field, of a time range one of its records: numbers and times from the largest, texts from a; `:asc` or `:desc` may follow",
	},
	"flows.order": {
		doc: "`" + strings.Join(flowOrders(), "`, `") +
			"`, of a time range a field of its records; by default the first; the largest come first; `:asc` or `:desc` may follow",
	},
	"bursts.order": {
		doc: "`last` (the default), `peak` (the longest queue), `duration`, `drops` or a field: the largest come first; `:asc` or `:desc` may follow",
	},
	"cursor":   {doc: "`next_cursor` of an answer to the same question: the items that follow"},
	"since":    {doc: pointInTime},
	"until":    {doc: pointInTime},
	"at":       {doc: "a moment, such as `2026-11-21T09:00:00Z`, or how long ago, such as `10m`"},
	"interval": {doc: "with `since`, cuts the [time range](#time-ranges) in pieces of that length, such as `1m`"},

	"group_by": {
		doc: "with `since`, what the records of the [time range](#time-ranges) are grouped by: names of fields, with commas between them; " +
			"empty: all in one",
	},
	"events.group_by": {
		doc: "answers [groups](#groups) of events: `node`, `kind` or `severity`, or several of them with commas; empty: all in one",
	},
	"bursts.group_by": {
		doc: "answers [groups](#groups) of bursts: `node`, `port`, `queue` or `incast`, or several of them with commas; empty: all in one",
	},
	"loss.group_by": {
		doc: "answers sums over exporters: `source`, `node`, `hw_id` or `version`, or several of them with commas; empty: all in one",
	},
	"loss.since": {doc: pointInTime + ": intervals that lie behind it, at least with a part"},
	"loss.until": {doc: pointInTime + ": intervals that lie before it, at least with a part"},
	"intervals":  {doc: "`true`: list the intervals too", kind: huma.TypeBoolean},

	"of": {
		doc:     "whose latency: that of nodes, of links, or of all nodes of a path together",
		options: []string{"hops", "links", "paths"},
	},
	"sql": {doc: "one SELECT statement", required: true},
	"schema": {
		doc: "whose fields a filter has; of a list of a time range with `.records`", options: schemaNames(),
		required: true,
	},
	"text":  {doc: "a filter, which may be wrong or incomplete", required: true},
	"page":  {doc: "path of a page of the documentation, without .md; README by default"},
	"words": {doc: "words, of which a section must have all", required: true},
	"start": {
		doc:     "what the bytes start with: by default a telemetry report, as the payload of a datagram does",
		options: startNames(),
	},
	"dialect": {
		doc:     "how the program that made them departs from the specifications: [dialects](dialects.md)",
		options: dialectNames(),
	},

	"completeFilter.cursor": {
		doc: "byte of `text`, from 0, up to which it is completed; by default its end", kind: huma.TypeInteger,
		high: math.MaxInt32,
	},
}

const pointInTime = "a time such as `2026-11-21T09:00:00Z`, how long ago, such as `10m` or `7d` (any [duration](filter.md#types)), or `now`"

// parameter returns what is known of a parameter.
func (o *operation) parameter(name string) parameter {
	if special, ok := parameters[o.id+"."+name]; ok {
		return special
	}
	return parameters[name]
}

// allParams returns the names of the parameters, with and without a time range.
func (o *operation) allParams() []string {
	names := strings.Fields(o.params)
	for name := range strings.FieldsSeq(o.past) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// schema is a parameter as OpenAPI has it.
func (p *parameter) schema() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Default: p.usual}
	for _, option := range p.options {
		s.Enum = append(s.Enum, option)
	}
	if p.kind != "" {
		s.Type = p.kind
	}
	if p.kind == huma.TypeInteger {
		s.Minimum, s.Maximum = &p.low, &p.high
	}
	return s
}
