// Package export makes telemetry reports of what an INT node has to say and puts them into datagrams: versions 0.5, 1.0
// and 2.0 of the Telemetry Report Format specification (TR), and the profile of Transparent Security (TS).
//
//	e, err := export.New(config, func(d *export.Datagram) { ... }) // send it, or keep it in a Batch
//	...
//	err = e.Add(&report, now)          // about a packet; may call the function
//	if at, ok := e.Deadline(); ok { ... } // coalesced reports wait until then
//	e.Flush(now)                       // and Drain(now) in the end
//
// # What a report can say
//
//	                     0.5                        1.0        2.0           Transparent Security
//	node id              with own metadata          yes        yes           yes
//	own metadata         ports, queue, egress time  6 fields   9 fields      9 fields
//	                     of a packet, if all are
//	                     known; or the drop reason
//	domain's metadata    no                         no         yes           no
//	packet               always, from Ethernet on   always     may be none   may be none
//	several reports      no                         no         yes           yes
//
// What a report may say depends on its version, and the Exporter sees to it: it leaves out what is not available, sets
// the flags that belong together, cuts the fragment, counts the sequence numbers, and refuses, with a reason, what
// cannot be said at all. The node decides which packets to report (package event) and which of its values it knows.
//
// An Exporter takes the time as an argument, does the same for the same calls, and does not allocate once each hardware
// subsystem has sent to each destination. It must not be used by two goroutines at a time. A node has one for each
// source address: sequence numbers and IPv4 identifications are counted there.
package export
