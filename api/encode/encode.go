// Package encode writes items of lists, and rows of statements, in the formats that the API answers with.
package encode

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"time"
)

// A Format is a way to write rows.
type Format struct {
	Name, Media string
	Write       func(to io.Writer, r *Rows) error
}

// Formats are all that there are. The JSON of a list has more than its items: see List.
var Formats = []Format{
	{"json", "application/json", nil},
	{"ndjson", "application/x-ndjson", writeNDJSON},
	{"csv", "text/csv", writeCSV},
	{"parquet", "application/vnd.apache.parquet", writeParquet},
	{"arrow", "application/vnd.apache.arrow.stream", writeArrow},
}

// Names returns the names of the formats.
func Names() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}

// A Member is what JSON has of an answer beside its items.
type Member struct {
	Name  string
	Value any
}

// List writes JSON: an object of members, and of the items under their name. Each is on a line of its own, and encoded
// by itself, so that no list is held in memory twice.
func List(to io.Writer, members []Member, r *Rows) error {
	w := bufio.NewWriterSize(to, 32<<10)
	encoder := json.NewEncoder(w)
	w.WriteByte('{')
	for _, m := range members {
		w.WriteString(strconv.Quote(m.Name) + ":")
		if err := encoder.Encode(m.Value); err != nil {
			return err
		}
		w.WriteByte(',')
	}
	w.WriteString(strconv.Quote(r.name) + ":[\n")
	for i := range r.Len() {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := encoder.Encode(r.item(i)); err != nil {
			return err
		}
	}
	w.WriteString("]}\n")
	return w.Flush() // returns the first error of all writes
}

// writeNDJSON writes an object for each item, each on a line of its own.
func writeNDJSON(to io.Writer, r *Rows) error {
	w := bufio.NewWriterSize(to, 32<<10)
	encoder := json.NewEncoder(w)
	for i := range r.Len() {
		if err := encoder.Encode(r.item(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func writeCSV(to io.Writer, r *Rows) error { return CSV(to, r, true) }

// CSV writes a line of names, if header is set, and a line for each item (RFC 4180). What is not known is empty, a list
// is JSON.
func CSV(to io.Writer, r *Rows, header bool) error {
	w := csv.NewWriter(to)
	line := make([]string, len(r.columns))
	for i, c := range r.columns {
		line[i] = c.name
	}
	if header {
		_ = w.Write(line) // Error tells
	}
	for row, err := range r.cells() {
		if err != nil {
			return err
		}
		for i, cell := range row {
			line[i] = text(cell)
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Text returns a value as CSV has it.
func Text(v reflect.Value) string {
	cell, _ := cellOf(v) // of what was JSON, or becomes it
	return text(cell)
}

// text is a cell in CSV.
func text(cell any) string {
	switch v := cell.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}
