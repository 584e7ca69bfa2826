package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Role says what becomes of a column when rows are put together.
type Role uint8

// Roles.
const (
	Key Role = iota // rows are grouped by it
	Sum
	Low  // the smallest
	High // the largest
	// A part of a histogram: buckets that have counts, and these. They are merged at the coarsest scale.
	Scale
	Buckets
	Counts
)

// A Column of a table on disk.
type Column struct {
	Name string // in SQL, quoted where that needs it
	Kind string // its type, in the words of DuckDB
	Role Role
	// Finest says that only tables of the finest resolution have it, Minute that those of a minute have it too: columns
	// with many different values are what makes a table large.
	Finest, Minute bool
}

// at reports whether tables of that resolution have c.
func (c *Column) at(step, finest time.Duration) bool {
	return step == finest || !c.Finest && (step <= time.Minute || !c.Minute)
}

// A Derived column is computed from others when somebody asks for it.
type Derived struct {
	Name, Text string
	Needs      []string
	Routes     bool // it is of the routes that are joined in as r
	// Role, unless it is Key, puts the values of rows together; Kind is the type of what is added up.
	Role Role
	Kind string
	// Ceiling is a column that is nowhere lower than this one, which is a mean of rows put together; "" for all others.
	Ceiling string
}

// summaryColumns are the columns of telemetry.LatencySummary.
func summaryColumns(name string) []Column {
	return []Column{
		{Name: name + "_count", Kind: "UBIGINT", Role: Sum},
		{Name: name + "_sum", Kind: "UBIGINT", Role: Sum},
		{Name: name + "_min", Kind: "BIGINT", Role: Low},
		{Name: name + "_max", Kind: "BIGINT", Role: High},
	}
}

// Histogram are the columns of telemetry.Histogram.
func Histogram(name string) []Column {
	return append(
		summaryColumns(name),
		Column{Name: name + "_scale", Kind: "TINYINT", Role: Scale},
		Column{Name: name + "_buckets", Kind: "SMALLINT[]", Role: Buckets},
		Column{Name: name + "_counts", Kind: "UBIGINT[]", Role: Counts},
	)
}

// mean is the derived mean of a summary.
func (d tables) mean(name string) Derived {
	return Derived{
		Name: name + "_mean", Text: d.IntegerMean(name+"_sum", name+"_count"),
		Needs: []string{name + "_sum", name + "_count"}, Ceiling: name + "_max",
	}
}

// samples are derived of the columns of a telemetry.SampleSum, as its methods have it: which packets figures of so many
// packets tell of. incomplete is the column with those of which some postcards are missing, "" if there is none.
func (d tables) samples(packets, incomplete string) []Derived {
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
	return []Derived{
		{Name: "sample_kind", Needs: needs, Text: r.Replace(`CASE WHEN PACKETS = 0 AND sample_high IS NULL THEN NULL
			WHEN sample_high IS NULL OR 10 * sample_known < 9 * PACKETS THEN 'UNKNOWN'
			WHEN sample_high = ON THEN 'EVENT'
			WHEN sample_high = PART OR sample_low < sample_high THEN 'PARTIAL'
			WHEN sample_high = 1 THEN 'EVERY' ELSE 'ONE' END`)},
		{Name: "sample_rate", Needs: needs, Text: r.Replace(`CASE WHEN sample_low = sample_high
			AND sample_high BETWEEN 2 AND PART - 1 AND 10 * sample_known >= 9 * PACKETS THEN sample_high END`)},
		{Name: "sample_complete", Needs: share, Text: r.Replace(`CASE WHEN sample_seen > 0 OR MISSING > 0 THEN
			least(`) + d.Round6(r.Replace("PACKETS / (PACKETS + MISSING) * CASE WHEN sample_seen > 0 THEN sample_seen / sample_all ELSE 1 END")) +
			", 1) END"},
	}
}

// quantile is a derived percentile of a histogram.
func (d tables) quantile(name, percent string) Derived {
	q := Derived{Name: name + "_p" + percent, Text: d.Quantile(name, "0."+percent)}
	for _, part := range []string{"_scale", "_buckets", "_counts", "_min", "_max", "_sum", "_count"} {
		q.Needs = append(q.Needs, name+part)
	}
	return q
}

// Start is the first column of each table.
var Start = Column{Name: "start", Kind: "TIMESTAMP_NS"}

// endpoints are the columns of a telemetry.FlowKey.
var endpoints = []Column{
	{Name: "src_hi", Kind: "UBIGINT"},
	{Name: "src_lo", Kind: "UBIGINT"},
	{Name: "dst_hi", Kind: "UBIGINT"},
	{Name: "dst_lo", Kind: "UBIGINT"},
	{Name: "src_port", Kind: "USMALLINT", Finest: true},
	{Name: "dst_port", Kind: "USMALLINT", Minute: true},
	{Name: "protocol", Kind: "UTINYINT"},
	{Name: "tunnel", Kind: "UTINYINT"},
	{Name: "tunnel_id", Kind: "UINTEGER"},
}
