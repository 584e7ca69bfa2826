package api

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/test/grown"
)

// TestAddedField: a field that is added to an item is in answers of all formats, can be asked for and sorted by, and is
// described, as its tags say.
func TestAddedField(t *testing.T) {
	table := filter.TableOf[grown.Item]("grown")
	items := grown.Items()
	for i := range items {
		items[i].Last = tuesday // Arrow has no time of the year 1
	}
	list := operation{
		method: "GET", path: api + "grown", id: "listGrown", list: "grown", params: paging,
		find: live(table, func(*handler) []grown.Item { return slices.Clone(items) }), serve: (*handler).serveList,
		answer: struct {
			types.Head
			Grown []grown.Item `json:"grown"`
		}{},
	}
	h := newHandler(testConfig(newFeed().Collector))
	h.routes[list.path] = map[string]*operation{http.MethodGet: &list}
	h.views().schemas[list.list] = table.Schema()

	sameInFormats(t, h, list.list, list.path)
	for query, want := range map[string]string{
		"": "a 1500, b ", "filter=again > 1us": "a 1500", "filter=spent is null": "b ", "filter=retries = 0": "b ",
		"filter=retries in (7)": "a 1500", "order=retries:asc": "b , a 1500", "order=spent_ns": "a 1500, b ",
		"order=spent:asc": "a 1500, b ", "order=SPENT": "a 1500, b ", "filter=spent_ns > 1us": "a 1500",
	} {
		key, value, _ := strings.Cut(query, "=")
		target := list.path + "?format=csv"
		if key != "" {
			target += "&" + key + "=" + url.QueryEscape(value)
		}
		lines, err := csv.NewReader(ask(h, "GET", target).Body).ReadAll()
		if err != nil || len(lines) == 0 {
			t.Fatal(err, lines)
		}
		var got []string
		for _, line := range lines[1:] {
			got = append(got, line[slices.Index(lines[0], "name")]+" "+line[slices.Index(lines[0], "spent_ns")])
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}

	text, err := describe([]operation{list})
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	item := d.Components.Schemas["Item"]
	if item == nil || item.Value.Properties["spent_ns"] == nil ||
		item.Value.Properties["spent_ns"].Value.Description != "how long it was tried again" {
		t.Errorf("described as %s", text)
	}
}
