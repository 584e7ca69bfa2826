package conftest

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/waybill-int/waybill/internal/conf"
)

// A Key is a key that a file may have.
type Key struct {
	Path string // rows[].inner.deep, by_name.*.prefix
	Type reflect.Type
	Doc  string // of the tag doc
}

// Keys returns all keys of a struct, those of the structs in it included, in their order.
func Keys(of reflect.Type) []Key { return keysOf("", of, nil) }

func keysOf(at string, of reflect.Type, keys []Key) []Key {
	switch pointer := reflect.PointerTo(of); {
	case pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || of == reflect.TypeFor[conf.Raw]():
		return keys
	case of.Kind() == reflect.Pointer:
		return keysOf(at, of.Elem(), keys)
	case of.Kind() == reflect.Slice || of.Kind() == reflect.Array:
		return keysOf(at+"[]", of.Elem(), keys)
	case of.Kind() == reflect.Map:
		return keysOf(at+".*", of.Elem(), keys)
	case of.Kind() != reflect.Struct:
		return keys
	}
	for i := range of.NumField() {
		field := of.Field(i)
		switch name, options, _ := strings.Cut(field.Tag.Get("yaml"), ","); {
		case strings.Contains(options, "inline"):
			keys = keysOf(at, field.Type, keys)
		case name != "" && name != "-":
			path := strings.TrimPrefix(at+"."+name, ".")
			keys = keysOf(path, field.Type, append(keys, Key{path, field.Type, field.Tag.Get("doc")}))
		}
	}
	return keys
}
