// Package truth holds what an emulated network knows about itself and a monitoring system has to find out: its records,
// how they are written and how they are read back.
//
// A truth file is NDJSON: one JSON object in each line, in the order in which the fabric wrote them. "type" says what
// the record is. All times are virtual, in nanoseconds since the start of the run, without the error of any clock;
// names end with "_ns". Sizes are in bytes and count Ethernet frames from the destination address on, without preamble,
// FCS and gap. Fields that have nothing to say ("prefix" of a fault without one) are left out.
//
//	run      Run      first line: scenario, seed and the wall time that virtual time 0 stands for
//	switch   Switch   a switch: number, address, ports
//	host     Host     a host: addresses, where it is attached
//	link     Link     a link: its two ends, rate, delay, MTU
//	flow     Flow     one direction of a conversation, when its last packet has left the network
//	path     Path     a flow took this path during this interval
//	hop      Hop      a sampled packet left a switch
//	drop     Drop     a packet was lost: where and why
//	burst    Burst    a queue was longer than the threshold: when, how long, whose packets
//	fault    Fault    something was broken, repaired, or routed around
//	report   Report   a telemetry report left a switch
//	report_lost Report  a telemetry report was thrown away deliberately on its way
//	end      End      last line: totals
//
// The payload of every packet begins with the number of its flow (4 bytes, big endian) and its own (8), as far as they
// fit: a report that holds enough of a packet says which one it is about.
//
// To add a record:
//
//  1. its type in a file of its own, with a json tag for each field and the unit in the comment;
//  2. its Append, which writes the fields in the order of the struct;
//  3. its row in the table above and in fresh, below Reader;
//  4. its row in TestRoundTrip, which compares Append with what encoding/json reads.
package truth
