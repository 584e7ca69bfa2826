// Package tables keeps the tables of flows in processes beside the analyzer, when one machine has no room or no
// processors for all of them. The analyzer reads what arrives, keeps the accounts of exporters, and relays each
// datagram to those that own a flow of its reports; it asks them what shards of its own would answer. A Server has the
// shards, an Analyzer is what asks them.
//
// Nothing here is kept by itself: the analyzer's checkpoint says what was counted until when. Whenever a Server is
// gone, the analyzer begins anew at its checkpoint, with all shards empty, and takes from the bus again what came
// behind it.
package tables
