package filter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// A Schema says which fields a filter may use. It does not change once it is made and may be used by many goroutines.
type Schema struct {
	name   string
	fields []*Field
	byName map[string]*Field // with aliases
	// by what the ways to write a name have in common; nil: two fields have that
	alike map[string]*Field
	nodes map[string]uint32
	names map[uint32]string // of nodes, in SQL
	// what to ask instead of fields that are not kept, by what the ways to write their names have in common
	gone map[string]string
}

// NewSchema returns the schema of one list, such as "flows". It fails if the fields contradict each other.
func NewSchema(name string, fields ...Field) (*Schema, error) {
	s := &Schema{name: name, byName: map[string]*Field{}}
	for i, f := range fields {
		f.index = i
		if f.Column == "" {
			f.Column = strings.ReplaceAll(f.Name, ".", "_")
		}
		s.fields = append(s.fields, &f)
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if !isFieldName(name) {
				return nil, fmt.Errorf("%q cannot be the name of a field", name)
			}
			if s.byName[name] != nil {
				return nil, fmt.Errorf("two fields are named %s", name)
			}
			s.byName[name] = &f
		}
	}
	s.alike = s.alikes()
	for _, f := range s.fields {
		if err := s.check(f); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return s, nil
}

// check completes f, all names being known, and says what is wrong with it.
func (s *Schema) check(f *Field) error {
	if f.Kind < Uint || f.Kind > Node {
		return fmt.Errorf("kind %d does not exist", f.Kind)
	}
	if strings.Contains(f.Column, "?") {
		return fmt.Errorf("a column has no question mark")
	}
	if (f.Kind == Enum) != (len(f.Choices) > 0) {
		return fmt.Errorf("%d choices", len(f.Choices))
	}
	for _, c := range f.Choices {
		// A bare word that names a field is that field.
		if s.byName[c.Name] != nil || strings.ToLower(c.Name) != c.Name || isKeyword(c.Name) {
			return fmt.Errorf("%q cannot be the name of a choice", c.Name)
		}
	}
	if f.Many && f.Kind == Address {
		return fmt.Errorf("a list of addresses has no columns")
	}
	if f.NameOf != "" {
		f.nameOf = s.byName[f.NameOf]
		if g := f.nameOf; g == nil || g.Kind != Node || g.several() || f.Kind != Text || f.several() {
			return fmt.Errorf("it cannot be the name of %s", f.NameOf)
		}
	}
	f.parts = []*Field{f}
	if len(f.Any) > 0 {
		f.parts = nil
	}
	for _, name := range f.Any {
		g := s.byName[name]
		if g == nil || len(g.Any) > 0 || !f.comparable(g) || f.Many {
			return fmt.Errorf("it cannot stand for %s", name)
		}
		f.parts = append(f.parts, g)
	}
	return nil
}

// isFieldName reports whether a name can be read as one: letters first, no keyword.
func isFieldName(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && !isKeyword(name) &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

// Name returns the name of the list that s describes.
func (s *Schema) Name() string { return s.name }

// Fields returns the fields in their order. They are shared: do not change them.
func (s *Schema) Fields() []*Field { return slices.Clone(s.fields) }

// Find returns the field with that name or alias, in upper or lower case, or as the API, the store or waybill decode
// write it; see [catalogue.Alike].
func (s *Schema) Find(name string) (*Field, bool) {
	if f := s.byName[strings.ToLower(name)]; f != nil {
		return f, true
	}
	f := s.alike[catalogue.Alike(name)]
	return f, f != nil
}

// alikes returns fields by what the ways to write their names have in common, but where several fields have that.
func (s *Schema) alikes() map[string]*Field {
	fields := map[string]*Field{}
	add := func(name string, f *Field) {
		key := catalogue.Alike(name)
		if other, ok := fields[key]; ok && other != f {
			f = nil
		}
		fields[key] = f
	}
	for name, f := range s.byName {
		add(name, f)
	}
	named := maps.Clone(fields)
	for _, f := range s.fields {
		for _, name := range f.Elsewhere {
			if _, ok := named[catalogue.Alike(name)]; !ok && name != "" {
				add(name, f)
			}
		}
	}
	return fields
}

// WithNodes returns a copy of s that knows nodes by name too. A name that is a number cannot be used, the number can.
func (s *Schema) WithNodes(ids map[string]uint32) *Schema {
	with := *s
	with.nodes = maps.Clone(ids)
	return &with
}

// WithNames returns a copy of s whose SQL knows the names of nodes, for fields with NameOf. A Matcher gets them from
// the rows.
func (s *Schema) WithNames(names map[uint32]string) *Schema {
	with := *s
	with.names = maps.Clone(names)
	return &with
}

// Kept returns a copy of s without the fields that a store does not keep. A filter with such a field gets an error that
// says what to ask instead (Field.Live). The others keep their numbers (Field.Index), so that rows of s serve.
func (s *Schema) Kept() *Schema {
	kept := *s
	kept.byName, kept.alike, kept.gone = maps.Clone(s.byName), maps.Clone(s.alike), map[string]string{}
	for name, f := range s.byName {
		if f.Live != "" {
			delete(kept.byName, name)
			kept.gone[catalogue.Alike(name)] = f.Live
		}
	}
	maps.DeleteFunc(kept.alike, func(_ string, f *Field) bool { return f == nil || f.Live != "" })
	kept.fields = slices.DeleteFunc(slices.Clone(s.fields), func(f *Field) bool { return f.Live != "" })
	return &kept
}

// spelled returns all names and aliases, sorted.
func (s *Schema) spelled() []string { return slices.Sorted(maps.Keys(s.byName)) }
