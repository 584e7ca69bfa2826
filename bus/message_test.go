package bus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
)

// someDatagrams returns n datagrams of both address families, with the same from the same seed.
func someDatagrams(n int, seed uint64) []Datagram {
	random := rand.New(rand.NewPCG(seed, 0))
	list := make([]Datagram, n)
	for i := range list {
		d := &list[i]
		d.ArrivedNs, d.Port = int64(1e18)+int64(i), uint16(8555+i%2)
		var a [16]byte
		for k := range a {
			a[k] = byte(random.Uint32())
		}
		address := netip.AddrFrom16(a)
		if i%3 > 0 {
			address = netip.AddrFrom4([4]byte(a[:4]))
		}
		d.Source = netip.AddrPortFrom(address, uint16(random.Uint32()))
		d.Payload = make([]byte, random.IntN(300))
		for k := range d.Payload {
			d.Payload[k] = byte(random.Uint32N(4))
		}
		d.Truncated = i%7 == 0
	}
	return list
}

func sameDatagrams(a, b []Datagram) bool {
	return slices.EqualFunc(a, b, func(a, b Datagram) bool {
		same := bytes.Equal(a.Payload, b.Payload)
		a.Payload, b.Payload = nil, nil
		return same && a.ArrivedNs == b.ArrivedNs && a.Port == b.Port && a.Source == b.Source &&
			a.Truncated == b.Truncated
	})
}

func messageOf(h Header, list []Datagram) []byte {
	var body []byte
	for i := range list {
		body = AppendDatagram(body, &list[i])
	}
	h.Datagrams = uint32(len(list))
	return AppendMessage(nil, &h, body)
}

func TestMessageRoundTrip(t *testing.T) {
	list := someDatagrams(500, 1)
	h := Header{
		Collector: "dc1-a", Run: 7, Partition: 3, Number: 12, Before: 1 << 40, Datagrams: 500, WholeNs: -5,
		Numbers: []uint64{0, 1 << 63, 7}, Counters: Counters{1, 2, 3, 1 << 63},
	}
	message := messageOf(h, list)
	got, datagrams, _, err := Decode(message, nil, nil)
	if err != nil || !reflect.DeepEqual(got, h) || !sameDatagrams(datagrams, list) {
		t.Fatalf("got %+v, %d datagrams, %v; want what was written", got, len(datagrams), err)
	}
	for n := range message {
		if _, _, _, err := Decode(message[:n], nil, nil); err == nil {
			t.Fatalf("the first %d of %d bytes are read without an error", n, len(message))
		}
		damaged := slices.Clone(message)
		damaged[n] ^= 1
		if _, _, _, err := Decode(damaged, nil, nil); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotAMessage) {
			t.Fatalf("byte %d changed: got %v", n, err)
		}
	}
}

// Messages of version 1 are read, which have no numbers: they may be in spools and on the bus when Waybill is replaced.
func TestMessageOfBefore(t *testing.T) {
	list := someDatagrams(500, 1)
	h := Header{Collector: "dc1-a", Run: 7, Partition: 3, Number: 12, Datagrams: 500, WholeNs: 5}
	message := messageOf(h, list)
	before := slices.Delete(slices.Clone(message), fixedBytes+len(h.Collector), fixedBytes+len(h.Collector)+1)
	copy(before, magic1)
	putSum(before)
	got, datagrams, _, err := Decode(before, nil, nil)
	if err != nil || !reflect.DeepEqual(got, h) || !sameDatagrams(datagrams, list) {
		t.Fatalf("got %+v, %d datagrams, %v; want what was written", got, len(datagrams), err)
	}
}

// A message that somebody made, with the right sum: nothing is read beyond its end, and it is refused or read again as
// the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("name"), []byte{0}, uint32(0), uint64(0))
	var body []byte
	for _, d := range someDatagrams(3, 2) {
		body = AppendDatagram(body, &d)
	}
	f.Add([]byte("a"), body, uint32(3), uint64(300))
	f.Fuzz(func(t *testing.T, name, body []byte, datagrams uint32, number uint64) {
		if len(name) > 255 {
			return
		}
		h := Header{Collector: string(name), Number: 1, Datagrams: datagrams, Numbers: []uint64{number}}
		message := AppendMessage(nil, &h, body)
		got, list, _, err := Decode(message, nil, nil)
		if err != nil {
			return
		}
		var again []byte
		for i := range list {
			again = AppendDatagram(again, &list[i])
		}
		if !bytes.Equal(again, body) || !reflect.DeepEqual(got, h) {
			t.Fatalf("got %+v and % x, want %+v and % x", got, again, h, body)
		}
	})
}

// What is compressed in a message that somebody made may be anything.
func FuzzDecodeBytes(f *testing.F) {
	f.Add(messageOf(Header{Collector: "a", Number: 1}, someDatagrams(2, 3))[8:])
	f.Fuzz(func(t *testing.T, rest []byte) {
		message := append([]byte(magic+"\x00\x00\x00\x00"), rest...)
		putSum(message)
		_, list, memory, _ := Decode(message, nil, nil)
		if len(memory) > maxBodyBytes || len(list) > maxBodyBytes {
			t.Fatalf("got %d bytes", len(memory))
		}
	})
}
