// Package flowsample makes reports of what devices without INT tell of packets and flows: sFlow version 5 (sflow.org,
// SFLOW-DATAGRAM5 and sflow_drops), NetFlow version 9 (RFC 3954) and IPFIX (RFC 7011). Samples and records are read by
// the library goflow2; here is what bounds it, and what becomes of them.
//
// A sampled packet, and the packets of a flow record, become a report that says which packets it stands for, with a
// rate (telemetry.Sampled): it adds to estimates and to no exact figure. Discarded packets become drop reports.
//
// Every sample, record and notification has one Outcome, and a record that tells of dropped packets a second one, so
// that what came is what is in reports and what is in counters.
package flowsample
