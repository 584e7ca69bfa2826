package dissect

import "github.com/waybill-int/waybill/wire"

// A Layer is one header of a packet with its fields in the order of the wire.
type Layer struct {
	// Name is "ipv4", "int_md", ...; empty for an error that stands where the next layer would.
	Name string
	// Bit and Width are the position of the header in the packet, in bits from its start.
	Bit, Width int
	Fields     []Field
}

// A Field is one named value of a header.
type Field struct {
	Name string
	// Value is one of
	//
	//	uint64      a number
	//	bool        a flag
	//	string      an address, or bytes in lower case hex
	//	[]string    a list of names
	//	Object      a group of fields
	//	[]Object    a list of records, such as hops, newest first
	//	[]Layer     the layers of a packet inside this one
	//	wire.Error  the rule that is broken here; the field's name is "error"
	Value any
	// Bit and Width are the position of the field in the packet, in bits from its start. Width 0 is a value that was
	// derived, such as the index of the bottom of stack.
	Bit, Width int
	// Unit of a number: "ns", "us", "s", "bytes", "words"; "unix s" and "unix ns" are points in time. Empty: a count,
	// an identifier, or a quantity whose unit is not known.
	Unit string
	// Meaning says what the value stands for, for example "TCP"; NotAvailable for a value that stands for none.
	Meaning string
}

// An Object is a group of fields.
type Object []Field

// NotAvailable is the Meaning of a value that says that the sender could not tell (all ones). Such numbers are not to
// be shown or averaged.
const NotAvailable = "not available"

// errorField and quirkField are the names of the fields that mark a broken rule, and what a dialect made of it.
const (
	errorField = "error"
	quirkField = "quirk"
)

// wideWidth is the width in bits from which numbers are written in hex in JSON, as they do not fit a float64.
const wideWidth = 54

// Find returns the field of that name, or nil.
func (l *Layer) Find(name string) *Field { return find(l.Fields, name) }

// Find returns the field of that name, or nil.
func (o Object) Find(name string) *Field { return find(o, name) }

func find(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// Number returns the field's number; 0 if f is nil or holds none.
func (f *Field) Number() uint64 {
	if f == nil {
		return 0
	}
	n, _ := f.Value.(uint64)
	return n
}

// Text returns the field's text; empty if f is nil or holds none.
func (f *Field) Text() string {
	if f == nil {
		return ""
	}
	s, _ := f.Value.(string)
	return s
}

// Flag returns the field's flag; false if f is nil or holds none.
func (f *Field) Flag() bool {
	if f == nil {
		return false
	}
	b, _ := f.Value.(bool)
	return b
}

// Objects returns the field's list of records; nil if f is nil or holds none.
func (f *Field) Objects() []Object {
	if f == nil {
		return nil
	}
	list, _ := f.Value.([]Object)
	return list
}

// Layers returns the layers inside the field; nil if f is nil or holds none.
func (f *Field) Layers() []Layer {
	if f == nil {
		return nil
	}
	list, _ := f.Value.([]Layer)
	return list
}

// Errors calls yield for every broken rule in layers, outermost first, until it returns false.
func Errors(layers []Layer) func(yield func(wire.Error) bool) {
	return func(yield func(wire.Error) bool) {
		layerErrors(layers, yield)
	}
}

func layerErrors(layers []Layer, yield func(wire.Error) bool) bool {
	for i := range layers {
		if !fieldErrors(layers[i].Fields, yield) {
			return false
		}
	}
	return true
}

func fieldErrors(fields []Field, yield func(wire.Error) bool) bool {
	for i := range fields {
		switch v := fields[i].Value.(type) {
		case wire.Error:
			if !yield(v) {
				return false
			}
		case Object:
			if !fieldErrors(v, yield) {
				return false
			}
		case []Object:
			for _, o := range v {
				if !fieldErrors(o, yield) {
					return false
				}
			}
		case []Layer:
			if !layerErrors(v, yield) {
				return false
			}
		}
	}
	return true
}
