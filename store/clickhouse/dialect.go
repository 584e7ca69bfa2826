package clickhouse

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-int/waybill/store/schema"
)

// tables are those of this store.
var tables = schema.New(dialect{})

// A dialect implements schema.Dialect. An arrayMap over a list of one value gives the value a name.
type dialect struct{}

func (dialect) Hex(column string) string { return "lower(leftPad(hex(" + column + "), 16, '0'))" }

func (d dialect) HexList(column string) string {
	return "if(" + column + " IS NULL, [], [" + d.Hex("assumeNotNull("+column+")") + "])"
}

func (dialect) IntegerMean(sum, count string) string {
	return "toInt64(intDiv(" + sum + ", nullIf(" + count + ", 0)))"
}

func (dialect) Round6(value string) string {
	return "arrayMap(v -> " + roundUp("v * 1e6") + " / 1e6, [" + value + "])[1]"
}

// roundUp rounds a number that is not negative, halves up; round of ClickHouse rounds them to even numbers.
func roundUp(v string) string {
	return "(floor(" + v + ") + if(" + v + " - floor(" + v + ") >= 0.5, 1, 0))"
}

// Quantile is the macro histogram_quantile of store/duckdb. h has the buckets (the least value, how much more the
// largest one is, where between them the mean is if nothing else is known, how many values, how many up to here), the
// number of values and the rank; s what the means are wrong by, and the sum of the squares of what each can be; b is
// the bucket with the value, and m where its mean is.
func (dialect) Quantile(name, q string) string {
	low, high := "toFloat64(assumeNotNull(X_min))", "toFloat64(assumeNotNull(X_max))"
	end := func(bucket string) string { return "ceil(pow(2, " + bucket + " * pow(2, -assumeNotNull(X_scale))))" }
	buckets := "arrayMap((b, n, upto) -> arrayMap(e -> " +
		"(e.1, greatest(e.2 - e.1, 0), 1 / (1 + cbrt(greatest(e.2, 1) / greatest(e.1, 1))), toFloat64(n), toFloat64(upto)), " +
		"[(greatest(if(b > 0, " + end("b") + ", toFloat64(0)), " + low + "), least(" + end("(b + 1)") + " - 1, " + high + "))])[1], " +
		"X_buckets, X_counts, arrayCumSum(X_counts))"
	value := "multiIf(h.3 = 1, b.1, h.3 = h.2, b.1 + b.2, b.1 + arrayMap(m -> arrayMap(v -> " + roundUp("v") +
		", [b.2 * (m + least(m, 1 - m) * ((2 * (h.3 - b.5 + b.4) - 1) / b.4 - 1))])[1], " +
		"[least(greatest(b.3 + coalesce(s.1 * b.4 * b.2 / nullIf(s.2, 0), 0), 0), 1)])[1])"
	return strings.ReplaceAll(
		"if(empty(X_counts), NULL, arrayMap(h -> arrayMap(s -> arrayMap(b -> toInt64("+value+
			"), [arrayFirst(b -> b.5 >= h.3, h.1)])[1], "+
			"[(assumeNotNull(X_sum / X_count) * h.2 - arraySum(b -> b.4 * (b.1 + b.2 * b.3), h.1), "+
			"arraySum(b -> pow(b.4 * b.2, 2), h.1))])[1], "+
			"[("+buckets+", toFloat64(arraySum(X_counts)), greatest(ceil("+q+" * arraySum(X_counts)), 1))])[1])",
		"X", name)
}

// RouteNodes has a NULL in the list where there is no route: a list cannot be NULL.
func (dialect) RouteNodes() string { return "if(r.hops IS NULL, [NULL], r.node)" }

// Order gives what is not known a value and a term of its own: 26.5 leaves the rows in which a column is NULL unsorted
// by the next columns but one where LIMIT cuts them. The NULL in the list of a route would stand before an empty list.
func (dialect) Order(column string, ascending, route bool) string {
	unknown := "isNull(" + column + ")"
	if route {
		unknown = "has(" + column + ", NULL)"
	}
	value := "ifNull(" + column + ", defaultValueOfArgumentType(assumeNotNull(" + column + ")))"
	if route {
		value = column
	}
	return unknown + ", " + value + map[bool]string{true: " ASC", false: " DESC"}[ascending]
}

func (dialect) FirstNode() string {
	return "CASE WHEN notEmpty(node) AND (to_node IS NULL OR length(node) > 1) THEN node[1] END"
}

func (dialect) Floor(column string, step time.Duration) string {
	return fmt.Sprintf("fromUnixTimestamp64Nano(intDiv(toUnixTimestamp64Nano(%s), %d) * %d, 'UTC')", column,
		step.Nanoseconds(), step.Nanoseconds())
}

func (dialect) Timestamp(t time.Time) string {
	return fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d), 'UTC')", t.UnixNano())
}

// wide are types in which the sum of numbers of a type does not run over.
var wide = map[string]string{"UBIGINT": "toUInt128", "BIGINT": "toInt128", "UINTEGER": "toUInt128"}

// Group adds up histograms in one pass: with the buckets of each scale apart, which are then brought to the coarsest. A
// bucket at scale s is bucket>>1 at scale s-1.
func (dialect) Group(rows string, columns []schema.Column) (with, query string) {
	var keys, values, names []string
	r := func(text string, c *schema.Column) string {
		return strings.NewReplacer("X", strings.TrimSuffix(c.Name, "_counts"), "COLUMN", c.Name, "WIDE", wide[c.Kind],
			"TYPE", typeOf(c.Kind)).Replace(text)
	}
	for i := range columns {
		c := &columns[i]
		names = append(names, c.Name)
		switch c.Role {
		case schema.Key:
			keys = append(keys, "t."+c.Name+" AS "+c.Name)
		case schema.Sum:
			if c.Kind == "DOUBLE" {
				values = append(values, r("sumOrNull(t.COLUMN) AS COLUMN", c))
			} else {
				values = append(values, r("accurateCast(sumOrNull(WIDE(t.COLUMN)), 'Nullable(TYPE)') AS COLUMN", c))
			}
		case schema.Low, schema.Scale:
			values = append(values, r("minOrNull(t.COLUMN) AS COLUMN", c))
		case schema.High:
			values = append(values, r("maxOrNull(t.COLUMN) AS COLUMN", c))
		case schema.Counts:
			values = append(values, r(
				"sumMap(arrayMap(b -> toUInt32((assumeNotNull(t.X_scale) + 128) * 65536 + b + 32768), t.X_buckets), t.X_counts) AS X_all",
				c,
			))
			merged := r("arrayReduce('sumMap', [arrayMap(k -> toInt16(bitShiftRight(toInt32(k % 65536) - 32768, "+
				"toUInt8(intDiv(k, 65536) - 128 - assumeNotNull(X_scale)))), X_all.1)], [X_all.2])", c)
			names[i-1], names[i] = merged+".1 AS "+columns[i-1].Name, merged+".2 AS "+c.Name
		}
	}
	query = fmt.Sprintf("SELECT %s FROM %s AS t", strings.Join(append(keys, values...), ", "), rows)
	if len(keys) > 0 {
		for i := range keys {
			keys[i], _, _ = strings.Cut(keys[i], " AS ")
		}
		query += " GROUP BY " + strings.Join(keys, ", ")
	}
	return "", fmt.Sprintf("SELECT %s FROM (%s)", strings.Join(names, ", "), query)
}
