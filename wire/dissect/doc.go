// Package dissect turns the bytes of one packet into layers of named fields: for people as a tree, for programs as
// JSON, for the console as fields with their position in the packet. It knows every header that Waybill knows.
//
// A packet is read by Packet, from a Start on, with the code points and dialects of a codepoint.Config. Whatever the
// bytes are, the result is what could be read of them. A header that breaks a rule has a field "error"; if nothing of
// it could be read, a layer without a name and with only that field stands in its place. A header that a dialect made
// read otherwise than its specification says has a field "quirk".
//
// The layers of a telemetry report of version 0.5 or 1.0 are followed by those of the packet that it is about. Reports
// of version 2.0 can be about several packets; these are fields "inner" of the individual reports.
//
// JSON is made for programs: the names and values of fields are fixed by testdata/vectors. Trees are made for people
// and may change. A collector does not use this package: it reads the headers themselves, without allocating.
//
// To add a header:
//
//  1. a Start and its name in start.go, if bytes can begin with it or a number announces it;
//  2. a method of walk that decodes it, adds a layer and returns what follows; a case for it in walk.step;
//  3. its fields in names.go and what its numbers mean in meaning.go;
//  4. the texts of its errors in errortext.go;
//  5. a line in TestWalk, or a vector.
//
// To add a quirk of a dialect, let the code that reads the header ask walk.profile and mark the layer with
// builder.quirk, and add a line to TestQuirks.
package dissect
