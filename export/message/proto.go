package message

import (
	_ "embed"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Schema is waybill.proto.
//
//go:embed waybill.proto
var Schema string

// A field of a message in the schema.
type field struct {
	kind     string // "string", "uint32" and so on, or the name of a message
	repeated bool
	number   protowire.Number
}

var (
	messageLine = regexp.MustCompile(`^message (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^ +(repeated |optional )?([\w.]+) (\w+) = (\d+);`)
)

// fields returns those of all messages of the schema, by name. The schema is ours, and a test has a compiler read it.
var fields = sync.OnceValue(func() map[string]map[string]field {
	messages := map[string]map[string]field{}
	var in map[string]field
	for line := range strings.Lines(Schema) {
		if m := messageLine.FindStringSubmatch(line); m != nil {
			in = map[string]field{}
			messages[m[1]] = in
		} else if m := fieldLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[4])
			in[m[3]] = field{m[2], m[1] == "repeated ", protowire.Number(number)}
		}
	}
	return messages
})

// A step writes one field of a struct.
type step struct {
	index []int
	field
}

var plans sync.Map // of reflect.Type: []step

// planOf returns how structs of a type are written: the fields that JSON has, with the numbers of the schema. A field
// without one is left out; a test says which those are.
func planOf(t reflect.Type) []step {
	if plan, ok := plans.Load(t); ok {
		return plan.([]step)
	}
	var plan []step
	message := fields()[t.Name()]
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if to, ok := message[name]; ok && name != "" {
			plan = append(plan, step{f.Index, to})
		}
	}
	plans.Store(t, plan)
	return plan
}

// appendMessage appends the struct, or what points to one, as a message of the schema.
func appendMessage(b []byte, v any) []byte {
	return appendStruct(b, reflect.Indirect(reflect.ValueOf(v)))
}

func appendStruct(b []byte, v reflect.Value) []byte {
	for _, s := range planOf(v.Type()) {
		of := v.FieldByIndex(s.index)
		switch {
		case s.repeated:
			for i := range of.Len() {
				b = s.append(b, of.Index(i))
			}
		case of.Kind() == reflect.Pointer:
			if !of.IsNil() { // a value that is known is written even if it is 0
				b = s.append(b, of.Elem())
			}
		case s.kind == "string" && textOf(of) != "" || s.kind != "string" && !of.IsZero():
			b = s.append(b, of)
		}
	}
	return b
}

// append appends one value with the number of its field.
func (f *field) append(b []byte, v reflect.Value) []byte {
	as := func(t protowire.Type) []byte { return protowire.AppendTag(b, f.number, t) }
	switch f.kind {
	case "string":
		return protowire.AppendString(as(protowire.BytesType), textOf(v))
	case "bool":
		return protowire.AppendVarint(as(protowire.VarintType), protowire.EncodeBool(v.Bool()))
	case "uint32", "uint64":
		return protowire.AppendVarint(as(protowire.VarintType), v.Uint())
	case "int64":
		return protowire.AppendVarint(as(protowire.VarintType), uint64(v.Int()))
	case "double":
		return protowire.AppendFixed64(as(protowire.Fixed64Type), math.Float64bits(v.Float()))
	case "google.protobuf.Timestamp":
		return protowire.AppendBytes(as(protowire.BytesType), timestamp(v.Interface().(time.Time)))
	}
	return protowire.AppendBytes(as(protowire.BytesType), appendStruct(nil, v))
}

// textOf is what JSON has for a value.
func textOf(v reflect.Value) string {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, _ := text.MarshalText() // those of telemetry and netip do not fail
		return string(b)
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprint(v.Interface())
}

// timestamp is a google.protobuf.Timestamp.
func timestamp(t time.Time) (b []byte) {
	if s := t.Unix(); s != 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(s))
	}
	if ns := t.Nanosecond(); ns != 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(ns))
	}
	return b
}
