// Package tables keeps the tables of flows in processes beside the analyzer, when one machine has no room or no
// processors for all of them. A Server has the shards, an Analyzer is what asks them what shards of its own would
// answer.
//
// Where servers have a connection to the bus, each shard takes the partitions of its flows from there. It tells the
// analyzer what each datagram says of its exporter, keeps the datagram, and counts it when the analyzer, which keeps
// the accounts, has said when: in the order in which all of them arrived. What has reports of flows of others it gives
// to the analyzer. Elsewhere, and of such datagrams, the analyzer reads all, and relays each to those that own a flow
// of its reports.
//
// Nothing here is kept by itself: the analyzer's checkpoint says what was counted until when. Whenever a Server is
// gone, the analyzer begins anew at its checkpoint, with all shards empty, and takes from the bus again what came
// behind it.
package tables
