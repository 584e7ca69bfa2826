package duckdb

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

// tables are those of this store.
var tables = schema.New(dialect{})

// A dialect implements schema.Dialect.
type dialect struct{}

func (dialect) Hex(column string) string { return "printf('%016x', " + column + ")" }

func (d dialect) HexList(column string) string {
	return "CASE WHEN " + column + " IS NULL THEN [] ELSE [" + d.Hex(column) + "] END"
}

func (dialect) IntegerMean(sum, count string) string {
	return "CAST(" + sum + " // " + count + " AS BIGINT)"
}

func (dialect) Round6(value string) string { return "round(" + value + ", 6)" }

func (dialect) Quantile(name, q string) string {
	return strings.ReplaceAll("histogram_quantile(X_scale, X_buckets, X_counts, "+q+
		", low := X_min, high := X_max, mean := X_sum / X_count)", "X", name)
}

func (dialect) RouteNodes() string { return "r.node" }

func (dialect) Order(column string, ascending, _ bool) string {
	if ascending {
		return column + " ASC NULLS LAST"
	}
	return column + " DESC NULLS LAST"
}

func (dialect) FirstNode() string {
	return "CASE WHEN to_node IS NULL OR len(node) > 1 THEN node[1] END"
}

func (dialect) Floor(column string, step time.Duration) string {
	return fmt.Sprintf("make_timestamp_ns((epoch_ns(%s) // %d) * %d)", column, step.Nanoseconds(), step.Nanoseconds())
}

func (dialect) Timestamp(t time.Time) string { return timestamp(t) }

func (dialect) Group(rows string, columns []schema.Column) (with, query string) {
	return "WITH rows AS NOT MATERIALIZED " + rows + " ", mergeQuery("rows", columns)
}

func timestamp(t time.Time) string { return fmt.Sprintf("make_timestamp_ns(%d)", t.UnixNano()) }

// TableNames returns the names of all tables, which statements have in FROM.
func TableNames() []string { return tables.TableNames() }
