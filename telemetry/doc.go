// Package telemetry holds the words that every part of Waybill shares: a Report and the Hops in it, the FlowKey of the
// packet it speaks of, and the Decoder that makes Reports of telemetry report datagrams of every version and dialect.
// It does no I/O and keeps no state about the network.
//
// All times are nanoseconds, whatever unit the device counts in: the dialect of the source says which (the
// specifications do not). A value that the device did not have is absent (Has), never a number.
package telemetry
