package conf

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/internal/nearest"
)

// An Unmarshaler reads itself from a value of any kind.
type Unmarshaler interface{ UnmarshalConf(v Value) }

// Keyed is a set of values that knows its keys itself. Those of a field of a struct stand beside its other
// keys.
type Keyed interface {
	Keys() map[string]string // with what they mean
	Set(key string, value any) error
}

// A Value is a place in a file.
type Value struct {
	d    *Document
	node *yaml.Node
	key  string
}

// Decode puts the value into what to points to.
func (v Value) Decode(to any) { v.d.value(v.node, v.key, reflect.ValueOf(to).Elem()) }

// Text returns the text of a value that is neither a list nor a map.
func (v Value) Text() (text string, ok bool) {
	return v.node.Value, v.node.Kind == yaml.ScalarNode && !isNull(v.node)
}

// List returns the items of a list.
func (v Value) List() (items []Value, ok bool) {
	for i, item := range v.node.Content {
		items = append(items, Value{v.d, item, fmt.Sprintf("%s[%d]", v.key, i)})
	}
	return items, v.node.Kind == yaml.SequenceNode
}

// Say adds that the value breaks a rule.
func (v Value) Say(format string, args ...any) {
	v.d.add(v.node.Line, v.key, fmt.Sprintf(format, args...))
}

// A List is a list of values; one value alone is a list of one.
type List[T any] []T

// UnmarshalConf reads a List.
func (l *List[T]) UnmarshalConf(v Value) {
	if _, ok := v.List(); !ok {
		*l = make(List[T], 1)
		v.Decode(&(*l)[0])
		return
	}
	v.Decode((*[]T)(l))
	if len(*l) == 0 {
		v.Say("the list is empty")
	}
}

// A Raw is a part of a file that another package reads.
type Raw struct {
	// Text is a YAML document: the file with everything else blanked out, so that errors about it name lines of the
	// file. It is nil if the file does not have this part.
	Text []byte
}

// Decode puts a node into what v points to.
func (d *Document) Decode(n *yaml.Node, v any) {
	if keyed, ok := v.(Keyed); ok {
		d.fields(n, "", reflect.Value{}, keyed)
		return
	}
	d.value(n, "", reflect.ValueOf(v).Elem())
}

func (d *Document) value(n *yaml.Node, key string, to reflect.Value) {
	if _, known := d.lines[key]; !known {
		d.lines[key] = n.Line
	}
	if special(n) {
		d.add(n.Line, key, "want a plain value, without tags, anchors and aliases")
		return
	}
	switch v := to.Addr().Interface().(type) {
	case Unmarshaler:
		v.UnmarshalConf(Value{d, n, key})
		return
	case encoding.TextUnmarshaler:
		d.text1(n, key, v)
		return
	}
	if isNull(n) && !(to.Kind() == reflect.Pointer && single(to.Type().Elem())) {
		return // as if the key were not there
	}
	switch to.Kind() {
	case reflect.Pointer:
		if isNull(n) {
			d.refused(n, key, unit.Want("a value, or no key"))
			return
		}
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		d.value(n, key, to.Elem())
	case reflect.Struct:
		d.fields(n, key, to, nil)
	case reflect.Map:
		d.entries(n, key, to)
	case reflect.Slice, reflect.Array:
		d.items(n, key, to)
	case reflect.Interface:
		to.Set(reflect.ValueOf(d.any(n, key)))
	default:
		if n.Kind != yaml.ScalarNode {
			d.refused(n, key, unit.Want(want(to.Type())))
		} else if err := scalar(n.Value, to); err != nil {
			d.refused(n, key, err)
		}
	}
}

// single reports whether values of a type are neither lists nor maps. Those that a pointer holds are missed, or not: an
// empty one must not be either.
func single(of reflect.Type) bool {
	text := reflect.PointerTo(of).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	return text || of.Kind() != reflect.Struct && of.Kind() != reflect.Map && of.Kind() != reflect.Slice
}

// text1 reads a value that is a text.
func (d *Document) text1(n *yaml.Node, key string, to encoding.TextUnmarshaler) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		var example unit.Want
		if err := to.UnmarshalText(nil); errors.As(err, &example) {
			d.refused(n, key, example)
		} else {
			d.refused(n, key, unit.Want("a single value"))
		}
	} else if at, ok := to.(*time.Time); ok {
		var err error
		if *at, err = unit.ParseTime(n.Value, time.UTC); err != nil {
			d.refused(n, key, err)
		}
	} else if err := to.UnmarshalText([]byte(n.Value)); err != nil {
		d.refused(n, key, err)
	}
}

// refused adds what is wrong with the value of a node.
func (d *Document) refused(n *yaml.Node, key string, err error) {
	var rule unit.Want
	switch {
	case !errors.As(err, &rule):
		d.add(n.Line, key, err.Error())
	case n.Kind != yaml.ScalarNode || isNull(n):
		d.add(n.Line, key, "got "+kindOf(n)+", "+rule.Error())
	case d.kind.Secret:
		d.add(n.Line, key, rule.Error())
	default:
		d.add(n.Line, key, fmt.Sprintf("got %s, %s", quoted(n.Value), rule))
	}
}

func quoted(text string) string {
	if len(text) > 70 {
		text = strings.ToValidUTF8(text[:70], "") + "..."
	}
	return strconv.Quote(text)
}

// pairs calls f for each key of a map.
func (d *Document) pairs(n *yaml.Node, at string, f func(name, value *yaml.Node, key string)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := strings.TrimPrefix(at+"."+name.Value, ".")
		switch first := seen[name.Value]; {
		case name.Kind != yaml.ScalarNode || special(name) || name.Tag == "!!merge":
			d.add(name.Line, at, "want a word or a number as key")
		case first > 0:
			d.add(name.Line, key, fmt.Sprintf("the key is there twice, first in line %d", first))
		default:
			seen[name.Value] = name.Line
			d.lines[key] = value.Line
			f(name, value, key)
		}
	}
}

// fields reads a map into the fields of a struct, or into a Keyed.
func (d *Document) fields(n *yaml.Node, at string, to reflect.Value, keyed Keyed) {
	var fields map[string]reflect.Value
	if to.IsValid() {
		fields, keyed = fieldsOf(to)
	}
	known := slices.Sorted(maps.Keys(fields))
	if keyed != nil {
		known = append(known, slices.Sorted(maps.Keys(keyed.Keys()))...)
	}
	if n.Kind != yaml.MappingNode {
		d.add(n.Line, at, "got "+kindOf(n)+", want keys and values; known are "+strings.Join(known, ", "))
		return
	}
	d.pairs(n, at, func(name, value *yaml.Node, key string) {
		field, ok := fields[name.Value]
		switch {
		case ok && field.Type() == reflect.TypeFor[Raw]():
			field.Set(reflect.ValueOf(Raw{d.cut(n, name)}))
		case ok:
			d.value(value, key, field)
		case keyed != nil && slices.Contains(known, name.Value):
			before := len(d.wrong)
			v := d.any(value, key)
			if len(d.wrong) > before {
				return
			}
			if err := keyed.Set(name.Value, v); err != nil {
				d.add(value.Line, key, strings.TrimPrefix(err.Error(), name.Value+": "))
			}
		default:
			d.add(name.Line, at, unknown(name.Value, known))
		}
	})
}

// unknown says that there is no such key.
func unknown(key string, known []string) string {
	text := "unknown key " + quoted(key)
	if near := nearest.Of(key, known); near != "" {
		return text + "; did you mean " + near + "?"
	}
	return text + "; known are " + strings.Join(known, ", ")
}

// fieldsOf returns the fields of a struct by their keys, those of inline structs included, and its inline Keyed.
func fieldsOf(to reflect.Value) (fields map[string]reflect.Value, keyed Keyed) {
	fields = map[string]reflect.Value{}
	for i := range to.NumField() {
		name, options, _ := strings.Cut(to.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case to.Type().Field(i).IsExported() && to.Type().Field(i).Type.Implements(reflect.TypeFor[Keyed]()):
			keyed = to.Field(i).Interface().(Keyed)
		case strings.Contains(options, "inline"):
			inline, _ := fieldsOf(to.Field(i))
			maps.Copy(fields, inline)
		case name != "" && name != "-":
			fields[name] = to.Field(i)
		}
	}
	return fields, keyed
}

func (d *Document) entries(n *yaml.Node, at string, to reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.refused(n, at, unit.Want("keys and values"))
		return
	}
	if to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	seen := map[any]bool{}
	d.pairs(n, at, func(name, value *yaml.Node, key string) {
		k, v := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		before := len(d.wrong)
		d.value(&yaml.Node{Kind: yaml.ScalarNode, Value: name.Value, Line: name.Line}, key, k)
		if len(d.wrong) > before {
			return
		}
		if seen[k.Interface()] { // 1 and 0x1
			d.add(name.Line, key, "the key is there twice")
		}
		seen[k.Interface()] = true
		if d.value(value, key, v); len(d.wrong) == before {
			to.SetMapIndex(k, v)
		}
	})
}

func (d *Document) items(n *yaml.Node, at string, to reflect.Value) {
	length := len(n.Content)
	switch {
	case n.Kind != yaml.SequenceNode:
		d.refused(n, at, unit.Want(want(to.Type())))
		return
	case to.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), length, length))
	case length != to.Len():
		d.add(n.Line, at, fmt.Sprintf("got a list of %d, want one of %d", length, to.Len()))
		return
	}
	for i, item := range n.Content {
		key := fmt.Sprintf("%s[%d]", at, i)
		if isNull(item) {
			d.add(item.Line, key, "the item is empty")
			continue
		}
		d.value(item, key, to.Index(i))
	}
}

// any returns a value as maps, lists and texts.
func (d *Document) any(n *yaml.Node, at string) any {
	switch {
	case n.Kind == yaml.MappingNode:
		var m map[string]any
		d.entries(n, at, reflect.ValueOf(&m).Elem())
		return m
	case n.Kind == yaml.SequenceNode:
		var list []any
		d.items(n, at, reflect.ValueOf(&list).Elem())
		return list
	case special(n):
		d.add(n.Line, at, "want a plain value, without tags, anchors and aliases")
	}
	return n.Value
}

// scalar reads a text into a value of a built-in type.
func scalar(text string, to reflect.Value) error {
	refused := unit.Want(want(to.Type()))
	octal := len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' // or not; who knows
	switch {
	case to.Kind() == reflect.String:
		to.SetString(text)
	case to.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return refused
		}
		to.SetBool(text == "true")
	case to.CanInt():
		n, err := strconv.ParseInt(text, 0, to.Type().Bits())
		if err != nil || octal {
			return refused
		}
		to.SetInt(n)
	case to.CanUint():
		n, err := strconv.ParseUint(text, 0, to.Type().Bits())
		if err != nil || octal {
			return refused
		}
		to.SetUint(n)
	case to.CanFloat():
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n-n != 0 {
			return refused
		}
		to.SetFloat(n)
	}
	return nil
}

// want says what values of a type look like.
func want(of reflect.Type) string {
	switch k := of.Kind(); {
	case k == reflect.Slice:
		return "a list"
	case k == reflect.Array:
		return fmt.Sprintf("a list of %d", of.Len())
	case k == reflect.Bool:
		return "true or false"
	case k >= reflect.Int && k <= reflect.Int64:
		return "a whole number"
	case k >= reflect.Uint && k <= reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-of.Bits()))
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	}
	return "a text"
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return "a single value"
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// special reports whether a node has what no configuration file needs.
func special(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0
}

// cut returns the value of a key of the outermost map as the Text of a Raw.
func (d *Document) cut(root, name *yaml.Node) []byte {
	lines := strings.SplitAfter(string(d.text), "\n")
	to := len(lines)
	for i := 0; i < len(root.Content); i += 2 {
		if line := root.Content[i].Line; line > name.Line {
			to = min(to, line-1)
		}
	}
	part := strings.Join(lines[name.Line-1:to], "")
	colon := strings.IndexByte(part, ':') + 1
	return []byte(strings.Repeat("\n", name.Line-1) + strings.Repeat(" ", colon) + part[colon:])
}
