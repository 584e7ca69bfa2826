// Package scenario reads scenario files: what an emulated network looks like, who talks, and what goes wrong when.
//
// A file is one YAML map. The types of this package are its reference: each key is the yaml tag of a field, with its
// default in the comment. The smallest scenario is
//
//	duration: 10s
//	topology:
//	  leaf_spine: {leaves: 2, spines: 2, hosts: 4}
//	traffic:
//	  - poisson: {load: 5%, sizes: web_search}
//
// Values have units: rates are bits in a second (10G, 100M), sizes bytes (1500, 64kB, 2MiB), times Go durations (20us,
// 1m30s), shares per cent or fractions (2%, 0.02). A key that is unknown, stands twice or has a value that cannot work
// is an error with the file, the line and what is wanted instead.
//
//	name, duration, seed, start   the run
//	topology                      one of leaf_spine, fat_tree, ring, graph
//	switch, nodes, host, clocks   what switches and hosts are like, and which are different
//	routing, reports              how routes follow faults; how reports reach the collector
//	traffic                       a list of poisson, incast, all_reduce, constant
//	faults                        a list of link_down, gray_link, blackhole, loop, polarisation, slow_switch, buffer, no_int,
//	                              clock, report_loss, ddos, mitigate
//	truth                         what of the truth is written down
//	int                           for the telemetry devices; kept as it is (Raw)
//
// To add a kind of traffic or fault:
//
//  1. its type here, its field in Traffic or Fault, and its part of check;
//  2. a file that breaks each of its rules, in bad_test.go;
//  3. its source or its case in package fabric, with a test;
//  4. its name in the table above.
package scenario
