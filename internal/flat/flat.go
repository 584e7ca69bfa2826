// Package flat writes values of any type as they lie in memory, for a process that was built from the same source: all
// fields, of whatever package, and numbers by the block. So what one process asks another one may be any value, and
// long lists of numbers cost about a copy. Types says whether the other process has the same types.
package flat

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Errors of Read.
var (
	ErrShort     = errors.New("flat: the value is longer than what was read")
	ErrMalformed = errors.New("flat: this is no such value")
)

// A plan is how values of a type are written and read.
type plan struct {
	size  uintptr
	least uintptr   // bytes that a value takes at least when it is written
	plain bool      // it is written as it lies in memory
	bools []uintptr // of a plain type: where bytes are that may be 0 or 1 only
	write func(buf []byte, at unsafe.Pointer) []byte
	read  func(b []byte, at unsafe.Pointer) (rest []byte, err error)
}

var plans sync.Map // reflect.Type -> *plan

// Append appends the value that v points to. It panics if its type has a part that cannot be written: functions,
// channels, types that have themselves as a part, and what an interface holds whose type nobody has registered.
func Append[T any](buf []byte, v *T) []byte {
	return planOf(reflect.TypeFor[T]()).write(buf, unsafe.Pointer(v))
}

// Read reads a value that Append wrote into v, which should be new, and returns what is behind it. What it makes is not
// much larger than b, whatever that says, and has no part of it.
func Read[T any](b []byte, v *T) (rest []byte, err error) {
	return planOf(reflect.TypeFor[T]()).read(b, unsafe.Pointer(v))
}

var (
	registered = map[string]reflect.Type{}
	names      = map[reflect.Type]string{}
)

// Register lets interfaces hold values of the type of T, in Append and in Read. Call it from init functions only.
func Register[T any]() {
	t := reflect.TypeFor[T]()
	registered[t.String()], names[t] = t, t.String()
}

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, makePlan(t, nil))
	return p.(*plan)
}

// partOf is planOf for a part of types that are being looked at.
func partOf(t reflect.Type, in []reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	return makePlan(t, in)
}

func makePlan(t reflect.Type, in []reflect.Type) *plan {
	if slices.Contains(in, t) {
		panic(fmt.Sprintf("flat: %v has itself as a part", t))
	}
	in = append(in, t)
	p := &plan{size: t.Size(), least: 1}
	if marshals(t) {
		p.marshal(t)
		return p
	}
	switch t.Kind() {
	case reflect.Bool:
		p.plain, p.bools = true, []uintptr{0}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		p.plain = true
	case reflect.Array:
		p.array(t, partOf(t.Elem(), in))
	case reflect.Struct:
		p.structure(t, in)
	case reflect.String:
		p.text()
	case reflect.Slice:
		p.slice(t, partOf(t.Elem(), in))
	case reflect.Map:
		p.table(t, partOf(t.Key(), in), partOf(t.Elem(), in))
	case reflect.Pointer:
		p.pointer(t, partOf(t.Elem(), in))
	case reflect.Interface:
		p.held(t)
	default:
		panic(fmt.Sprintf("flat: %v cannot be written, in %v", t, in[0]))
	}
	if p.plain {
		p.least = p.size
		p.write = func(buf []byte, at unsafe.Pointer) []byte {
			return append(buf, unsafe.Slice((*byte)(at), p.size)...)
		}
		p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) { return p.copyPlain(b, at, 1) }
	}
	return p
}

// copyPlain reads n plain values, one behind the other.
func (p *plan) copyPlain(b []byte, at unsafe.Pointer, n int) ([]byte, error) {
	size := n * int(p.size)
	if len(b) < size {
		return b, ErrShort
	}
	if size == 0 {
		return b, nil
	}
	for _, offset := range p.bools {
		for i := offset; i < uintptr(size); i += p.size {
			if b[i] > 1 {
				return b, ErrMalformed
			}
		}
	}
	copy(unsafe.Slice((*byte)(at), size), b)
	return b[size:], nil
}

func (p *plan) array(t reflect.Type, of *plan) {
	n := t.Len()
	if of.plain {
		p.plain = true
		for i := range n {
			for _, offset := range of.bools {
				p.bools = append(p.bools, uintptr(i)*of.size+offset)
			}
		}
		return
	}
	p.least = uintptr(n) * of.least
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		for i := range n {
			buf = of.write(buf, unsafe.Add(at, i*int(of.size)))
		}
		return buf
	}
	p.read = func(b []byte, at unsafe.Pointer) (_ []byte, err error) {
		for i := 0; i < n && err == nil; i++ {
			b, err = of.read(b, unsafe.Add(at, i*int(of.size)))
		}
		return b, err
	}
}

func (p *plan) structure(t reflect.Type, in []reflect.Type) {
	type field struct {
		*plan
		offset uintptr
	}
	var fields []field
	p.plain = true
	for i := range t.NumField() {
		f := t.Field(i)
		of := field{partOf(f.Type, in), f.Offset}
		p.plain = p.plain && of.plain
		fields = append(fields, of)
	}
	if p.plain {
		for _, f := range fields {
			for _, offset := range f.bools {
				p.bools = append(p.bools, f.offset+offset)
			}
		}
		return
	}
	p.least = 0
	for _, f := range fields {
		p.least += f.least
	}
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		for i := range fields {
			buf = fields[i].write(buf, unsafe.Add(at, fields[i].offset))
		}
		return buf
	}
	p.read = func(b []byte, at unsafe.Pointer) (_ []byte, err error) {
		for i := 0; i < len(fields) && err == nil; i++ {
			b, err = fields[i].read(b, unsafe.Add(at, fields[i].offset))
		}
		return b, err
	}
}

// count reads a number of parts, each of which takes at least so many bytes of b; -1: there is no list.
func count(b []byte, least uintptr) (n int, rest []byte, err error) {
	u, length := binary.Uvarint(b)
	if length <= 0 {
		return 0, b, ErrShort
	}
	b = b[length:]
	if u > 1<<40 || u > 0 && (u-1)*uint64(max(least, 1)) > uint64(len(b)) {
		return 0, b, ErrShort
	}
	return int(u) - 1, b, nil
}

func (p *plan) text() {
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		s := *(*string)(at)
		return append(binary.AppendUvarint(buf, uint64(len(s))+1), s...)
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		n, b, err := count(b, 1)
		switch {
		case err != nil:
			return b, err
		case n < 0:
			return b, ErrMalformed
		}
		*(*string)(at) = string(b[:n])
		return b[n:], nil
	}
}

func (p *plan) slice(t reflect.Type, of *plan) {
	if of.size == 0 {
		panic(fmt.Sprintf("flat: %v has elements without content", t))
	}
	type header struct {
		data     unsafe.Pointer
		len, cap int
	}
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		h := (*header)(at)
		if h.data == nil {
			return append(buf, 0)
		}
		buf = binary.AppendUvarint(buf, uint64(h.len)+1)
		if of.plain {
			return append(buf, unsafe.Slice((*byte)(h.data), h.len*int(of.size))...)
		}
		for i := range h.len {
			buf = of.write(buf, unsafe.Add(h.data, i*int(of.size)))
		}
		return buf
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		n, b, err := count(b, of.least)
		if err != nil || n < 0 {
			return b, err
		}
		list := reflect.MakeSlice(t, n, n)
		reflect.NewAt(t, at).Elem().Set(list)
		data := list.UnsafePointer()
		if of.plain {
			return of.copyPlain(b, data, n)
		}
		for i := 0; i < n && err == nil; i++ {
			b, err = of.read(b, unsafe.Add(data, i*int(of.size)))
		}
		return b, err
	}
}

func (p *plan) table(t reflect.Type, keys, values *plan) {
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		m := reflect.NewAt(t, at).Elem()
		if m.IsNil() {
			return append(buf, 0)
		}
		buf = binary.AppendUvarint(buf, uint64(m.Len())+1)
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		for i := m.MapRange(); i.Next(); {
			k.Elem().SetIterKey(i)
			v.Elem().SetIterValue(i)
			buf = keys.write(buf, k.UnsafePointer())
			buf = values.write(buf, v.UnsafePointer())
		}
		return buf
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		n, b, err := count(b, keys.least+values.least)
		if err != nil || n < 0 {
			return b, err
		}
		m := reflect.MakeMap(t)
		reflect.NewAt(t, at).Elem().Set(m)
		for range n {
			k, v := reflect.New(t.Key()), reflect.New(t.Elem())
			if b, err = keys.read(b, k.UnsafePointer()); err != nil {
				return b, err
			}
			if b, err = values.read(b, v.UnsafePointer()); err != nil {
				return b, err
			}
			m.SetMapIndex(k.Elem(), v.Elem())
		}
		return b, nil
	}
}

func (p *plan) pointer(t reflect.Type, of *plan) {
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		to := *(*unsafe.Pointer)(at)
		if to == nil {
			return append(buf, 0)
		}
		return of.write(append(buf, 1), to)
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		switch {
		case len(b) == 0:
			return b, ErrShort
		case b[0] == 0:
			return b[1:], nil
		case b[0] > 1:
			return b, ErrMalformed
		}
		to := reflect.New(t.Elem())
		*(*unsafe.Pointer)(at) = to.UnsafePointer()
		return of.read(b[1:], to.UnsafePointer())
	}
}

// held writes what an interface holds behind the name of its type.
func (p *plan) held(t reflect.Type) {
	name := planOf(reflect.TypeFor[string]())
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		v := reflect.NewAt(t, at).Elem()
		if v.IsNil() {
			none := ""
			return name.write(buf, unsafe.Pointer(&none))
		}
		of := v.Elem().Type()
		text, ok := names[of]
		if !ok {
			panic(fmt.Sprintf("flat: %v is not registered", of))
		}
		copied := reflect.New(of)
		copied.Elem().Set(v.Elem())
		return planOf(of).write(name.write(buf, unsafe.Pointer(&text)), copied.UnsafePointer())
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		var text string
		b, err := name.read(b, unsafe.Pointer(&text))
		if err != nil || text == "" {
			return b, err
		}
		of, ok := registered[text]
		if !ok || !of.Implements(t) {
			return b, ErrMalformed
		}
		v := reflect.New(of)
		b, err = planOf(of).read(b, v.UnsafePointer())
		reflect.NewAt(t, at).Elem().Set(v.Elem())
		return b, err
	}
}

// marshals reports whether a type says itself how it is written, as those do that point to what only this process has:
// addresses with zones, and times.
func marshals(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]())
}

func (p *plan) marshal(t reflect.Type) {
	content := planOf(reflect.TypeFor[[]byte]())
	p.write = func(buf []byte, at unsafe.Pointer) []byte {
		b, err := reflect.NewAt(t, at).Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			panic(fmt.Sprintf("flat: %v: %v", t, err))
		}
		return content.write(buf, unsafe.Pointer(&b))
	}
	p.read = func(b []byte, at unsafe.Pointer) ([]byte, error) {
		var of []byte
		b, err := content.read(b, unsafe.Pointer(&of))
		if err == nil && reflect.NewAt(t, at).Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(of) != nil {
			err = ErrMalformed
		}
		return b, err
	}
}

// Types returns a number that is the same in two processes if they write values of these types in the same way.
func Types(list ...reflect.Type) uint64 {
	h := fnv.New64a()
	told := map[reflect.Type]bool{}
	order := uint16(1)
	fmt.Fprint(h, *(*[2]byte)(unsafe.Pointer(&order)))
	var tell func(t reflect.Type)
	tell = func(t reflect.Type) {
		fmt.Fprintln(h, t.PkgPath(), t, t.Kind(), t.Size())
		if told[t] || marshals(t) {
			return
		}
		told[t] = true
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				fmt.Fprintln(h, f.Name, f.Offset)
				tell(f.Type)
			}
		case reflect.Map:
			tell(t.Key())
			tell(t.Elem())
		case reflect.Array:
			fmt.Fprintln(h, t.Len())
			tell(t.Elem())
		case reflect.Slice, reflect.Pointer:
			tell(t.Elem())
		}
	}
	for _, t := range list {
		tell(t)
	}
	return h.Sum64()
}
