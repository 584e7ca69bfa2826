package catalogue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A Field is what the tags of an item say of one of its fields, or of a member of an object in it.
type Field struct {
	Name   string       // in the API: "residence_ns.mean"; empty if it is in filters only
	Type   reflect.Type // no pointer
	Kind   Kind
	Unit   string
	Doc    string
	Choice string // name of its list of choices
	Column string // of a record: in the store; an address has it with _hi and _lo
	// Named says that it is the name of a port or host (the tags port and host), which is looked up for what is shown:
	// lists cannot be ordered by it.
	Named bool

	Filter Filter
	Table  Table

	of   reflect.Type // the item
	path []step
	goes string // in Go: "Residence.Mean"
}

// A Filter is how filters see a field. Its Name is empty if they do not.
type Filter struct {
	Name    string
	Aliases []string
	NameOf  string
	Many    bool
	Any     []string
	Live    string // not kept by a store: what to ask instead about a time range
}

// A Table is how tables of the command line show a field. Its Title is empty if they do not.
type Table struct {
	Title string
	Wide  bool
	Right bool   // aligned: numbers are
	Bad   bool   // a number that should be 0
	Named string // of a node: the field with its name

	at int // its place: a column stands behind those with lower ones
}

// fieldsOf are the fields of the types that were asked for, []Field by reflect.Type: programs ask for the same ones
// many times while they start.
var fieldsOf sync.Map

// Of returns the fields of a type of items, in their order. It panics on tags that break the rules. Nobody may change
// the list.
func Of(item reflect.Type) []Field {
	fields, ok := fieldsOf.Load(item)
	if !ok {
		r := reader{item: item}
		r.object(item, holder{shown: true})
		fields, _ = fieldsOf.LoadOrStore(item, slices.Clip(r.fields))
	}
	return fields.([]Field)
}

// TableOf returns the fields of a type of items that tables show, in the order of their columns. The list is the
// caller's; the fields are those of Of.
func TableOf(item reflect.Type) (shown []*Field) {
	fields := Of(item)
	for i := range fields {
		if fields[i].Table.Title != "" {
			shown = append(shown, &fields[i])
		}
	}
	slices.SortStableFunc(shown, func(a, b *Field) int { return cmp.Compare(a.Table.at, b.Table.at) })
	return shown
}

// In is Of for the members of an object that stands for something else there: doc is its doc.
func In(object reflect.Type, doc string) []Field {
	r := reader{item: object}
	r.object(object, holder{doc: doc})
	return r.fields
}

// NameOf returns the name in the API of a field by that in Go: "Residence.Mean". It panics if there is none.
func NameOf(item reflect.Type, field string) string {
	for _, f := range Of(item) {
		if f.goes == field {
			return f.Name
		}
	}
	panic(fmt.Sprintf("catalogue: %v has no %s", item, field))
}

// Alone returns a doc for where it is not known what holds the field.
func Alone(doc string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(doc, " $", " value"), "$", ""))
}

// A reader collects the fields of an item.
type reader struct {
	item   reflect.Type
	fields []Field
}

// A holder is the object whose members are read.
type holder struct {
	name   string // in front of those of its members, with a dot
	filter string
	alias  []string // of its main member
	only   []string // nil: all
	hidden bool     // from filters
	is     bool     // its only member has its name
	ns     bool
	doc    string
	path   []step
	goes   string

	shown   bool    // tables show those of its members that have the tag table,
	members options // and those that this tag names,
	before  string  // by their names behind this
	at      int
}

// What is added to the places of columns: of a member of an object, and of what stands at the end.
const (
	placesOfObject = 64
	placeAtEnd     = 1 << 20
)

func (r *reader) object(of reflect.Type, h holder) {
	for i := range of.NumField() {
		f := of.Field(i)
		if err := r.field(of, &f, h); err != nil {
			panic(fmt.Sprintf("catalogue: %v: %v.%s: %v", r.item, of, f.Name, err))
		}
	}
}

func (r *reader) field(of reflect.Type, f *reflect.StructField, h holder) error {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	options, err := parse(f.Tag.Get("filter"), filterOptions)
	if err != nil {
		return err
	}
	doc := strings.ReplaceAll(f.Tag.Get("doc"), "$", h.doc)
	if f.Name == "_" {
		return r.anyOf(options, doc, h)
	}
	if !f.IsExported() && !f.Anonymous || name == "-" {
		return nil
	}
	at, err := stepTo(of, f)
	if err != nil {
		return err
	}
	path := append(slices.Clip(h.path), at)
	kind := f.Type
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	inner := h
	inner.path = path
	if doc != "" {
		inner.doc = doc
	}
	switch {
	case f.Anonymous && name == "":
		inner.hidden = h.hidden || options.name == "-"
		r.object(kind, inner)
	case isObject(kind):
		inner.goes += f.Name + "."
		inner = h.inside(inner, name, options)
		if tag, shown := f.Tag.Lookup("table"); shown && h.shown {
			members, err := parse(tag, tableOptions)
			if err != nil {
				return err
			}
			if len(members.list) > 0 || h.members.list == nil {
				inner.members, inner.before, inner.at = members, inner.name, len(r.fields)*placesOfObject
			}
		} else {
			inner.shown = false
		}
		r.object(kind, inner)
	default:
		return r.leaf(f, kind, name, doc, options, inner)
	}
	return nil
}

// inside completes what an object is for its members.
func (h *holder) inside(inner holder, name string, o options) holder {
	inner.name += name + "."
	inner.ns = h.ns || isNs(name)
	inner.hidden = h.hidden || o.name == "-" || h.only != nil && !slices.Contains(h.only, name)
	inner.only, inner.is = o.list["only"], false
	if is := o.list["is"]; is != nil {
		inner.only, inner.is = is, true
	}
	if o.set["inline"] {
		return inner
	}
	short := o.name
	if short == "" {
		short = strings.TrimSuffix(name, "_ns")
	}
	inner.alias = append([]string{h.filter + short}, o.list["alias"]...)
	inner.filter += short + "."
	return inner
}

// leaf adds a field that is no object.
func (r *reader) leaf(f *reflect.StructField, kind reflect.Type, name, doc string, o options, h holder) error {
	field := Field{
		Name: h.name + name, Type: kind, Unit: f.Tag.Get("unit"), Doc: doc, Choice: f.Tag.Get("choice"),
		of: r.item, path: h.path, goes: h.goes + f.Name,
	}
	field.Column, _, _ = strings.Cut(f.Tag.Get("store"), ",")
	field.Column = strings.TrimSuffix(field.Column, "_hi")
	field.Filter.Live = f.Tag.Get("live")
	field.Named = f.Tag.Get("port")+f.Tag.Get("host") != ""
	if name == "" {
		return fmt.Errorf("no name in the tag json")
	}
	ns := isNs(name)
	var err error
	if field.Kind, err = kindOf(kind, f.Tag, ns || h.ns); err != nil {
		return err
	}
	if o.set["many"] {
		if kind.Kind() != reflect.Slice {
			return fmt.Errorf("many values of a %v", kind)
		}
		if field.Kind, err = kindOf(kind.Elem(), f.Tag, false); err != nil {
			return err
		}
		field.Filter.Many = true
	}
	if !h.hidden && o.name != "-" && field.Kind != Other && (h.only == nil || slices.Contains(h.only, name)) {
		short := o.name
		if short == "" {
			short = name
			if ns && field.Kind == Duration {
				short = strings.TrimSuffix(name, "_ns")
				field.Filter.Aliases = []string{h.filter + name}
			}
		}
		switch {
		case h.is:
			field.Filter.Name, field.Filter.Aliases = h.alias[0], h.alias[1:]
		default:
			field.Filter.Name = h.filter + short
			if o.set["main"] {
				field.Filter.Aliases = append(field.Filter.Aliases, h.alias...)
			}
			field.Filter.Aliases = append(field.Filter.Aliases, o.list["alias"]...)
		}
		if of := o.list["nameof"]; of != nil {
			field.Filter.NameOf = of[0]
		}
	}
	if field.Table, err = r.table(f, &field, &h); err != nil {
		return err
	}
	r.fields = append(r.fields, field)
	return nil
}

// table returns how tables show a field that is no object.
func (r *reader) table(f *reflect.StructField, field *Field, h *holder) (Table, error) {
	own, err := parse(f.Tag.Get("table"), tableOptions)
	if err != nil || !h.shown {
		return Table{}, err
	}
	in := &h.members
	t := Table{
		Title: own.name, Wide: own.set["wide"] || in.set["wide"], Bad: own.set["bad"],
		at: len(r.fields) * placesOfObject,
	}
	if named := slices.Concat(in.list["widely"], in.list["of"]); len(named) > 0 {
		name := field.Name[len(h.before):]
		i := slices.IndexFunc(named, func(n string) bool { n, _, _ = strings.Cut(n, ":"); return n == name })
		if i < 0 {
			return Table{}, nil
		}
		_, title, _ := strings.Cut(named[i], ":")
		last := strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
		widely := len(in.list["widely"])
		switch {
		case len(named) == 1:
			title = in.name
		case i == 0 || i == widely:
			last = in.name + " " + last
		}
		t.Title, t.Wide, t.at = cmp.Or(title, t.Title, last), t.Wide || i < widely, h.at+i
		own.set["end"], own.set["last"] = in.set["end"], in.set["last"]
	}
	if own.set["end"] {
		t.at += placeAtEnd
	}
	if own.set["last"] {
		t.at += 2 * placeAtEnd
	}
	if named := own.list["named"]; named != nil {
		t.Named = h.name + named[0]
	}
	t.Right = t.Title != "" &&
		(own.set["right"] || field.Kind >= Uint && field.Kind <= Rate || field.Kind == Node && t.Named == "")
	return t, nil
}

// anyOf adds a field that stands for others.
func (r *reader) anyOf(o options, doc string, h holder) error {
	if o.name == "" || o.list["any"] == nil {
		return fmt.Errorf("a field _ needs a name and any= in the tag filter")
	}
	if h.hidden || h.only != nil {
		return nil
	}
	field := Field{Doc: doc, of: r.item, Filter: Filter{Name: h.filter + o.name, Aliases: o.list["alias"]}}
	for _, name := range o.list["any"] {
		field.Filter.Any = append(field.Filter.Any, h.filter+name)
	}
	r.fields = append(r.fields, field)
	return nil
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

// isObject reports whether JSON has an object for a type.
func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != timeType && !t.Implements(textType) &&
		!reflect.PointerTo(t).Implements(marshalerType)
}
