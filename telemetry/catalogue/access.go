package catalogue

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A step leads from a struct to one of its fields, through pointers.
type step struct {
	offset   uintptr
	pointers int
	// The field at knownAt, of that size, must not be zero; size 0: there is none.
	knownAt, knownSize uintptr
}

// stepTo returns the step to a field of a struct.
func stepTo(of reflect.Type, f *reflect.StructField) (step, error) {
	s := step{offset: f.Offset}
	for t := f.Type; t.Kind() == reflect.Pointer; t = t.Elem() {
		s.pointers++
	}
	name := f.Tag.Get("known")
	if name == "" {
		return s, nil
	}
	known := reflect.StructField{Type: of}
	for part := range strings.SplitSeq(name, ".") {
		in, ok := known.Type, false
		if in.Kind() == reflect.Struct {
			known, ok = in.FieldByName(part)
		}
		if !ok || len(known.Index) > 1 {
			return s, fmt.Errorf("there is no field %s", name)
		}
		s.knownAt += known.Offset
	}
	switch known.Type.Kind() {
	case reflect.Bool, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Int64, reflect.Float64:
		s.knownSize = known.Type.Size()
	case reflect.String:
		s.knownAt, s.knownSize = s.knownAt+unsafe.Offsetof(textHeader{}.length), unsafe.Sizeof(0)
	default:
		return s, fmt.Errorf("known cannot be a %v", known.Type)
	}
	return s, nil
}

// A textHeader is how a string lies in memory.
type textHeader struct {
	_      unsafe.Pointer
	length int
}

// Pointer returns a function to the field in an item, nil where it is not known. It panics unless T is the type of the
// item and V has the memory of the type of the field: the same, or one with the same kind of numbers or texts.
func Pointer[T, V any](f *Field) func(item *T) *V {
	value := reflect.TypeFor[V]()
	same := f.Type == value || f.Type.Kind() == value.Kind() && value.Kind() < reflect.Array ||
		f.Type.Kind() == value.Kind() && value.Kind() == reflect.String || value == timeType && isTime(f.Type)
	if f.of != reflect.TypeFor[T]() || !same || len(f.path) == 0 {
		panic(fmt.Sprintf("catalogue: %s of %v is a %v and no %v of %v", f.Name, f.of, f.Type, value,
			reflect.TypeFor[T]()))
	}
	path := direct(f.path)
	if len(path) == 1 && path[0].pointers == 0 && path[0].knownSize == 0 {
		offset := path[0].offset
		return func(item *T) *V { return (*V)(unsafe.Add(unsafe.Pointer(item), offset)) }
	}
	return func(item *T) *V { return (*V)(follow(unsafe.Pointer(item), path)) }
}

// direct joins steps between which nothing has to be looked at.
func direct(path []step) []step {
	joined := []step{path[0]}
	for _, s := range path[1:] {
		last := &joined[len(joined)-1]
		if last.pointers == 0 && s.knownSize == 0 {
			last.offset, last.pointers = last.offset+s.offset, s.pointers
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

func follow(p unsafe.Pointer, path []step) unsafe.Pointer {
	for i := range path {
		s := &path[i]
		if s.knownSize > 0 && !nonZero(unsafe.Add(p, s.knownAt), s.knownSize) {
			return nil
		}
		p = unsafe.Add(p, s.offset)
		for range s.pointers {
			if p = *(*unsafe.Pointer)(p); p == nil {
				return nil
			}
		}
	}
	return p
}

func nonZero(p unsafe.Pointer, size uintptr) bool {
	switch size {
	case 1:
		return *(*uint8)(p) != 0
	case 4:
		return *(*uint32)(p) != 0
	}
	return *(*uint64)(p) != 0
}

// Value returns the field in an item, which is a pointer; an invalid value where it is not known.
func (f *Field) Value(item any) reflect.Value {
	v := reflect.ValueOf(item)
	if v.Type() != reflect.PointerTo(f.of) {
		panic(fmt.Sprintf("catalogue: %s is a field of %v and not of %v", f.Name, f.of, v.Type()))
	}
	p := follow(v.UnsafePointer(), f.path)
	if p == nil {
		return reflect.Value{}
	}
	return reflect.NewAt(f.Type, p).Elem()
}

// Raw is Value, but a value that is there without what makes it known (the tag known) is returned as it is.
func (f *Field) Raw(item any) reflect.Value {
	raw := *f
	raw.path = slices.Clone(f.path)
	for i := range raw.path {
		raw.path[i].knownSize = 0
	}
	return raw.Value(item)
}
