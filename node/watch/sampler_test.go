package watch

import "testing"

func TestSamplerTakesOneInN(t *testing.T) {
	const packets = 200000
	for _, sampling := range []Sampling{SampleByHash, SampleAtRandom} {
		for _, n := range []uint32{0, 1, 2, 3, 10, 1000} {
			s := NewSampler(7)
			a := Action{Sample: n, Sampling: sampling}
			taken := 0
			for hash := range uint64(packets) { // also bad hashes are spread
				if s.Take(&a, hash) {
					taken++
				}
			}
			want := packets / float64(max(n, 1))
			if d := float64(taken) - want; d*d > 16*want { // four standard deviations
				t.Errorf("%s, 1 in %d: got %d, want about %.0f", sampling, n, taken, want)
			}
		}
	}
}

func TestSamplersWithTheSameHashAgree(t *testing.T) {
	a := Action{Sample: 10}
	one, other := NewSampler(1), NewSampler(2)
	for hash := range uint64(1000) {
		if one.Take(&a, hash) != other.Take(&a, hash) {
			t.Fatalf("hash %d: two nodes decide differently", hash)
		}
	}
}

func TestSamplerFollowsItsSeed(t *testing.T) {
	a := Action{Sample: 2, Sampling: SampleAtRandom}
	one, same, other := NewSampler(1), NewSampler(1), NewSampler(2)
	different := 0
	for range 1000 {
		taken := one.Take(&a, 0)
		if same.Take(&a, 0) != taken {
			t.Fatal("the same seed gave another choice")
		}
		if other.Take(&a, 0) != taken {
			different++
		}
	}
	if different < 400 || different > 600 {
		t.Errorf("another seed: got %d of 1000 choices different, want about half", different)
	}
}
