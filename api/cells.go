package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A column is a field of an item that is no object itself. Fields of objects in it are named with a dot: outer.src.
type column struct {
	name string
	kind reflect.Type // of the field, no pointer
	path [][]int      // indices of fields that lead to it, one step for each pointer
}

// A cell is the value of a column: nil, a bool, int64, uint64, float64, string or time.Time.
type cell struct{ value any }

var (
	timeType      = reflect.TypeFor[time.Time]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// columnsOf returns the columns of a type of items, in the order of its fields.
func columnsOf(of reflect.Type) []column { return appendColumns(nil, of, "", nil) }

func appendColumns(columns []column, of reflect.Type, prefix string, path [][]int) []column {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		to := append(path[:len(path):len(path)], f.Index)
		object := kind.Kind() == reflect.Struct && kind != timeType && !kind.Implements(textType) && !reflect.PointerTo(kind).Implements(marshalerType)
		switch {
		case !f.IsExported() && !f.Anonymous || name == "-":
		case f.Anonymous && name == "":
			columns = appendColumns(columns, kind, prefix, to)
		case object:
			columns = appendColumns(columns, kind, prefix+name+".", to)
		default:
			columns = append(columns, column{prefix + name, kind, to})
		}
	}
	return columns
}

// cellsOf returns what an item has in columns of its type.
func cellsOf(columns []column, item any) ([]cell, error) {
	cells := make([]cell, len(columns))
	for i := range columns {
		v := columns[i].of(item)
		var err error
		if cells[i], err = cellOf(v); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// of returns the field of an item, a pointer that is nil if it is not known.
func (c *column) of(item any) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(item))
	for _, step := range c.path {
		v = v.FieldByIndex(step)
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Pointer {
			break
		}
	}
	return v
}

// A class is what the cells of a column hold.
type class int

const (
	textClass class = iota
	boolClass
	signedClass
	unsignedClass
	floatClass
	timeClass
)

// class is that of a column, as cellOf makes its cells.
func (c *column) class() class {
	if c.kind == timeType {
		return timeClass
	}
	if c.kind.Implements(textType) {
		return textClass
	}
	switch c.kind.Kind() {
	case reflect.Bool:
		return boolClass
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signedClass
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsignedClass
	case reflect.Float64:
		return floatClass
	}
	return textClass
}

func cellOf(v reflect.Value) (cell, error) {
	if v.Kind() == reflect.Pointer {
		return cell{}, nil
	}
	if v.Type() == timeType {
		return cell{v.Interface()}, nil
	}
	if v.Type().Implements(textType) {
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return cell{string(text)}, err
	}
	switch v.Kind() {
	case reflect.Bool:
		return cell{v.Bool()}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return cell{v.Int()}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return cell{v.Uint()}, nil
	case reflect.Float64:
		return cell{v.Float()}, nil
	case reflect.String:
		return cell{v.String()}, nil
	}
	text, err := json.Marshal(v.Interface())
	return cell{string(text)}, err
}

// text is a cell in CSV.
func (c cell) text() string {
	switch v := c.value.(type) {
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
