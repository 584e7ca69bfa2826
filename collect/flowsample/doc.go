// Package flowsample makes reports of what devices without INT tell of packets: sFlow version 5 (sflow.org,
// SFLOW-DATAGRAM5 and sflow_drops). Samples are read by the library goflow2; here is what bounds it, and what becomes
// of them.
//
// A sampled packet becomes a report that says which packets it stands for, with a rate (telemetry.Sampled): it adds to
// estimates and to no exact figure. A discarded packet becomes a drop report.
//
// Every sample and notification has one Outcome, so that what came is what is in reports and what is in counters.
package flowsample
