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
