package duckdb

import (
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A role says what becomes of a column when rows are put together.
type role uint8

const (
	key role = iota // rows are grouped by it
	sum
	low  // the smallest
	high // the largest
	// A part of a histogram: buckets that have counts, and these. They are merged at the coarsest scale.
	scale
	buckets
	counts
)

// A column of a table on disk.
type column struct {
	name, kind string // kind is the type in SQL
	role       role
	// finest says that only tables of the finest resolution have it, minute that those of a minute have it too: columns
	// with many different values are what makes a table large.
	finest, minute bool
}

// at reports whether tables of that resolution have c.
func (c *column) at(step, finest time.Duration) bool {
	return step == finest || !c.finest && (step <= time.Minute || !c.minute)
}

// A derived column is computed from others when somebody asks for it.
type derived struct {
	name, text string
	needs      []string
	routes     bool // it is of the routes that are joined in as r
	// role, unless it is key, puts the values of rows together; kind is the type of what is added up, in SQL.
	role role
	kind string
	// ceiling is a column that is nowhere lower than this one, which is a mean of rows put together; "" for all others.
	ceiling string
}

// together is the text of a mean of all rows of a group.
func (d *derived) together() string {
	text := d.text
	for _, need := range d.needs {
		text = strings.ReplaceAll(text, need, "sum("+need+")")
	}
	return text
}

// moments are the columns of telemetry.Moments.
func moments(name string) []column {
	return []column{
		{name: name + "_count", kind: "UBIGINT", role: sum},
		{name: name + "_sum", kind: "UBIGINT", role: sum},
		{name: name + "_min", kind: "BIGINT", role: low},
		{name: name + "_max", kind: "BIGINT", role: high},
	}
}

// histogram are the columns of telemetry.Histogram.
func histogram(name string) []column {
	return append(
		moments(name),
		column{name: name + "_scale", kind: "TINYINT", role: scale},
		column{name: name + "_buckets", kind: "SMALLINT[]", role: buckets},
		column{name: name + "_counts", kind: "UBIGINT[]", role: counts},
	)
}

// mean is the derived mean of moments.
func mean(name string) derived {
	return derived{
		name: name + "_mean", text: "CAST(" + name + "_sum // " + name + "_count AS BIGINT)",
		needs: []string{name + "_sum", name + "_count"}, ceiling: name + "_max",
	}
}

// samples are derived of the columns of a telemetry.SampleSum, as its methods have it: which packets figures of so many
// packets tell of. incomplete is the column with those of which some postcards are missing, "" if there is none.
func samples(packets, incomplete string) []derived {
	needs := []string{"sample_high", "sample_low", "sample_known", packets}
	share := []string{"sample_seen", "sample_all", packets}
	missing := "0"
	if incomplete != "" {
		share, missing = append(share, incomplete), "greatest(coalesce("+incomplete+", 0), 0)"
	}
	unknown, partial, onEvent := telemetry.SampleUnknown, telemetry.SamplePart, telemetry.SampleOnEvent
	r := strings.NewReplacer(
		"PACKETS", packets, "MISSING", missing, "UNKNOWN", unknown.Kind(), "PARTIAL", partial.Kind(),
		"EVENT", onEvent.Kind(), "EVERY", telemetry.SampleEvery.Kind(), "ONE", telemetry.SampleRate(2).Kind(),
		"PART", strconv.FormatUint(uint64(partial), 10), "ON", strconv.FormatUint(uint64(onEvent), 10),
	)
	return []derived{
		{name: "sample_kind", needs: needs, text: r.Replace(`CASE WHEN PACKETS = 0 AND sample_high IS NULL THEN NULL
			WHEN sample_high IS NULL OR sample_known < 0.9 * PACKETS THEN 'UNKNOWN'
			WHEN sample_high = ON THEN 'EVENT'
			WHEN sample_high = PART OR sample_low < sample_high THEN 'PARTIAL'
			WHEN sample_high = 1 THEN 'EVERY' ELSE 'ONE' END`)},
		{name: "sample_rate", needs: needs, text: r.Replace(`CASE WHEN sample_low = sample_high
			AND sample_high BETWEEN 2 AND PART - 1 AND sample_known >= 0.9 * PACKETS THEN sample_high END`)},
		{name: "sample_complete", needs: share, text: r.Replace(`CASE WHEN sample_seen > 0 OR MISSING > 0 THEN
			least(round(PACKETS / (PACKETS + MISSING) * CASE WHEN sample_seen > 0 THEN sample_seen / sample_all ELSE 1 END, 6),
				1) END`)},
	}
}

// quantile is a derived percentile of a histogram.
func quantile(name, percent string) derived {
	d := derived{name: name + "_p" + percent}
	for _, part := range []string{"_scale", "_buckets", "_counts", "_min", "_max", "_sum", "_count"} {
		d.needs = append(d.needs, name+part)
	}
	d.text = strings.ReplaceAll("histogram_quantile(X_scale, X_buckets, X_counts, 0."+percent+
		", low := X_min, high := X_max, mean := X_sum / X_count)", "X", name)
	return d
}

// start is the first column of each table.
var start = column{name: "start", kind: "TIMESTAMP_NS"}

// endpoints are the columns of a telemetry.FlowKey.
var endpoints = []column{
	{name: "src_hi", kind: "UBIGINT"},
	{name: "src_lo", kind: "UBIGINT"},
	{name: "dst_hi", kind: "UBIGINT"},
	{name: "dst_lo", kind: "UBIGINT"},
	{name: "src_port", kind: "USMALLINT", finest: true},
	{name: "dst_port", kind: "USMALLINT", minute: true},
	{name: "protocol", kind: "UTINYINT"},
	{name: "tunnel", kind: "UTINYINT"},
	{name: "tunnel_id", kind: "UINTEGER"},
}
