// Package report holds the telemetry reports that INT nodes send to a collector over UDP: versions 0.5, 1.0 and 2.0 of
// the Telemetry Report Format specification (TR), and the reports of the Transparent Security (TS) programs.
//
// The first nibble of the UDP payload selects the version (Version). What stands behind it:
//
//	0.5  V05, then the fragment, always Ethernet
//	1.0  V10, then the fragment that V10.NProt names
//	2.0  Group, then one or more V20, each with its own fragment, TLVs or opaque contents (walk them with Reports)
//	TS   Group, then TSTracked or TSDrop (ask TSKind, for sources that are configured as TS programs only)
//
// Every type has Decode, Append and Len. Decode checks every length that comes from the wire, overwrites the whole
// receiver and allocates nothing; on an error the fields before the failing check stay filled. A []byte field is a view
// of the decoded bytes: it is valid for as long as they are, and nil if there is nothing to view. Append writes what
// the struct says, length fields included, and cuts each field to its width.
//
// Units: the specifications ask for nanoseconds in timestamps and latencies; devices that count microseconds exist, so
// this package keeps the numbers as they are. The unit of a queue or buffer occupancy is the device's own.
//
// To add a new type:
//
//  1. A file <type>.go: box drawing, specification section, the struct in the specification's words, Decode, Append,
//     Len.
//  2. A new reason to refuse bytes is a constant in package wire (see there).
//  3. Its code points, if any, in codepoints.go.
//  4. Tests in <type>_test.go: wiretest.Check on annotated bytes, one test for each error and special rule.
//  5. A line in the list of kinds in fuzz_test.go, with one encoded value as a seed.
//  6. Vectors under testdata/vectors: a case in vectors_test.go.
package report
