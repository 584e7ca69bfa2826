package filter

import "testing"

const typical = "node = 3 and latency > 50us and src in 10.0.0.0/8 and not proto = tcp"

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(everything, typical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSQL(b *testing.B) {
	e, err := Parse(everything, typical)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.SQL(testNow)
	}
}

func BenchmarkMatch(b *testing.B) {
	var row Row = rowOf(b, "node=3 latency=60us src=10.0.0.1 proto=17 name=leaf1 list=1,2,3")
	for _, bc := range []struct{ name, text string }{
		{"typical", typical},
		{"one", "node = 3"},
		{"long_list", "node in (90, 91, 92, 93, 94, 95, 96, 97, 98, 99)"},
		{"many", "list = 3"},
		{"like", `name like "leaf%"`},
		{"regex", `name ~ "^leaf[0-9]+$"`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			e, err := Parse(everything, bc.text)
			if err != nil {
				b.Fatal(err)
			}
			m := e.Matcher(clock)
			b.ReportAllocs()
			for b.Loop() {
				m.Match(row)
			}
		})
	}
}
