package fabric

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// An agenda gives events in the order of their times, and those of one time as they were added.
func TestAgenda(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a agenda
	var want []event
	for i := range uint32(20000) {
		at := random.Int64N(500)
		a.add(at, evArrive, i)
		want = append(want, event{atNs: at, index: i})
		for len(a.heap) > 0 && random.IntN(3) == 0 {
			slices.SortStableFunc(want, func(x, y event) int { return int(x.atNs - y.atNs) })
			if got := a.next(); got.index != want[0].index {
				t.Fatalf("got %+v, want %+v", got, want[0])
			}
			want = want[1:]
		}
		if len(want) > 50 {
			for len(want) > 5 {
				slices.SortStableFunc(want, func(x, y event) int { return int(x.atNs - y.atNs) })
				if got := a.next(); got.index != want[0].index {
					t.Fatalf("got %+v, want %+v", got, want[0])
				}
				want = want[1:]
			}
		}
	}
}

// A node is compared with its own children only. Here those at its right get smaller and smaller, down to some that are
// before their uncle, and must not come to be under him.
func TestAgendaChildren(t *testing.T) {
	var a agenda
	for i := range 45 {
		at := int64(99)
		switch {
		case i == 0:
			at = 0
		case i == 1:
			at = 10
		case i <= 4:
			at = 20
		case i <= 8: // under 1
			at = 50
		case i <= 20: // under 2, 3 and 4
			at = 21
		case i <= 36: // under 5 to 8
			at = int64(110 - i)
		case i <= 40: // under 9
			at = int64(80 - i)
		}
		a.heap = append(a.heap, event{atNs: at, order: uint64(i)})
	}
	for len(a.heap) > 0 {
		a.next()
		for i := 1; i < len(a.heap); i++ {
			if parent := (i - 1) / 4; a.heap[i].before(&a.heap[parent]) {
				t.Fatalf("an event at %d ns is under one at %d", a.heap[i].atNs, a.heap[parent].atNs)
			}
		}
	}
}

func BenchmarkAgenda(b *testing.B) {
	for _, size := range []int{100, 1000, 10000} {
		b.Run("events="+strconv.Itoa(size), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			var a agenda
			for range size {
				a.add(random.Int64N(1e6), evArrive, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				e := a.next()
				a.add(e.atNs+random.Int64N(1e6), evArrive, 0)
			}
		})
	}
}
