// Package message writes records as JSON and as Protobuf. Both have the fields, and the names, of the answers of the
// API; waybill.proto is the schema, and the only place that has the numbers of fields.
//
// A field of an answer needs its line in waybill.proto, with the next number. Numbers are never used again.
package message
