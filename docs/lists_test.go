package docs_test

import (
	"cmp"
	flags "flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/internal/test/grown"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

var updateLists = flags.Bool("update", false, "write reference/lists.md")

// A listOf items is a list of the API, by its name.
type listOf struct {
	name string
	item reflect.Type
}

var lists = []listOf{
	{"flows", reflect.TypeFor[telemetry.Flow]()},
	{"paths", reflect.TypeFor[telemetry.Path]()},
	{"hops", reflect.TypeFor[telemetry.NodeHop]()},
	{"nodes", reflect.TypeFor[telemetry.Node]()},
	{"ports", reflect.TypeFor[types.Port]()},
	{"queues", reflect.TypeFor[telemetry.QueueDepth]()},
	{"links", reflect.TypeFor[telemetry.Link]()},
	{"drops", reflect.TypeFor[telemetry.Drop]()},
	{"events", reflect.TypeFor[telemetry.Event]()},
	{"attacks", reflect.TypeFor[telemetry.Attack]()},
	{"bursts", reflect.TypeFor[telemetry.Burst]()},
	{"hosts", reflect.TypeFor[telemetry.Host]()},
	{"clocks", reflect.TypeFor[telemetry.Clock]()},
	{"cables", reflect.TypeFor[telemetry.Cable]()},
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

// otherThings are names in the API that mean something else in filters.
var otherThings = map[string]string{
	"events port": "of a flow; egress_port is that of the node", "reports node": "each node; sender sent the report",
}

// TestNames: a filter understands each thing by every name that somebody can have read: in JSON and CSV, in records of
// a time range, in the store, with -e of waybill decode.
func TestNames(t *testing.T) {
	same := func(s *filter.Schema, want, name string) {
		t.Helper()
		f, ok := s.Find(name)
		if g, _ := s.Find(want); !ok || f != g {
			t.Errorf("%s: a filter does not take %s for %s", s.Name(), name, want)
		}
	}
	for _, s := range filter.Schemas() {
		i := slices.IndexFunc(lists, func(l listOf) bool { return l.name == s.Name() })
		if i < 0 {
			continue
		}
		names := map[string]string{}
		for _, f := range catalogue.Of(lists[i].item) {
			if f.Filter.Name == "" || f.Name == "" || otherThings[s.Name()+" "+f.Name] != "" {
				continue
			}
			if _, ok := s.Find(f.Filter.Name); !ok {
				continue
			}
			same(s, f.Filter.Name, f.Name)
			names[f.Filter.Name] = f.Name
		}
		record := types.Records[s.Name()]
		if record == nil {
			continue
		}
		for _, f := range catalogue.Of(record) {
			if names[f.Filter.Name] == "" {
				continue // of the record alone
			}
			same(s, f.Filter.Name, f.Name)
			if !slices.Contains([]string{"hops", "queues", "links"}, s.Name()) {
				continue // the filter is that of the list
			}
			of := filter.SchemaOf(s.Name(), record)
			for _, name := range []string{f.Name, f.Column, names[f.Filter.Name]} {
				if _, ok := of.Find(f.Filter.Name); ok && name != "" {
					same(of, f.Filter.Name, name)
				}
			}
		}
	}
	for _, s := range []struct {
		schema *filter.Schema
		names  string
	}{
		{filter.Flows, "residence.p50 residence_ns.p50 residence_p50 residence_p50_ns RESIDENCE_P50"},
		{filter.Flows, "hop.queue_occupancy hop.queue hop_queue"},
		{filter.Flows, "path path_id"},
		{filter.Paths, "hop.queue_occupancy hop.queue"},
		{filter.Paths, "id path path_id"},
		{filter.Flows, "src flow.src"},
		{filter.Flows, "src_port flow.src_port"},
		{filter.Events, "dst flow.dst"},
		{filter.QueueTable.Schema(), "queue_id queue"},
		{filter.BurstTable.Schema(), "queue_id queue"},
		{filter.Hops, "queue_max queue queue.max"},
		{filter.NodeTable.Schema(), "queue_max queue"},
		{filter.Drops, "dst last_flow.dst flow.dst"},
		{filter.Reports, "hop.queue_id queue_id"},
		{filter.Reports, "hop.queue_occupancy hop.queue queue"},
		{filter.Reports, "protocol flow.protocol proto"},
		{filter.Reports, "sender report.node"},
		{filter.Reports, "dropped report.d"},
		{filter.Reports, "time frame.time"},
	} {
		want, others, _ := strings.Cut(s.names, " ")
		for name := range strings.FieldsSeq(others) {
			same(s.schema, want, name)
		}
	}
}

// TestAddedField: a field that is added to an item is on the page, as its tags say.
func TestAddedField(t *testing.T) {
	var b strings.Builder
	listPage(t, &b, "grown", reflect.TypeFor[grown.Item]())
	for _, row := range []string{
		"| `retries` | number | `retries` | RETRIES | how often it was tried again |\n",
		"| `spent_ns` | duration | `spent` | SPENT, wide | how long it was tried again |\n",
	} {
		if !strings.Contains(b.String(), row) {
			t.Errorf("no %s in %s", row, b.String())
		}
	}
}

// maxFiles is in how many files of Go, tests aside, the name of a field may stand: its declarations as an item, as a
// record of a time range and as an interval of a store.
const maxFiles = 3

// Why the name of a field stands in more files.
const (
	ofHeaders = "packets, reports or configurations have a field of that name"
	ofLists   = "several lists have it, each with its declarations, or logs and charts too"
	ofLinks   = "the links of the store are put together of it"
)

// spread are the names of fields that stand in more files.
var spread = map[string]string{
	"src_port": ofHeaders, "dst_port": ofHeaders, "ingress_port": ofHeaders, "egress_port": ofHeaders,
	"hw_id": ofHeaders, "tunnel_id": ofHeaders, "drop_key": ofHeaders, "latency_ns": ofHeaders, "queue_unit": ofHeaders,
	"port_name": ofLists, "to_node": ofLists, "to_name": ofLists, "to_port": ofLists, "reason_name": ofLists, "loss_known": ofLists,
	"uncertainty_ns": ofLists, "kernel_drops": ofLists, "step_ns": ofLists,
	"from_port": ofLinks, "utilization_samples": ofLinks,
	"peak_bytes": "tables show it in the unit of the queue",
	"speed_bps":  "the inventory has it, a port, and what the device says with its counters",
}

// TestFieldNames: a field is declared, and all else derives from that. What is looked at are names of two words and
// more: those of one are words of other things too.
func TestFieldNames(t *testing.T) {
	names := map[string]bool{}
	add := func(item reflect.Type) {
		for _, f := range catalogue.Of(item) {
			for name := range strings.SplitSeq(f.Name, ".") {
				if strings.Contains(name, "_") {
					names[name] = true
				}
			}
		}
	}
	for _, l := range lists {
		add(l.item)
		if record := types.Records[l.name]; record != nil {
			add(record)
		}
	}
	if len(names) < 60 {
		t.Errorf("%d names", len(names))
	}
	word := regexp.MustCompile(`[a-z0-9]+(_[a-z0-9]+)+`)
	files := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "../internal/test/"):
			return nil
		}
		for _, literal := range literals(read(t, path)) {
			for _, name := range word.FindAllString(literal, -1) {
				if names[name] && !slices.Contains(files[name], path) {
					files[name] = append(files[name], path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range names {
		switch n := len(files[name]); {
		case n > maxFiles && spread[name] == "":
			t.Errorf("%s stands in %d files, want at most %d: %v", name, n, maxFiles, files[name])
		case n <= maxFiles && spread[name] != "":
			t.Errorf("%s stands in %d files: it needs no exception", name, n)
		}
	}
}

// literals returns the texts in a file of Go; tags are some.
func literals(text string) (found []string) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(text)), []byte(text), nil, 0)
	for {
		switch _, what, literal := s.Scan(); what {
		case token.EOF:
			return found
		case token.STRING:
			found = append(found, literal)
		}
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
