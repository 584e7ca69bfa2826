package clickhouse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// types by their names in package schema.
var types = map[string]string{
	"UTINYINT": "UInt8", "USMALLINT": "UInt16", "UINTEGER": "UInt32", "UBIGINT": "UInt64", "TINYINT": "Int8",
	"SMALLINT": "Int16", "BIGINT": "Int64", "DOUBLE": "Float64", "BOOLEAN": "Bool", "VARCHAR": "String",
	"TIMESTAMP_NS": "DateTime64(9, 'UTC')",
}

// typeOf is the type of a column, without NULL.
func typeOf(kind string) string {
	if element, ok := strings.CutSuffix(kind, "[]"); ok {
		return "Array(" + types[element] + ")"
	}
	return types[kind]
}

// manyTexts are columns of texts that are seldom the same.
var manyTexts = map[string]bool{
	"id": true, `"text"`: true, "json": true, "stations": true, "path": true, "burst": true, "drop_key": true,
}

// merging are the functions of columns by their role, where the server merges rows that are sorted alike.
var merging = map[schema.Role]string{schema.Sum: "sum", schema.Low: "min", schema.High: "max"}

// A storedColumn is one of a table as its rows have it. Where rows are merged, the buckets of a histogram and what they
// count are one column, with the name of the histogram, which is merged by adding.
type storedColumn struct {
	name, definition string
	from             string   // it, of the columns of the schema
	shows            []string // the columns of the schema, of it
}

// stored are the columns of t.
func stored(t schema.Placed) (list []storedColumn) {
	version, first := versions[t.ID], order(t)[0]
	for _, c := range t.At(t.Step) {
		required := c.Name == schema.Start.Name || version != "" && (c.Name == version || c.Name == first)
		switch {
		case !merges(t) || c.Role == schema.Key || c.Role == schema.Scale:
			list = append(list, storedColumn{c.Name, column(&c, required, ""), c.Name, []string{c.Name}})
		case c.Role == schema.Buckets:
			of := strings.TrimSuffix(c.Name, "_buckets")
			list = append(list, storedColumn{
				name: of,
				definition: of + " SimpleAggregateFunction(sumMap, Tuple(" + typeOf(c.Kind) + ", " +
					typeOf("UBIGINT[]") + ")) CODEC(ZSTD(1))",
				from:  "(" + of + "_buckets, " + of + "_counts)",
				shows: []string{of + ".1 AS " + of + "_buckets", of + ".2 AS " + of + "_counts"},
			})
		case c.Role != schema.Counts:
			list = append(list, storedColumn{c.Name, column(&c, false, merging[c.Role]), c.Name, []string{c.Name}})
		}
	}
	return list
}

// merges reports whether t is put together from one of shorter intervals.
func merges(t schema.Placed) bool { return t.Step != t.Finest }

// column is one in CREATE TABLE, with the function that merges its values, if there is one. All but lists and what
// tables are sorted by may be NULL.
func column(c *schema.Column, required bool, merged string) string {
	kind := typeOf(c.Kind)
	list := strings.HasSuffix(c.Kind, "[]")
	if !required && !list {
		kind = "Nullable(" + kind + ")"
	}
	codec := "ZSTD(1)"
	switch {
	case c.Kind == "VARCHAR" && !manyTexts[c.Name] && !required:
		kind = "LowCardinality(" + kind + ")"
	case c.Kind == "TIMESTAMP_NS":
		codec = "Delta(8), ZSTD(1)"
	case !list && c.Role != schema.Key && c.Kind != "DOUBLE":
		codec = "T64, ZSTD(1)"
	}
	if merged != "" {
		kind = "SimpleAggregateFunction(" + merged + ", " + kind + ")"
	}
	return fmt.Sprintf("%s %s CODEC(%s)", c.Name, kind, codec)
}

// partitionKeys are what tables of a tier are cut into parts by, which are dropped as a whole.
var partitionKeys = [len(schema.Tiers)]string{"toStartOfHour(start)", "toDate(start)", "toYYYYMM(start)"}

// order is what the rows of a table are sorted by: what they are about, and then the time.
func order(t schema.Placed) (columns []string) {
	switch {
	case t.ID == store.Events:
		return []string{"id"}
	case t.ID == store.Routes:
		return []string{"path_id"}
	case t.Finest == 0:
		return []string{"start"}
	case t.ID == store.Flows && t.Step == t.Finest:
		// The number of a flow is the identity of all its other keys, but without meaning.
		return []string{"src_hi", "src_lo", "dst_hi", "dst_lo", "flow", "start"}
	}
	var scales []string // histograms of one scale are merged by adding
	for _, c := range t.At(t.Step) {
		switch {
		case c.Role == schema.Key && c.Name != schema.Start.Name:
			columns = append(columns, c.Name)
		case c.Role == schema.Scale && merges(t):
			scales = append(scales, c.Name)
		}
	}
	return slices.Concat(columns, []string{schema.Start.Name}, scales)
}

// versions are the columns of which the row with the highest is valid, of tables in which several rows are about the
// same.
var versions = map[store.Table]string{store.Events: "version", store.Routes: "start"}

// rowsName is the name of the table with the rows of t. That of t is a view, if there are versions, or if histograms
// are stored in another way.
func rowsName(t schema.Placed) string {
	if versions[t.ID] != "" || merges(t) && t.HasHistograms() {
		return t.Name(t.Step) + "_rows"
	}
	return t.Name(t.Step)
}

// tableOf says how the table with the rows of t is made.
func tableOf(t schema.Placed, tier int, keep time.Duration) definition {
	sorted := order(t)
	d := definition{name: rowsName(t), engine: "MergeTree", spread: spread(sorted)}
	if d.name != t.Name(t.Step) {
		d.view = t.Name(t.Step)
	}
	if v := versions[t.ID]; v != "" {
		d.engine, d.version, d.of = "ReplacingMergeTree("+v+")", v, sorted[0]
	}
	if merges(t) {
		d.engine = "AggregatingMergeTree"
	}
	var columns []string
	for _, c := range stored(t) {
		columns, d.shows = append(columns, c.definition), append(d.shows, c.shows...)
	}
	d.columns = strings.Join(columns, ", ")
	d.clauses = fmt.Sprintf("PARTITION BY %s PRIMARY KEY (%s) ORDER BY (%s) TTL %s SETTINGS %s", partitionKeys[tier],
		strings.Join(sorted[:min(len(sorted), 5)], ", "), strings.Join(sorted, ", "), ttl(keep),
		// A batch that is written again has the token of before. What is written is on disk.
		"non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1, "+
			"ttl_only_drop_parts = 1, allow_nullable_key = 1")
	return d
}

// spread are the columns by which rows that are sorted so go to shards: what is about the same is on one.
func spread(sorted []string) string {
	keys := sorted[:max(slices.Index(sorted, schema.Start.Name), 0)]
	if len(keys) == 0 {
		keys = sorted
	}
	return strings.Join(keys, ", ")
}

// ttl is how long rows are kept.
func ttl(keep time.Duration) string {
	return fmt.Sprintf("toDateTime(start) + toIntervalSecond(%d)", int64(keep.Seconds()))
}

// Tables of this store about itself.
var (
	schemaTable = definition{
		name: "waybill_schema", columns: "version UInt32", engine: "MergeTree", clauses: "ORDER BY version",
		spread: "version",
	}
	rolledTable = definition{
		name: "waybill_rolled", columns: "name String, until DateTime64(9, 'UTC')",
		engine: "ReplacingMergeTree(until)", clauses: "ORDER BY name", spread: "name",
	}
	// copiedTable has a row for each piece of another store that is here, and one without a piece since the beginning.
	copiedTable = definition{
		name: "waybill_copied", columns: "source String, piece String", engine: "MergeTree",
		clauses: "ORDER BY (source, piece) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
		spread:  "source, piece",
	}
)

// allTables are those that a store has, but for schemaTable.
func allTables(keep [len(schema.Tiers)]time.Duration) []definition {
	list := []definition{rolledTable, copiedTable}
	for tier := range schema.Tiers {
		for _, t := range tables.In(tier) {
			list = append(list, tableOf(t, tier, keep[tier]))
		}
	}
	return list
}

// nodeNames is the statement that makes the view node_names.
func nodeNames(names map[uint32]string) string {
	rows := []string{"SELECT toUInt32(0) AS node, '' AS name WHERE false"}
	for _, node := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, fmt.Sprintf("SELECT toUInt32(%d), '%s'", node, quoted(names[node])))
	}
	return "CREATE OR REPLACE VIEW node_names AS " + strings.Join(rows, " UNION ALL ")
}

func quoted(text string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) }
