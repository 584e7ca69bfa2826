// Package filter is the filter language of Waybill, the same in the command line, the API, the console and alert rules:
//
//	node = 3 and hop.latency > 50us and src in 10.0.0.0/8 and not proto = udp
//
// Parse checks a text against a Schema, which says what fields there are and of what Kind. The Expr that it returns
// prints itself in one canonical form, compiles to an SQL condition for the store, and to a Matcher for live records.
// Both give the same answer for the same record. Complete and Validate serve those who are still typing. The language
// itself is described in docs/reference/filter.md.
//
// # Absent values
//
// The logic has two values. A comparison says something about a value that is there: if the field is absent (NULL in
// SQL), each comparison is false, also !=, not in, not like and !~. "not" turns round whatever stands behind it, so
// "not node = 3" also holds where there is no node, and "node != 3" does not.
//
// A field of several values (Field.Many, Field.Any) fulfils =, <, in, like and the others if one of its values does. It
// fulfils !=, not in, not like and !~ if it has values and none of them fulfils =, in, like or ~.
//
// # Columns
//
// What a column holds follows from the Kind of its field, see Kind. It may be NULL; it must not hold NaN. An address is
// two columns, COLUMN_hi and COLUMN_lo, both NULL or none, as telemetry.Addr has them: IPv4 is mapped into IPv6. A
// field with Many is a list, without NULL in it.
//
// # To add a kind
//
//  1. its constant and its row in kind.go, its order in value.go,
//  2. its literals in literal.go, with the canonical text that parses back to the same value,
//  3. how it is bound in sql.go,
//  4. a field of it in the schema of the tests (schema_test.go), from which the property test and the fuzz target make
//     expressions and rows,
//  5. its row in docs/reference/filter.md.
//
// To add a field: see package catalogue. The fields of reports are in fields_reports.go and report_row.go.
package filter
