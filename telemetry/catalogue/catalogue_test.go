package catalogue

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

type part struct {
	Count uint64  `json:"count" filter:"-"`
	Mean  float64 `json:"mean" filter:",main" doc:"mean $"`
	P50   uint64  `json:"p50" known:"Exact" doc:"median of the $"`
	Exact bool    `json:"exact" filter:"-"`
}

type ends struct {
	Src netip.Addr `json:"src" doc:"source$"`
	Dst netip.Addr `json:"dst" doc:"destination$"`
	_   struct{}   `filter:"addr,any=src+dst" doc:"either$"`
}

type ownTime struct{ time.Time }

type item struct {
	ID string `json:"id" filter:",alias=name" doc:"the id" table:"ID,wide"`
	ends
	Outer   *ends     `json:"outer,omitempty" filter:",only=src" doc:" outside"`
	Inner   *ends     `json:"inner" filter:"in" doc:" inside"`
	Wait    *part     `json:"wait_ns" filter:",alias=delay" doc:"wait"`
	Depth   *part     `json:"depth" filter:"queue,is=mean" doc:"depth"`
	LastNs  int64     `json:"last_ns" doc:"the last"`
	Node    *uint32   `json:"node" kind:"node" table:"NODE"`
	Bytes   uint64    `json:"bytes" kind:"size" table:"BYTES"`
	At      ownTime   `json:"at"`
	Ports   []uint32  `json:"ports" filter:"port,many"`
	Names   []string  `json:"names"`
	Protos  uint8     `json:"proto" choice:"protocol"`
	Hidden  **uint8   `json:"hidden" filter:"-"`
	Nothing chan bool `json:"-"`
	own     int
}

// TestOf compares what the tags of a type say with what the package comment promises.
func TestOf(t *testing.T) {
	var got []string
	for _, f := range Of(reflect.TypeFor[item]()) {
		got = append(got, fmt.Sprintf("%s %d %s %v %v %v | %s | %s %v %v",
			f.Name, f.Kind, f.Filter.Name, f.Filter.Aliases, f.Filter.Many, f.Filter.Any, f.Doc, f.Table.Title,
			f.Table.Wide, f.Table.Right))
	}
	want := []string{
		"id 10 id [name] false [] | the id | ID true false",
		"src 8 src [] false [] | source |  false false",
		"dst 8 dst [] false [] | destination |  false false",
		" 0 addr [] false [src dst] | either |  false false",
		"outer.src 8 outer.src [] false [] | source outside |  false false",
		"outer.dst 8  [] false [] | destination outside |  false false",
		"inner.src 8 in.src [] false [] | source inside |  false false",
		"inner.dst 8 in.dst [] false [] | destination inside |  false false",
		" 0 in.addr [] false [in.src in.dst] | either inside |  false false",
		"wait_ns.count 4  [] false [] |  |  false false",
		"wait_ns.mean 4 wait.mean [wait delay] false [] | mean wait |  false false",
		"wait_ns.p50 4 wait.p50 [] false [] | median of the wait |  false false",
		"wait_ns.exact 11  [] false [] |  |  false false",
		"depth.count 1  [] false [] |  |  false false",
		"depth.mean 2 queue [] false [] | mean depth |  false false",
		"depth.p50 1  [] false [] | median of the depth |  false false",
		"depth.exact 11  [] false [] |  |  false false",
		"last_ns 4 last [last_ns] false [] | the last |  false false",
		"node 13 node [] false [] |  | NODE false true",
		"bytes 5 bytes [] false [] |  | BYTES false true",
		"at 7 at [] false [] |  |  false false",
		"ports 1 port [] true [] |  |  false false",
		"names 0  [] false [] |  |  false false",
		"proto 12 proto [] false [] |  |  false false",
		"hidden 1  [] false [] |  |  false false",
	}
	if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
		t.Errorf("got\n%s", text)
	}
}

// at returns a field of item.
func at(t *testing.T, name string) *Field {
	for _, f := range Of(reflect.TypeFor[item]()) {
		if f.Name == name {
			return &f
		}
	}
	t.Fatalf("no field %s", name)
	return nil
}

// TestPointer follows the ways to fields: through embedded structs and pointers, to what is not known and what is.
func TestPointer(t *testing.T) {
	node, hidden := uint32(3), uint8(9)
	second := &hidden
	full := item{
		ID: "a", ends: ends{Dst: netip.MustParseAddr("10.0.0.1")}, Inner: &ends{Dst: netip.MustParseAddr("10.0.0.2")},
		Wait: &part{Mean: 0.5, P50: 7}, Depth: &part{P50: 8, Exact: true}, Node: &node, At: ownTime{time.Unix(5, 0)},
		Protos: 17,
		Hidden: &second, own: 1,
	}
	if p := Pointer[item, netip.Addr](at(t, "dst"))(&full); p != &full.Dst {
		t.Errorf("dst: %p, want %p", p, &full.Dst)
	}
	if p := Pointer[item, netip.Addr](at(t, "inner.dst"))(&full); p != &full.Inner.Dst {
		t.Errorf("inner.dst: %p, want %p", p, &full.Inner.Dst)
	}
	if p := Pointer[item, netip.Addr](at(t, "outer.dst"))(&full); p != nil {
		t.Errorf("outer.dst: %p of nothing", p)
	}
	if p := Pointer[item, uint64](at(t, "wait_ns.p50"))(&full); p != nil {
		t.Errorf("wait_ns.p50: %d, which is not known", *p)
	}
	if p := Pointer[item, uint64](at(t, "depth.p50"))(&full); p == nil || *p != 8 {
		t.Errorf("depth.p50: %v, want 8", p)
	}
	if p := Pointer[item, uint32](at(t, "node"))(&full); p != &node {
		t.Errorf("node: %p, want %p", p, &node)
	}
	if p := Pointer[item, time.Time](at(t, "at"))(&full); !p.Equal(time.Unix(5, 0)) {
		t.Errorf("at: %v", p)
	}
	if p := Pointer[item, uint8](at(t, "hidden"))(&full); p != &hidden {
		t.Errorf("hidden: %p, want %p", p, &hidden)
	}
	for _, f := range Of(reflect.TypeFor[item]()) {
		if f.Name == "" {
			continue
		}
		if v := f.Value(&full); v.IsValid() && v.Type() != f.Type {
			t.Errorf("%s is a %v, want %v", f.Name, v.Type(), f.Type)
		}
		if v := f.Value(&item{}); v.IsValid() && strings.Contains(f.Name, ".") {
			t.Errorf("%s of nothing is %v", f.Name, v)
		}
	}
	for name, wrong := range map[string]func(){
		"type of the field": func() { Pointer[item, uint32](at(t, "bytes")) },
		"type of the item":  func() { Pointer[part, uint64](at(t, "bytes")) },
	} {
		if panicked(wrong) == "" {
			t.Errorf("another %s: no panic", name)
		}
	}
}

// TestNameOf looks names up by those in Go.
func TestNameOf(t *testing.T) {
	of := reflect.TypeFor[item]()
	for field, want := range map[string]string{
		"ID": "id", "Dst": "dst", "Outer.Src": "outer.src",
		"Wait.P50": "wait_ns.p50",
	} {
		if got := NameOf(of, field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if panicked(func() { NameOf(of, "wait_ns.p50") }) == "" {
		t.Error("a field that is none has a name")
	}
}

func panicked(f func()) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// TestBadTags: what a tag cannot say is found when the program begins.
func TestBadTags(t *testing.T) {
	for want, of := range map[string]reflect.Type{
		"A: no name in the tag json": reflect.TypeFor[struct{ A int }](),
		`A: option "aliases=b" does not exist`: reflect.TypeFor[struct {
			A int `json:"a" filter:",aliases=b"`
		}](),
		`A: option "alias" does not exist`: reflect.TypeFor[struct {
			A int `json:"a" filter:",alias"`
		}](),
		`A: option "tall" does not exist`: reflect.TypeFor[struct {
			A int `json:"a" table:"A,tall"`
		}](),
		`A: kind "speed" does not exist`: reflect.TypeFor[struct {
			A int `json:"a" kind:"speed"`
		}](),
		"A: kind size of a string": reflect.TypeFor[struct {
			A string `json:"a" kind:"size"`
		}](),
		"A: there is no field B": reflect.TypeFor[struct {
			A int `json:"a" known:"B"`
		}](),
		"A: known cannot be a []int": reflect.TypeFor[struct {
			A int   `json:"a" known:"B"`
			B []int `json:"b"`
		}](),
		"A: many values of a int": reflect.TypeFor[struct {
			A int `json:"a" filter:",many"`
		}](),
		"_: a field _ needs a name and any= in the tag filter": reflect.TypeFor[struct {
			_ int `filter:"a"`
		}](),
	} {
		if why := panicked(func() { Of(of) }); !strings.HasSuffix(why, want) {
			t.Errorf("got %q, want %s", why, want)
		}
	}
}

// TestTableOf: columns have the order of the fields but for those at the end, members of objects are among them where
// the object says so, and stand under its title.
func TestTableOf(t *testing.T) {
	type inner struct {
		Seen uint64 `json:"seen" table:"SEEN"`
	}
	type row struct {
		Last  time.Time `json:"last" table:"LAST,end"`
		Node  uint32    `json:"node" kind:"node" table:"NODE,named=name"`
		Name  string    `json:"name"`
		Wait  *part     `json:"wait_ns" table:"WAIT,widely=count,of=p50+mean"`
		Depth *part     `json:"depth" table:"DEPTH,wide,of=mean"`
		Bad   uint32    `json:"bad" table:"BAD,bad"`
		In    *inner    `json:"in" table:",wide"`
		Out   *inner    `json:"out"`
		inner
	}
	var got []string
	for _, f := range TableOf(reflect.TypeFor[row]()) {
		got = append(got,
			fmt.Sprint(f.Table.Title, " ", f.Name, " ", f.Table.Wide, f.Table.Right, f.Table.Bad, f.Table.Named))
	}
	want := []string{
		"NODE node false false falsename", "WAIT COUNT wait_ns.count true true false",
		"WAIT P50 wait_ns.p50 false true false",
		"MEAN wait_ns.mean false true false", "DEPTH depth.mean true true false", "BAD bad false true true",
		"SEEN in.seen true true false",
		"SEEN seen false true false", "LAST last false false false",
	}
	if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
		t.Errorf("got\n%s", text)
	}
}
