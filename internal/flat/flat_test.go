package flat

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

type number struct {
	a uint8
	b uint64
	c [3]int16
	d bool
	e float64
}

type judge interface{ judge() int }

type strict struct{ rules []string }

func (s *strict) judge() int { return len(s.rules) }

type lenient int

func (l lenient) judge() int { return int(l) }

func init() {
	Register[*strict]()
	Register[lenient]()
}

type all struct {
	number
	Text    string
	numbers []number
	Texts   []string
	lists   [2][]uint32
	byName  map[string]*number
	byKey   map[[2]uint16][]bool
	inner   *struct{ more []*int32 }
	At      time.Time
	addr    netip.AddrPort
	judges  []judge
	in      map[netip.Prefix]struct{ N int }
}

func example() *all {
	at := int32(7)
	return &all{
		number: number{1, 1 << 60, [3]int16{-1, 0, 1}, true, 0.5}, Text: "ß", numbers: []number{{}, {d: true}},
		Texts: []string{"", "a"}, lists: [2][]uint32{nil, {}}, byName: map[string]*number{"": nil, "b": {b: 2}},
		byKey: map[[2]uint16][]bool{{1, 2}: {true, false}}, inner: &struct{ more []*int32 }{[]*int32{nil, &at}},
		At: time.Unix(1, 2).UTC(), addr: netip.MustParseAddrPort("[fe80::1%eth0]:7"),
		judges: []judge{nil, &strict{[]string{"x"}}, lenient(3)},
		in:     map[netip.Prefix]struct{ N int }{netip.MustParsePrefix("10.0.0.0/8"): {4}},
	}
}

// What is read is what was written, with all fields, and with what is nil.
func TestRoundTrip(t *testing.T) {
	for _, v := range []*all{example(), {}} {
		b := Append([]byte("x"), v)
		var got all
		rest, err := Read(append(b[1:], "rest"...), &got)
		if err != nil || string(rest) != "rest" || !reflect.DeepEqual(&got, v) {
			t.Errorf("got %+v, %q, %v, want %+v", got, rest, err, v)
		}
	}
	type exported struct {
		A []map[uint8]string
		B map[int16]*[]float64
		C [4]struct {
			D []bool
			E int
		}
	}
	same := func(v exported) bool {
		var got exported
		rest, err := Read(Append(nil, &v), &got)
		return err == nil && len(rest) == 0 && reflect.DeepEqual(v, got)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

// What is cut anywhere is no value, and nothing that is read has a part of what it was read from.
func TestCut(t *testing.T) {
	whole := Append(nil, example())
	for n := range whole {
		var v all
		if _, err := Read(slices.Clone(whole[:n]), &v); err == nil {
			t.Fatalf("%d of %d bytes are a value", n, len(whole))
		}
	}
	var got all
	if _, err := Read(whole, &got); err != nil {
		t.Fatal(err)
	}
	clear(whole)
	if !reflect.DeepEqual(&got, example()) {
		t.Error("it changes with what it was read from")
	}
}

// Truths are 0 or 1, and what an interface holds is of a type that may be there.
func TestMalformed(t *testing.T) {
	var truth bool
	if _, err := Read([]byte{2}, &truth); !errors.Is(err, ErrMalformed) {
		t.Errorf("2 is %v, %v", truth, err)
	}
	b := Append(nil, &[2]number{{}, {d: true}})
	b[slices.Index(b, 1)] = 3
	var numbers [2]number
	if _, err := Read(b, &numbers); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v", err)
	}
	var held judge = lenient(1)
	b = Append(nil, &held)
	b[1] ^= 0x20
	if _, err := Read(b, &held); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(Append(nil, example()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, again all
		if _, err := Read(b, &v); err != nil {
			return
		}
		if _, err := Read(Append(nil, &v), &again); err != nil {
			t.Errorf("what was read cannot be read again: %v", err)
		}
	})
}

type endless struct{ Next *endless }

type other interface{ other() }

type unregistered int

func (unregistered) other() {}

// What cannot be written is said when it is tried first.
func TestCannot(t *testing.T) {
	for want, try := range map[string]func(){
		"itself": func() { Append(nil, &endless{}) },
		"func()": func() { Append(nil, &struct{ f func() }{}) },
		"not registered": func() {
			var o other = unregistered(1)
			Append(nil, &o)
		},
		"without content": func() { Append(nil, &[]struct{}{}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("got %q, want %q", text, want)
				}
			}()
			try()
		}()
	}
}

// Types differ if a field has another name, place or type.
func TestTypes(t *testing.T) {
	seen := map[uint64]int{}
	for i, of := range []reflect.Type{
		reflect.TypeFor[struct{ a, b uint8 }](), reflect.TypeFor[struct{ a, c uint8 }](),
		reflect.TypeFor[struct{ b, a uint8 }](), reflect.TypeFor[struct{ a, b int8 }](),
		reflect.TypeFor[[]struct{ a, b uint8 }](), reflect.TypeFor[map[uint8]struct{ a, b uint8 }](),
		reflect.TypeFor[[2]uint8](), reflect.TypeFor[[3]uint8](),
	} {
		n := Types(of)
		if before, ok := seen[n]; ok || n != Types(of) {
			t.Errorf("type %d is like type %d", i, before)
		}
		seen[n] = i
	}
}

type row struct {
	Counts [160]uint32
	hops   []number
	Total  uint64
}

// BenchmarkFlat writes and reads a thousand rows of numbers.
func BenchmarkFlat(b *testing.B) {
	rows := make([]row, 1000)
	for i := range rows {
		rows[i].hops = make([]number, 5)
	}
	var buf []byte
	for b.Loop() {
		buf = Append(buf[:0], &rows)
		var got []row
		if _, err := Read(buf, &got); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
}
