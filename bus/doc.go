// Package bus carries datagrams with reports from collectors, which stand beside the switches, to the analyzer, over
// NATS JetStream.
//
// A collector puts the datagrams that arrive into messages. Each message belongs to a partition, which the flows of
// the reports say, and has a number in it that grows by one. What arrived is put in its order again behind the bus:
// where a collector says that all until some time was sent, it says in which messages. A message stays in the
// collector's spool until the analyzer has confirmed that what it holds outlives a crash: what JetStream loses, or
// never got, is sent again. So the bus need not be believed. The analyzer takes each number once and in order; what it
// has to give up is counted, exactly, since each message says how many datagrams were before it.
//
// Datagrams travel as they came, and are accounted for behind the bus: so what the sequence numbers of the exporters
// say covers collectors and bus, too, and a collector has no state but its spool. Holders may take the messages of
// some partitions each for the analyzer, which then gets only what it needs for its accounts.
package bus
