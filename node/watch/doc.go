// Package watch holds watchlists: which packets an INT node watches, and what it does with them. A source asks its flow
// watchlist which packets get INT (INT 2.1 §2), every node that reports asks its flow watchlist and its drop watchlist
// which packets it reports (TR 2.0 §2). Both are lists of the same entries.
//
//	list, err := watch.Compile(entries)  // a field of type []watch.Entry in a file that conf reads
//	...
//	action, watched := list.Match(&key)  // per packet
//
// A List never changes, and matching writes nothing: a node replaces a watchlist at run time by storing another
// pointer, between two packets, and any number of goroutines may share one.
//
// # How a packet is classified
//
// Compile builds a tuple space (Srinivasan, Suri, Varghese: Packet Classification using Tuple Space Search, 1999): a
// few tables, each with a mask that says which bits of a packet it looks at, and a hash table of what stands in those
// bits. A packet is looked up once in each table. As written, a list of 10,000 entries can have hundreds of different
// masks. So tables are merged as in TupleMerge (Daly et al., 2019): a table uses fewer bits than its entries have, and
// the few entries that then share a bucket are compared one by one. Compile chooses the masks greedily, each time one
// that finds room for most of the entries that are left with no more than 8 in a bucket.
//
// A range of ports is hashed by the bits that its first and last port have in common, and compared as it is: of ranges
// that do not overlap, at most one has the same such bits. Where too many overlap, they are split in two at the next
// bit.
//
// Tables are asked in the order of the best entry in them: as soon as a match is better than all that follows, it is
// the answer. Of the other known structures, decision trees copy entries with wildcards into many leaves, and bit
// vectors cost a search in each field before the first of them are combined.
//
// A packet takes 10 to 200 ns in the lists of 10,000 entries that BenchmarkMatch has, from single flows to fields at
// random. What no such structure likes are thousands of entries that differ in overlapping ranges of ports only, the
// narrow ones first: then buckets grow, to a few µs for a packet and seconds for Compile.
//
// To add a field to match on:
//
//  1. The field in Entry, its rule in Entry.check.
//  2. Its value in Key, and its bits in Key.pack.
//  3. The same bits in newRule.
//  4. The field in the matcher of the tests, which compares without any tables.
package watch
