package filter

import "strings"

// A Dialect is the SQL of an engine.
type Dialect uint8

// Dialects.
const (
	DuckDB Dialect = iota
	ClickHouse
)

// dialects are what engines write in different ways. LIST, COLUMN and VALUE stand for these.
var dialects = [...]struct {
	unsigned, time string // around a bound value
	length         string // of a list without NULL
	contains       string
	// some value v of a list meets the condition between them
	some, someEnd string
	matches       string
	// beforeRegex is what makes . no line break in a regular expression.
	beforeRegex string
	// whole is a regular expression that all of a text matches, in which . is a line break too; escape is behind LIKE
	// if there are backslashes in the pattern, "" if they mean something else.
	whole, beforeWhole, behindWhole, escape string
}{
	DuckDB: {
		unsigned: "CAST(? AS UBIGINT)", time: "make_timestamp_ns(?)",
		length:   "coalesce(len(LIST), 0)",
		contains: "coalesce(list_contains(LIST, VALUE), FALSE)", // faster than a lambda
		some:     "coalesce(len(list_filter(LIST, lambda v: ", someEnd: ")), 0) > 0",
		matches: "regexp_matches(COLUMN, VALUE)",
		whole:   "regexp_full_match(COLUMN, VALUE, 's')", escape: ` ESCAPE '\'`,
	},
	ClickHouse: {
		unsigned: "toUInt64(?)", time: "fromUnixTimestamp64Nano(?, 'UTC')",
		length: "arrayCount(v -> v IS NOT NULL, LIST)", contains: "has(LIST, VALUE)",
		some: "arrayExists(v -> coalesce(", someEnd: ", FALSE), LIST)",
		matches: "match(COLUMN, VALUE)", beforeRegex: "(?-s)",
		whole: "match(COLUMN, VALUE)", beforeWhole: `\A(?s:`, behindWhole: `)\z`,
	},
}

// Unsigned is the SQL around the question mark of an unsigned integer, which is given as text.
func (d Dialect) Unsigned() string { return dialects[d].unsigned }

// Time is the SQL around the question mark of a time in nanoseconds since 1970.
func (d Dialect) Time() string { return dialects[d].time }

// bind is the SQL around a bound value, which makes it a constant of the type of the column: DuckDB skips parts of a
// table only then (it turns column and value into HUGEINT if one is signed).
func (d Dialect) bind(k Kind) string {
	switch k {
	case Time:
		return d.Time()
	case Uint, Size, Rate, Address, MAC, Enum, Node:
		return d.Unsigned()
	}
	return "?"
}

// fill puts a list or column and a bound value into a text of dialects.
func fill(text, column, value string) string {
	return strings.NewReplacer("LIST", column, "COLUMN", column, "VALUE", value).Replace(text)
}
