package telemetry

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// Few things are counted exactly, however often they come and in however many parts.
func TestDistinctIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, MaxDistinct - 1} {
		var parts [3]Distinct
		for i := range 5 * n {
			parts[random.IntN(3)].Add(scatter(uint64(i % n)))
		}
		for i := range n { // each once for certain
			parts[i%3].Add(scatter(uint64(i)))
		}
		parts[0].Merge(parts[1])
		parts[0].Merge(parts[2])
		if got, exact := parts[0].Count(); got != uint64(n) || !exact {
			t.Errorf("got %d (exact: %v), want %d", got, exact, n)
		}
	}
}

// Of many things a lower bound is told that is not far from the truth, in bounded memory.
func TestDistinctIsALowerBound(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const runs = 500
	above, far := 0, 0
	for range runs {
		n := MaxDistinct + random.Uint64N(20_000)
		var d Distinct
		for range n {
			d.Add(random.Uint64())
		}
		got, exact := d.Count()
		if exact || len(d) != MaxDistinct || got < MaxDistinct {
			t.Fatalf("got %d (exact: %v) of %d hashes, want a bound", got, exact, len(d))
		}
		if got > n {
			above++
		}
		if float64(got) < 0.6*float64(n) {
			far++
		}
	}
	if above > 8 || far > 5 { // one in two runs is to be expected
		t.Errorf("of %d bounds, %d are too high, and %d far too low", runs, above, far)
	}
}

// Addresses that follow each other have hashes all over the place.
func TestHashesOfHosts(t *testing.T) {
	for _, first := range []string{"10.0.0.0", "fd00::"} {
		var d Distinct
		at := netip.MustParseAddr(first)
		const n = 5000
		for range n {
			d.Add(AddrFrom(at).hash())
			at = at.Next()
		}
		if got, _ := d.Count(); got < n*6/10 || got > n*11/10 {
			t.Errorf("%s: got at least %d, want %d", first, got, n)
		}
	}
}

// What is added stays what it is, whoever else adds to it, and comes back from JSON.
func TestExtent(t *testing.T) {
	flow := func(i int) *FlowKey {
		return &FlowKey{Src: Addr{Lo: uint64(i)}, Dst: Addr{Lo: 99}, SrcPort: uint16(i), Protocol: 6}
	}
	var none *Extent
	a := none.Plus(&Extent{})
	for i := range 3 {
		a.Add(flow(i), 2, 100)
	}
	b := a.Plus(none)
	b = b.Plus(&Extent{Packets: 1, Flowless: 1, Lengthless: 1, Partly: true})
	c := &Extent{}
	c.Add(flow(2), 1, 0)
	c.Add(nil, 1, 50)
	b = b.Plus(c)
	count := func(x *Extent) string {
		flows, _ := x.Flows.Count()
		hosts, _ := x.Hosts.Count()
		return fmt.Sprint(x.Packets, x.Bytes, flows, hosts, x.Flowless, x.Lengthless, x.Partly)
	}
	if got, want := count(a), fmt.Sprint(6, 300, 3, 4, 0, 0, false); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := count(b), fmt.Sprint(9, 350, 3, 4, 2, 2, true); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var again Extent
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(&again, b) {
		t.Errorf("%v: got %+v, want %+v", err, again, b)
	}
	if err := json.Unmarshal([]byte(`{"flows":"?"}`), &again); err == nil {
		t.Error("hashes that are none are taken")
	}
}
