package catalogue

import (
	"encoding"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// A Kind says what the values of a field mean. Other is a list or an object, of which only JSON knows more.
type Kind uint8

// Kinds, in an order on which package filter relies: those from Uint to Time have an order that means something.
const (
	Other Kind = iota
	Uint
	Float
	Ratio
	Duration
	Size
	Rate
	Time
	Address
	MAC
	Text
	Bool
	Enum
	Node
)

// tagged are the kinds that a tag can say.
var tagged = map[string]Kind{
	"number": Uint, "address": Address, "size": Size, "rate": Rate, "ratio": Ratio,
	"duration": Duration, "node": Node, "mac": MAC,
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	addressType = reflect.TypeFor[netip.Addr]()
	textType    = reflect.TypeFor[encoding.TextMarshaler]()
	countsType  = reflect.TypeFor[map[string]uint64]()
)

// isTime reports whether a type is a time, or one that has its own text.
func isTime(t reflect.Type) bool {
	return t == timeType || t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == timeType
}

// kindOf returns the kind of a field.
func kindOf(t reflect.Type, tag reflect.StructTag, ns bool) (Kind, error) {
	number := t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 || t == countsType
	switch text := tag.Get("kind"); {
	case tag.Get("choice") != "":
		return Enum, nil
	case text != "" && tagged[text] == Other:
		return Other, fmt.Errorf("kind %q does not exist", text)
	case text == "address" && t.Kind() == reflect.String:
		return Address, nil
	case text == "address", text != "" && !number && t.Kind() != reflect.Float64:
		return Other, fmt.Errorf("kind %s of a %v", text, t)
	case text != "":
		return tagged[text], nil
	case isTime(t):
		return Time, nil
	case t == addressType:
		return Address, nil
	case t.Implements(textType) || t.Kind() == reflect.String:
		return Text, nil
	case t.Kind() == reflect.Bool:
		return Bool, nil
	case ns && (number || t.Kind() == reflect.Float64):
		return Duration, nil
	case number:
		return Uint, nil
	case t.Kind() == reflect.Float64:
		return Float, nil
	}
	return Other, nil
}

// isNs reports whether a name says that it is about nanoseconds.
func isNs(name string) bool { return name == "ns" || strings.HasSuffix(name, "_ns") }
