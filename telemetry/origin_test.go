package telemetry

import (
	"slices"
	"testing"
)

// Reports of datagrams that came again go, and the others know their account.
func TestAttribute(t *testing.T) {
	f := func(headers []Header, want ...uint32) {
		t.Helper()
		var b Batch
		for i := range headers {
			for range headers[i].Reports {
				b.Add(&Report{NodeID: uint32(i), Hops: []Hop{{NodeID: uint32(i)}}})
			}
		}
		repeated := 0
		for i := range headers {
			headers[i].Account = uint32(i) + 10
			if headers[i].Repeated {
				repeated++
			}
		}
		b.Attribute(Origin{Socket: 3, Turn: 4, Accounts: 20, Repeated: repeated}, headers)
		var got []uint32
		for i := range b.Reports {
			if r := &b.Reports[i]; r.Hops[0].NodeID == r.NodeID && r.Account == r.NodeID+10 {
				got = append(got, r.NodeID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	f([]Header{{Reports: 2}, {Reports: 0}, {Reports: 1}}, 0, 0, 2)
	f([]Header{
		{Reports: 2, Repeated: true},
		{Reports: 1},
		{Reports: 3, Repeated: true},
		{Repeated: true},
		{Reports: 2},
	}, 1, 4, 4)
	f([]Header{{Reports: 2, Repeated: true}})
}
