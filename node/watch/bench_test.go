package watch

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkMatch looks up 4096 packets, one after the other, in lists of 10,000 entries: hit are packets that some
// entry matches, miss are packets of the same kind that none does (where there are such).
func BenchmarkMatch(b *testing.B) {
	for mix := range mixes {
		entries := generate(mix, 10000, 1)
		l, err := Compile(entries)
		if err != nil {
			b.Fatal(err)
		}
		hits, misses := packets(mix, entries, l)
		for _, kind := range []struct {
			name string
			keys []Key
		}{{"hit", hits}, {"miss", misses}} {
			if len(kind.keys) == 0 {
				continue
			}
			b.Run(mixes[mix].name+"/"+kind.name, func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					l.Match(&kind.keys[i&(len(kind.keys)-1)])
					i++
				}
				b.ReportMetric(float64(len(l.ipv4)), "tables")
			})
		}
	}
}

// packets returns 4096 different packets that match and as many that do not, if there are such.
func packets(mix int, entries []Entry, l *List) (hits, misses []Key) {
	const n = 4096
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 * n {
		e := entries[r.IntN(len(entries))]
		if len(hits) == n {
			e = mixes[mix].entry(r)
		}
		k := keyFor(r, &e)
		if _, ok := l.Match(&k); ok && len(hits) < n {
			hits = append(hits, k)
		} else if !ok && len(misses) < n {
			misses = append(misses, k)
		}
		if len(hits) == n && len(misses) == n {
			return hits, misses
		}
	}
	return hits, nil
}

func BenchmarkCompile(b *testing.B) {
	for mix := range mixes {
		entries := generate(mix, 10000, 1)
		b.Run(mixes[mix].name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
