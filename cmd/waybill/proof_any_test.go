package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/anynet"
)

// TestProofAny is TestProof with a network, traffic and faults that nobody has thought of.
func TestProofAny(t *testing.T) {
	seed, all := test.Seed(t)
	n := uint64(5)
	if all {
		seed, n = 0, 1000
	}
	var usual []*dialectOfProof
	for i := range dialects {
		if d := &dialects[i]; d.only == "" {
			usual = append(usual, d)
		}
	}
	for seed := 1000 * seed; n > 0; seed, n = seed+1, n-1 {
		r := rand.New(rand.NewPCG(seed, 1))
		d := usual[r.IntN(len(usual))]
		t.Run(fmt.Sprint(seed, "/", d.name), func(t *testing.T) {
			file, text := drawn(t, r)
			proveUndisturbed(t, func() (string, bool) { return prove(t, file, d, nil) })
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestStoreAnyAnswers is TestStoreAnswers with such a network, and every event that is told is one that happened.
func TestStoreAnyAnswers(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	seed, all := test.Seed(t)
	n := uint64(1)
	if all {
		seed, n = 0, 50
	}
	for ; n > 0; seed, n = seed+1, n-1 {
		r := rand.New(rand.NewPCG(seed, 1))
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			file, text := drawn(t, r)
			proveStore(t, file, 6*time.Second, true)
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestPostcardsAnyEvents: with postcards, every event that is told of such a network is one that happened, and every
// burst is told of as it was.
func TestPostcardsAnyEvents(t *testing.T) {
	if test.RaceDetector {
		t.Skip("ten times as slow, and nothing here runs side by side")
	}
	seed, all := test.Seed(t)
	n := uint64(2)
	if all {
		seed, n = 0, 100
	}
	d := &dialects[slices.IndexFunc(dialects, func(d dialectOfProof) bool { return d.name == "XD" })]
	for seed := n * seed; n > 0; seed, n = seed+1, n-1 {
		r := rand.New(rand.NewPCG(seed, 2))
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			file, text := drawn(t, r)
			const duration = 6 * time.Second
			p, f := newStoreProof(t, file, duration, d)
			defer func() { p.stop() }()
			if err := f.Run(t.Context(), duration); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			begin, end := midnight.Add(-duration/2), midnight.Add(20*time.Second)
			if err := p.pass(end.UnixNano()); err != nil {
				t.Fatal(err)
			}
			if _, err := p.truth.Intervals(end.UnixNano()); err != nil {
				t.Fatal(err)
			}
			told := p.ask("events", begin, end, nil).told
			p.compareEvents(told, true)
			p.compareBursts(begin, end, told)
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// drawn draws a scenario, and returns a file with it and its text.
func drawn(t *testing.T, r *rand.Rand) (file, text string) {
	t.Helper()
	file, text = filepath.Join(t.TempDir(), "scenario.yaml"), anynet.Short(r)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, text
}
