// Package wiretest runs the tests that every wire type gets: decode annotated bytes, fail on every prefix, round trip,
// no allocations; and the property that every fuzz target holds.
package wiretest

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// A Codec is what every wire type offers. Decode reads the value from the front of b and returns the bytes used,
// Append writes exactly those bytes back, Len says how many.
type Codec interface {
	Decode(b []byte) (int, error)
	Append(b []byte) []byte
	Len() int
}

// Hex turns annotated hex text into bytes. Blanks are ignored, and everything in a line behind "//".
func Hex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("bad hex in test: %v", err)
	}
	return b
}

// Check holds one wire type against annotated hex that decodes to want. fresh returns an empty value.
// The subtests are Decode, Truncated (every prefix is an error), RoundTrip (also with bytes behind, and Len) and
// NoAllocs.
func Check(t *testing.T, fresh func() Codec, annotated string, want Codec) {
	t.Helper()
	b := Hex(t, annotated)
	t.Run("Decode", func(t *testing.T) {
		got := fresh()
		n, err := got.Decode(b)
		if err != nil || n != len(b) {
			t.Fatalf("Decode: got %d bytes, error %v; want %d, none", n, err, len(b))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Decode:\ngot  %+v\nwant %+v", got, want)
		}
	})
	t.Run("Truncated", func(t *testing.T) {
		for i := range b {
			if n, err := fresh().Decode(b[:i:i]); err == nil {
				t.Fatalf("Decode of the first %d of %d bytes: got %d, no error", i, len(b), n)
			}
		}
	})
	t.Run("RoundTrip", func(t *testing.T) {
		got := want.Append([]byte("before"))
		if !bytes.Equal(got, append([]byte("before"), b...)) {
			t.Fatalf("Append:\ngot  %x\nwant %x", got[min(6, len(got)):], b)
		}
		if want.Len() != len(b) {
			t.Fatalf("Len: got %d, want %d", want.Len(), len(b))
		}
	})
	t.Run("NoAllocs", func(t *testing.T) {
		v, buf := fresh(), make([]byte, 0, len(b))
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := v.Decode(b); err != nil {
				t.Fatal(err)
			}
			buf = v.Append(buf[:0])
		})
		if allocs != 0 {
			t.Fatalf("Decode and Append: got %v allocations, want 0", allocs)
		}
	})
}

// Fuzz is the property of a fuzz target: Decode never panics and never claims more bytes than there are; what it
// accepts, it can encode and decode again to the same value, and the second encoding equals the first.
// (Reserved bits may change between the input and the first encoding: they are ignored on receipt and sent as zero.)
func Fuzz(t *testing.T, fresh func() Codec, b []byte) {
	t.Helper()
	first := fresh()
	n, err := first.Decode(b[:len(b):len(b)])
	if n < 0 || n > len(b) {
		t.Fatalf("Decode used %d of %d bytes", n, len(b))
	}
	if err != nil {
		return
	}
	once := first.Append(nil)
	if len(once) != first.Len() {
		t.Fatalf("Append wrote %d bytes, Len says %d", len(once), first.Len())
	}
	second := fresh()
	if n, err := second.Decode(once); err != nil || n != len(once) {
		t.Fatalf("Decode of what Append wrote: got %d of %d bytes, error %v\n%x", n, len(once), err, once)
	}
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("round trip:\nfirst  %+v\nsecond %+v", first, second)
	}
	if twice := second.Append(nil); !bytes.Equal(once, twice) {
		t.Fatalf("encoding is not stable:\nonce  %x\ntwice %x", once, twice)
	}
}
