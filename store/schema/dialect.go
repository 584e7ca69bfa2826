package schema

import "time"

// A Dialect is what engines write in different ways. All methods return SQL; columns and values are SQL too.
type Dialect interface {
	// Hex is a number of 64 bits as 16 hexadecimal digits. HexList is the list of it, without elements if it is NULL.
	Hex(column string) string
	HexList(column string) string
	// IntegerMean is a sum divided by a count without the rest, a BIGINT; NULL if the count is 0.
	IntegerMean(sum, count string) string
	// Round6 rounds to six digits behind the point, halves away from 0.
	Round6(value string) string
	// Quantile is a percentile of a histogram, as telemetry.Histogram.Quantile has it, a BIGINT.
	Quantile(name, q string) string
	// RouteNodes are the nodes of the route that is joined in as r; NULL if there is none.
	RouteNodes() string
	// Order are the terms of ORDER BY for a column of an answer, of which what is not known comes last. route says that
	// it is RouteNodes.
	Order(column string, ascending, route bool) string
	// FirstNode is the first subject of an event, which may be NULL.
	FirstNode() string
	// Floor is the start of the interval of that length in which a time lies.
	Floor(column string, step time.Duration) string
	// Timestamp is a point of time.
	Timestamp(t time.Time) string
	// Group puts rows, a query in brackets, together: a query for the columns in their order, grouped by those that are
	// keys. with stands before the SELECT around it.
	Group(rows string, columns []Column) (with, query string)
}
