// Package store says what is kept and how it is asked for: the tables, a Writer that takes records without ever waiting
// for a disk, and the interface of what stands behind it. Records are those of telemetry (Intervals).
//
// To add a table: 1. its record in telemetry/interval_*.go and in telemetry.Intervals, 2. its constant and name in
// table.go,
// 3. its columns in schema/table.go, 4. its section in docs/reference/store.md.
package store
