// Package export sends what Waybill finds to other programs. A Record is one thing that is sent, an Output is where to,
// and a Queue stands between them: it never makes those wait who have records, delivers each at least once, and counts
// what becomes of it.
//
// To add an output:
//
//  1. a package below this one with a Config, which is an Opener: its yaml tags are its keys, with a doc for each,
//     Check refuses what cannot work, Open returns the Output;
//  2. its line in outputSettings of serve/export_output.go;
//  3. its test against the program that it is for, its section in docs/how-to/send-it-elsewhere.md, and its row of
//     "works with" in docs/README.md.
package export
