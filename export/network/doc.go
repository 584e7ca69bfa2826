// Package network has what the network did as metrics for Prometheus: packets, latencies, queue depths, drops, use and
// loss by node, port, queue and link, under their names. It adds up the intervals that also a store gets, so that
// counters never fall when a table gives a path to another one, and reads at a scrape what only is of now.
//
// Histograms are native ones with eight buckets for each power of two (schema 3); Metrics adds classic buckets for who
// asks.
//
// To add a metric: 1. its description in descs.go, 2. what adds it up in metrics.go, if tables do not have it, 3. a
// line in collect.go, 4. go test ./export/network -update, 5. where it helps, a panel of a dashboard.
package network
