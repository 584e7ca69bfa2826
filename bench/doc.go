// Package bench holds load rigs that measure Waybill from the socket to the tables. They are benchmarks: see
// docs/explanation/performance.md for their figures.
package bench
