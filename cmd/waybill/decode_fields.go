package main

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/wire/dissect"
)

// A fieldsWriter prints one line per packet with a column for each field that was asked for.
type fieldsWriter struct {
	out        *bufio.Writer
	columns    []column
	separator  string
	aggregator string // between several values in one column
	header     bool
	first      time.Time
	buf        []byte
}

// A column collects the values of a field in a packet.
type column struct {
	name   string
	values func(dst []string, p *decodedPacket, w *fieldsWriter) []string
}

func newFieldsWriter(out *bufio.Writer, names, options []string) (*fieldsWriter, error) {
	w := &fieldsWriter{out: out, separator: "\t", aggregator: ","}
	for _, option := range options {
		if err := w.option(option); err != nil {
			return nil, fmt.Errorf("-E: %w", err)
		}
	}
	for _, name := range names {
		c, err := newColumn(name)
		if err != nil {
			return nil, fmt.Errorf("-e: %w", err)
		}
		w.columns = append(w.columns, c)
	}
	if w.header {
		for i, c := range w.columns {
			if i > 0 {
				w.buf = append(w.buf, w.separator...)
			}
			w.buf = append(w.buf, c.name...)
		}
		w.buf = append(w.buf, '\n')
		_, err := out.Write(w.buf)
		return w, err
	}
	return w, nil
}

// option reads one -E OPTION.
func (w *fieldsWriter) option(text string) error {
	key, value, _ := strings.Cut(text, "=")
	switch key {
	case "separator":
		w.separator = unescape(value)
	case "aggregator":
		w.aggregator = unescape(value)
	case "header":
		if value != "y" && value != "n" {
			return fmt.Errorf("header: got %q, want y or n", value)
		}
		w.header = value == "y"
	default:
		return fmt.Errorf("got %q, want separator=TEXT, aggregator=TEXT or header=y", text)
	}
	return nil
}

// unescape turns /t and /s into the characters that are hard to write on a command line.
func unescape(text string) string {
	return strings.NewReplacer("/t", "\t", "/s", " ", "//", "/").Replace(text)
}

func (w *fieldsWriter) write(p *decodedPacket) error {
	if w.first.IsZero() {
		w.first = p.Time
	}
	b := w.buf[:0]
	var values []string
	for i, c := range w.columns {
		if i > 0 {
			b = append(b, w.separator...)
		}
		values = c.values(values[:0], p, w)
		for j, v := range values {
			if j > 0 {
				b = append(b, w.aggregator...)
			}
			b = append(b, v...)
		}
	}
	b = append(b, '\n')
	w.buf = b
	_, err := w.out.Write(b)
	return err
}

func (w *fieldsWriter) close() error { return nil }

// newColumn finds a field by its name, "layer.field" or one of shortFields.
func newColumn(name string) (column, error) {
	for i := range shortFields {
		if shortFields[i].name == name {
			return shortFields[i].column(), nil
		}
	}
	names := dissect.FieldNames()
	if !slices.Contains(names, name) {
		return column{}, unknownField(name, names)
	}
	layer, path, _ := strings.Cut(name, ".")
	parts := strings.Split(path, ".")
	return column{name, func(dst []string, p *decodedPacket, _ *fieldsWriter) []string {
		visit(p.Layers, func(l *dissect.Layer) {
			if l.Name == layer {
				dst = appendPath(dst, l.Fields, parts)
			}
		})
		return dst
	}}, nil
}

// appendPath appends the values of the fields at a path, which may lead through lists of records.
func appendPath(dst []string, fields []dissect.Field, path []string) []string {
	for i := range fields {
		f := &fields[i]
		if f.Name != path[0] {
			continue
		}
		if len(path) == 1 {
			return append(dst, fieldText(f))
		}
		switch v := f.Value.(type) {
		case dissect.Object:
			dst = appendPath(dst, v, path[1:])
		case []dissect.Object:
			for _, o := range v {
				dst = appendPath(dst, o, path[1:])
			}
		}
	}
	return dst
}

// fieldText is the value of a field in a column: numbers without units, and never one that says that there is none.
func fieldText(f *dissect.Field) string {
	n, isNumber := f.Value.(uint64)
	switch {
	case f.Meaning == dissect.NotAvailable:
		return "n/a"
	case isNumber && f.Unit != "":
		return strconv.FormatUint(n, 10)
	}
	return string(dissect.AppendValue(nil, f))
}

// unknownField is the error for a field that does not exist, with those that it could have been.
func unknownField(name string, names []string) error {
	for i := range shortFields {
		names = append(names, shortFields[i].name)
	}
	near := suggestions(name, names)
	if len(near) == 0 {
		return fmt.Errorf("unknown field %q; see --list-fields", name)
	}
	return fmt.Errorf("unknown field %q; did you mean %s? See --list-fields", name, strings.Join(near, ", "))
}

// suggestions returns up to five names that look like name: those that end like it first, then those that are few
// typing errors away.
func suggestions(name string, names []string) []string {
	type suggestion struct {
		name     string
		distance int
	}
	var list []suggestion
	_, last, _ := strings.Cut(name, ".")
	for _, known := range names {
		distance := editDistance(name, known)
		if last != "" && strings.HasSuffix(known, "."+last) || strings.HasSuffix(known, "."+name) {
			distance = 0
		}
		if distance <= 3 {
			list = append(list, suggestion{known, distance})
		}
	}
	slices.SortStableFunc(list, func(a, b suggestion) int { return a.distance - b.distance })
	var near []string
	for _, s := range list[:min(len(list), 5)] {
		near = append(near, s.name)
	}
	return near
}

// editDistance is the number of characters to insert, remove, replace or swap with the next to get from a to b (optimal
// string alignment).
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
