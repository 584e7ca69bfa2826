package watch

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/conf"
)

// FuzzLoad holds that no text stops Load, that what it takes compiles or is refused with a reason, and that the list
// then matches as its entries say.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(example), uint64(1))
	for mix := range mixes {
		text, err := conf.Format(generate(mix, 5, 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint64(mix))
	}
	f.Add([]byte("- {src: 10.0.0.1/8, ignore: true}\n- &a [*a]"), uint64(0))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		entries, err := load(text)
		if err != nil {
			return
		}
		l, err := Compile(entries)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range entries {
			k := keyFor(r, &entries[i])
			check(t, entries, l, &k)
		}
	})
}
