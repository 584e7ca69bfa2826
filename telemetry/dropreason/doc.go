// Package dropreason is the catalogue of reasons why packets are dropped, in words that do not depend on who made the
// device: what a reason means, how bad it is, and what to do about it.
//
// Devices name reasons by numbers of 8 bits (TR 2.0 §3.3.1, TR 0.5 §3.2.2) or by names of their own. The numbers
// contradict each other, so a number means something only together with the table of its sender: Of takes both. OfName
// takes the names of the tables, of the Switch Abstraction Interface that SONiC configures, and of the Linux kernel.
//
// To add a reason:
//
//  1. its entry in the reasons file of its group, with the next number of the group; numbers are never used again;
//  2. the names of the sources that mean it, in the names files;
//  3. go test ./telemetry/dropreason -update, which writes docs/reference/drop-reasons.md.
//
// To add a source: its list in a names file and its row in sources. One that is also a table of wire/report stands
// behind those, as its name does there.
package dropreason
