// Package journal keeps what was counted of the ten seconds that are not over. A store gets records of flows when their
// interval is over; what a crash would take before that is written down about twice a second, in a file for each
// interval, and is given to the store by the process that follows.
//
// A file is a line with the version and frames behind each other: length and CRC-32C of what follows, both
// little-endian, and a piece of a stream of encoding/gob, a telemetry.SoFar in each. What is behind the first frame
// that is not whole does not count.
package journal
