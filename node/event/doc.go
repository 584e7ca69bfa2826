// Package event decides which packets of an INT node are worth a report (TR 2.0 §2). A node that reported every packet
// of every watched flow would drown its collector; one that reports events keeps what an operator asks about: that a
// flow began, took another path, saw another latency, or ended; that it is still there; that a queue was congested or
// full.
//
// A Detector remembers flows, a Congestion remembers queues. Both have tables of a fixed size, take the time as an
// argument, do the same for the same calls, and allocate nothing after they were made. Neither may be used by two
// goroutines at a time.
//
// # What a Detector misses, and what it reports for nothing
//
// It works like the flow report filter of SD-Fabric (fabric-tna) and the flow state reports of SONiC DTel: it keeps
// what the last packet of a flow showed, and reports a packet that shows something else. Those store a digest of 16
// bits, so that 1 change in 65,536 looks like none. A Detector stores the 64 bit hash of the flow, its ports, path and
// quantised latency as they are. So no packet goes unreported that a table without limits, with the flow's hash as its
// key, would report.
//
// What is one flow by its hash is one flow here, and what is one path by its signature one path: hashes of 64 bits that
// meet by chance, once in 2^64 for any two, are a miss that no test of this package can see.
//
// False positives, that is reports without an event, come from:
//
//   - More flows than the table has room for. The flow that was quiet for the longest of the 8 that share a place is
//     forgotten; when it comes back, it is new. See Detector.Forgotten.
//   - Latencies at the edge of a quantum: 255 ns and 257 ns are on two sides of a quantum of 256 ns. A change of at
//     least one quantum is always reported, a smaller one sometimes.
//   - A repeated first packet (a TCP SYN that is sent again): it is a new flow again.
//   - The reset interval: all flows are new again.
//
// A second Detector thins out drop reports: with no ports and no latency given, it reports the first drop of a flow and
// then one per period.
package event
