// Package node is an INT node: what one switch does about telemetry. It has no goroutine, no clock and does no I/O. Who
// drives it, an emulator, a capture or a socket, hands in packets, places and times, and gets packets and reports:
//
//	config, err := node.Load(text)                // docs/reference/node.md
//	n, err := node.New(config, spec)
//	...
//	verdict := n.Arrive(frame, ingress, &state)   // as the packet comes
//	n.Depart(frame, &state, egress, &output)      // as it leaves, TTL and MAC addresses rewritten
//	n.Drop(frame, &state, drop, &output)          // or as it is lost
//	n.Tick(now, &output)                          // every millisecond or so
//
// The same calls give the same bytes. After the tables have been made and buffers have grown, nothing is allocated.
//
// # The life of a packet
//
// Arrive reads the headers. A packet from an edge port is outside of the INT domain: it has no INT, whatever it looks
// like, or it is dropped. The flow watchlist decides once, here, what becomes of the packet. Everything that is
// remembered of it until it leaves is a State, a small struct without pointers; the switch takes from it the class and
// the hash that the packet had before INT.
//
// Depart reads the headers again, for they have changed, and asks the queue that the packet comes from whether it is
// congested. Then the ports decide on the role:
//
//	from edge  to inside   source     inserts INT, or makes sure that the packet does not look like it has any
//	inside     to inside   transit    adds its record, or says in the header why not; in INT-MX it reports
//	inside     to edge     sink       takes INT out, all of it, and reports what it has collected
//	from edge  to edge     both       no INT; a report of this node alone
//
// In INT-XD, and for entries of that mode, packets stay as they are and every node reports by its own watchlist. A
// packet of a watched flow is reported if the event detector finds it worth it, or if the watchlist says so for all
// packets; a packet that met a congested queue is reported by the node whose queue it is, without the stack, which is
// for the sink to report. Drop asks the drop watchlist, and the queue.
//
// Packages do the single steps: embed the bytes of packets, watch the watchlists, event the tables, export the reports.
// This one decides who is called, and knows the node's own metadata (metadata.go).
//
// # To add a role
//
//  1. a case in Depart, with its ports;
//  2. a file for it, as source.go, transit.go and sink.go are: a method that takes the visit, sets n.out and counts;
//  3. its outcomes in stats.go;
//  4. the reports that it sends, by tell or by Drop;
//  5. rows in TestNoAllocs, and its role in TestPathRestoresPacketsAndReportsTell.
//
// # To add a mode
//
//  1. a watch.Mode and, if packets change in a new way, an embed.Mode;
//  2. what its instructions come to: demand in watchlists.go;
//  3. what a source does (source.go), a node on the way (transit.go) and the last one (sink.go);
//  4. the flags of its reports: embedded in visit.go;
//  5. its word in modes (domain.go), and in docs/reference/node.md.
package node
