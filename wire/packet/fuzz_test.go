package packet

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

// A header is a type of this package with the annotated bytes that its own tests, FuzzPacket and the tests in this file
// work on.
type header struct {
	name     string
	fresh    func() wiretest.Codec
	examples []example
}

type example struct {
	name string
	hex  string
	want wiretest.Codec
}

var headers = []header{
	ethernetHeader, vlanHeader, mplsHeader, ipv4Header, ipv6Header, ipv6OptionsHeader, ipv6OptionHeader,
	ipv6RoutingHeader, ipv6FragmentHeader, ipv6AuthHeader, udpHeader, tcpHeader, tcpOptionHeader, sctpHeader,
	icmpHeader, greHeader,
	vxlanHeader, vxlanGPEHeader, geneveHeader, geneveOptionHeader, nshHeader,
}

// check runs the tests that every wire type gets over each example.
func (h header) check(t *testing.T) {
	for _, e := range h.examples {
		t.Run(e.name, func(t *testing.T) { wiretest.Check(t, h.fresh, e.hex, e.want) })
	}
}

// refused holds a type against bytes that it must refuse: Decode returns n and the error want, and the receiver then
// equals kept.
func (h header) refused(t *testing.T, hex string, n int, want error, kept wiretest.Codec) {
	t.Helper()
	got := h.fresh()
	gotN, err := got.Decode(wiretest.Hex(t, hex))
	if gotN != n || err != want {
		t.Errorf("Decode: got %d, error %v; want %d, error %v", gotN, err, n, want)
	}
	if !reflect.DeepEqual(got, kept) {
		t.Errorf("after the error:\ngot  %+v\nwant %+v", got, kept)
	}
}

func FuzzPacket(f *testing.F) {
	for kind, h := range headers {
		for _, e := range h.examples {
			f.Add(uint8(kind), wiretest.Hex(f, e.hex))
			f.Add(uint8(kind), append(e.want.Append(nil), 0xff))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		wiretest.Fuzz(t, headers[int(kind)%len(headers)].fresh, b)
	})
}

// A receiver that is used again keeps nothing from before, whether Decode succeeds or not.
func TestDecodeOverwrites(t *testing.T) {
	for _, h := range headers {
		t.Run(h.name, func(t *testing.T) {
			for _, before := range h.examples {
				for _, e := range h.examples {
					b := wiretest.Hex(t, e.hex)
					for i := range len(b) + 1 {
						fresh, used := h.fresh(), h.fresh()
						if _, err := used.Decode(wiretest.Hex(t, before.hex)); err != nil {
							t.Fatal(err)
						}
						freshN, freshErr := fresh.Decode(b[:i])
						usedN, usedErr := used.Decode(b[:i])
						if freshN != usedN || freshErr != usedErr || !reflect.DeepEqual(fresh, used) {
							t.Fatalf("%s after %s, first %d bytes:\nfresh %d %v %+v\nused  %d %v %+v",
								e.name, before.name, i, freshN, freshErr, fresh, usedN, usedErr, used)
						}
					}
				}
			}
		})
	}
}

// Every single flipped bit gives an error or a value that can be encoded again.
func TestBitFlips(t *testing.T) {
	for _, h := range headers {
		t.Run(h.name, func(t *testing.T) {
			for _, e := range h.examples {
				b := wiretest.Hex(t, e.hex)
				for bit := range len(b) * 8 {
					b[bit/8] ^= 0x80 >> (bit % 8)
					wiretest.Fuzz(t, h.fresh, b)
					b[bit/8] ^= 0x80 >> (bit % 8)
				}
			}
		})
	}
}

// A view cannot grow into the bytes behind it.
func TestViewsAreClipped(t *testing.T) {
	for _, h := range headers {
		for _, e := range h.examples {
			got := h.fresh()
			if _, err := got.Decode(append(wiretest.Hex(t, e.hex), make([]byte, 64)...)); err != nil {
				t.Fatal(err)
			}
			v := reflect.ValueOf(got).Elem()
			for i := range v.NumField() {
				if f := v.Field(i); f.Kind() == reflect.Slice && f.Cap() != f.Len() {
					t.Errorf("%s %s: %s has length %d, capacity %d", h.name, e.name, v.Type().Field(i).Name, f.Len(),
						f.Cap())
				}
			}
		}
	}
}
