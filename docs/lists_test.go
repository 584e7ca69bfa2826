package docs_test

import (
	"cmp"
	flags "flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

var updateLists = flags.Bool("update", false, "write reference/lists.md")

// The lists of the API, by their names.
var lists = []struct {
	name string
	item reflect.Type
}{
	{"flows", reflect.TypeFor[telemetry.Flow]()},
	{"paths", reflect.TypeFor[telemetry.Path]()},
	{"hops", reflect.TypeFor[telemetry.NodeHop]()},
	{"nodes", reflect.TypeFor[telemetry.Node]()},
	{"ports", reflect.TypeFor[types.Port]()},
	{"queues", reflect.TypeFor[telemetry.QueueDepth]()},
	{"links", reflect.TypeFor[telemetry.Link]()},
	{"drops", reflect.TypeFor[telemetry.Drop]()},
	{"events", reflect.TypeFor[telemetry.Event]()},
	{"bursts", reflect.TypeFor[telemetry.Burst]()},
	{"hosts", reflect.TypeFor[telemetry.Host]()},
	{"clocks", reflect.TypeFor[telemetry.Clock]()},
	{"exporters", reflect.TypeFor[telemetry.Exporter]()},
	{"loss", reflect.TypeFor[telemetry.Loss]()},
	{"listeners", reflect.TypeFor[types.Listener]()},
	{"reports", reflect.TypeFor[types.RawReport]()},
	{"alerts", reflect.TypeFor[telemetry.Alert]()},
	{"rules", reflect.TypeFor[telemetry.RuleStatus]()},
	{"outputs", reflect.TypeFor[telemetry.OutputStatus]()},
	{"silences", reflect.TypeFor[types.Silence]()},
}

const listsHead = `# Fields of the lists

Every list of the [API](api.md), with the fields of its items: the names are those of JSON, of columns of CSV, Parquet and Arrow, and
of ` + "`order`" + ` and ` + "`--sort`" + `. Under *Filter* stands the name in [filters](filter.md), where it can be asked for; under *Table* the title in
tables of the [command line](cli.md), *wide* with ` + "`-o wide`" + `. Lists and objects that nothing more is said of are JSON.

*Of a time range*, which ` + "`since`" + ` begins, a list has records: *Column* is what [the store](store.md) has, of which they are made.
Those that are not counted are what records can be grouped by; *in bold* the usual ones.

This page is written by ` + "`go test ./docs -run Lists -update`" + ` from the tags of the items (package telemetry/catalogue).
`

// typeOf is what a field holds.
func typeOf(f *catalogue.Field) string {
	kind := "JSON"
	if f.Kind != catalogue.Other {
		kind = filter.Kind(f.Kind).String()
	}
	if f.Filter.Many {
		kind = "list of " + kind
	}
	if f.Unit != "" {
		kind += ", " + f.Unit
	}
	return kind
}

// listPage is the part of the page about a list.
func listPage(t *testing.T, b *strings.Builder, name string, item reflect.Type) {
	fmt.Fprintf(b, "\n## %s%s\n\n| Field | Type | Filter | Table | Meaning |\n|---|---|---|---|---|\n",
		strings.ToUpper(name[:1]), name[1:])
	for _, f := range catalogue.Of(item) {
		if f.Name == "" {
			continue
		}
		if f.Doc == "" {
			t.Errorf("%s: nothing says what %s is", name, f.Name)
		}
		inFilter, inTable := "", f.Table.Title
		if f.Filter.Name != "" && name != "alerts" { // whose filters are about events
			inFilter = "`" + f.Filter.Name + "`"
		}
		if f.Table.Wide && inTable != "" {
			inTable += ", wide"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.Name, typeOf(&f), inFilter, inTable, f.Doc)
	}
	record := types.Records[name]
	if record == nil {
		return
	}
	b.WriteString("\nOf a time range, or in groups:\n\n| Field | Type | Column | Meaning |\n|---|---|---|---|\n")
	for i, f := range catalogue.Of(record) {
		tag := record.Field(i).Tag
		shown := "`" + f.Name + "`"
		if tag.Get("group") == "default" {
			shown = "**" + shown + "**"
		}
		column := strings.ReplaceAll(tag.Get("store"), ",", "`, `")
		if column != "" {
			column = "`" + column + "`"
		}
		doc := f.Doc
		if kept := tag.Get("kept"); kept != "" {
			doc += "; kept in intervals of up to " + kept
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", shown, typeOf(&f), cmp.Or(column, " "), doc)
	}
}

// TestListsPage holds the page to the tags of the items.
func TestListsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(listsHead)
	for _, l := range lists {
		listPage(t, &b, l.name, l.item)
	}
	for name := range types.Records {
		if !strings.Contains(b.String(), "\n## "+strings.ToUpper(name[:1])+name[1:]+"\n") {
			t.Errorf("there are records of %s, and no such list", name)
		}
	}
	if *updateLists {
		if err := os.WriteFile("reference/lists.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text := read(t, "reference/lists.md"); text != b.String() {
		t.Errorf("reference/lists.md is not what the tags say: go test ./docs -run Lists -update")
	}
}
