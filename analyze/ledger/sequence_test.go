package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSequence(t *testing.T) {
	type ledger struct{ unique, lost, reordered, duplicate, restarted uint64 }
	f := func(name string, bits uint8, numbers []uint32, want ledger) {
		t.Helper()
		s := sequence{bits: bits}
		for _, n := range numbers {
			s.observe(n)
		}
		s.check(t)
		got := ledger{s.Unique, s.lost(), s.Reordered, s.Duplicate, s.Restarted}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	f("in order", 32, []uint32{5, 6, 7}, ledger{unique: 3})
	f("gap", 32, []uint32{5, 8}, ledger{unique: 2, lost: 2})
	f("reordered", 32, []uint32{5, 8, 6, 7}, ledger{unique: 4, reordered: 2})
	f("duplicate", 32, []uint32{5, 6, 6, 5, 7}, ledger{unique: 3, duplicate: 2})
	f("late duplicate after a gap", 32, []uint32{5, 8, 6, 6}, ledger{unique: 3, lost: 1, reordered: 1, duplicate: 1})
	f("wrap of 22 bits", 22, []uint32{1<<22 - 2, 1<<22 - 1, 0, 1, 3}, ledger{unique: 5, lost: 1})
	f("wrap of 32 bits", 32, []uint32{1<<32 - 1, 0, 2, 1}, ledger{unique: 4, reordered: 1})
	f("restart at 0", 32, []uint32{100000, 100001, 0, 1, 2, 3}, ledger{unique: 6, restarted: 1})
	f("restart at 1", 22, []uint32{3000000, 3000001, 1, 2, 3, 4}, ledger{unique: 6, restarted: 1})
	f("restart after a power cycle, at any place", 22, []uint32{1000000, 1000001, 70000, 70001, 70002, 70003},
		ledger{unique: 6, restarted: 1})
	f("restart, too early to tell", 32, []uint32{100000, 100001, 0, 1, 2}, ledger{unique: 2, duplicate: 3})
	f("restart, first reports lost", 32, []uint32{100000, 5, 6, 7, 8}, ledger{unique: 5, restarted: 1})
	f("restart far away in 22 bits, first reports lost", 22, []uint32{3000000, 5, 6, 7, 8},
		ledger{unique: 5, restarted: 1})
	f("restart, the first two swapped", 32, []uint32{100000, 3, 0, 1, 4, 5, 6},
		ledger{unique: 7, lost: 1, restarted: 1})
	f("restart, half of the first are lost", 32, []uint32{100000, 1, 3, 5, 7}, ledger{unique: 5, lost: 3, restarted: 1})
	f("restart, one from before it comes late", 32, []uint32{9999, 10000, 0, 10001, 1, 9998, 2, 3, 4, 5},
		ledger{unique: 10, restarted: 1, reordered: 1})
	f("restart, a lost one from before it comes late", 32, []uint32{9998, 10000, 0, 1, 2, 3, 9999, 4},
		ledger{unique: 8, restarted: 1, reordered: 1})
	f("restart of a short sequence", 32, append(upTo(100), 0, 1, 2, 4), ledger{unique: 104, lost: 1, restarted: 1})
	f("restart that fills a gap of the sequence before", 32, append(upTo(100)[4:], 0, 1, 2, 3),
		ledger{unique: 100, restarted: 1})
	f("the first number again", 32, append(upTo(100), 0, 100, 101), ledger{unique: 102, duplicate: 1})
	f("the first numbers again", 32, append(upTo(100), 0, 1, 2, 100, 101), ledger{unique: 102, duplicate: 3})
	f("the first numbers again, and more of them", 32, append(append(upTo(100), 0, 1, 2, 3, 4), upTo(110)[100:]...),
		ledger{unique: 110, duplicate: 5})
	f("one very late report", 32, []uint32{100000, 5, 100001}, ledger{unique: 2, duplicate: 1})
	f("one number out of nowhere", 32, []uint32{10, 1 << 30, 11, 12}, ledger{unique: 3, duplicate: 1})
	f("long outage", 32, []uint32{10, 1000010, 1000011, 1000012, 1000013}, ledger{unique: 5, lost: 999999})
	f("long outage, reordered behind it", 32, []uint32{10, 1000010, 1000009, 1000011, 1000012, 1000013},
		ledger{unique: 6, lost: 999998})
	f("old reports replayed meanwhile", 32, []uint32{90000, 7, 90001, 8, 90002, 9, 90003},
		ledger{unique: 4, duplicate: 3})
	f("old reports replayed, many for each new one", 32,
		[]uint32{90000, 7, 8, 9, 10, 11, 90001, 12, 13, 90002, 90003, 90004, 90005, 90006, 90007, 90008},
		ledger{unique: 9, duplicate: 7})
	f("reports from before a restart are replayed", 22,
		slices.Concat([]uint32{1500000}, upTo(100), []uint32{900000, 900001, 900002, 900003}, upTo(200)[100:]),
		ledger{unique: 201, duplicate: 4, restarted: 1})
	f("of two destinations with one sequence this is one, and a restart", 32, []uint32{5000, 5002, 5004, 0, 2, 4, 6},
		ledger{unique: 7, lost: 5, restarted: 1})
	f("of eight destinations, and a restart", 32, append([]uint32{50000, 50008}, every(8, 20)...),
		ledger{unique: 22, lost: 7 + 19*7, restarted: 1})
	f("before the first", 32, []uint32{10, 9, 11}, ledger{unique: 3, reordered: 1})
	f("stuck", 32, []uint32{0, 0, 0, 0, 0}, ledger{unique: 1, duplicate: 4})
	stuck, wild := sequence{bits: 32}, sequence{bits: 32}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		stuck.observe(0)
		wild.observe(r.Uint32())
	}
	if !stuck.stuck() || stuck.wild() {
		t.Error("a number that never moves is not recognised")
	}
	if !wild.wild() || wild.stuck() {
		t.Error("numbers without order are not recognised")
	}
}

// check holds the sums of all time against each other and against what belongs to the runs.
func (s *sequence) check(t *testing.T) {
	t.Helper()
	sent, unique, duplicate := int64(s.Sent)+s.revised.sent, int64(s.Unique)+s.revised.arrived,
		int64(s.Duplicate)-s.revised.arrived
	if sent < unique || unique <= 0 || duplicate < 0 || int64(s.Restarted)+s.revised.restarted < 0 ||
		int64(s.Away)+s.revised.away > sent-unique {
		t.Fatalf("sums of all time: %+v", s)
	}
	for _, r := range []run{s.current, s.before} {
		if r.arrived > r.sent || r.open > r.span || r.earlier > r.arrived || r.span > r.sent {
			t.Fatalf("run %+v", r)
		}
	}
	for _, r := range s.rivals {
		if r.arrived > r.span || r.fresh > r.arrived {
			t.Fatalf("rival %+v", r)
		}
	}
}

// every returns n numbers from 0, so far from each other.
func every(step uint32, n int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i) * step
	}
	return numbers
}

// upTo returns the numbers below n.
func upTo(n uint32) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers
}

// Whatever is lost, reordered (within the window) and duplicated on the way, the ledger says exactly how much.
func TestSequenceConserves(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		bits := []uint8{22, 32}[seed%2]
		mask := uint32(1<<bits - 1)
		first := r.Uint32()
		const sent = 5000
		var arrive []uint32
		lost := uint64(0)
		for i := range uint32(sent) {
			if i != 0 && i != sent-1 && r.IntN(10) == 0 { // losses at either end cannot be seen
				lost++
				continue
			}
			arrive = append(arrive, (first+i)&mask)
		}
		duplicates := uint64(0)
		s := sequence{bits: bits}
		s.observe(arrive[0])
		rest := arrive[1:]
		for block := range slices.Chunk(rest, 500) {
			r.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		}
		for _, n := range rest {
			s.observe(n)
			if r.IntN(20) == 0 {
				s.observe(n)
				duplicates++
			}
		}
		got := fmt.Sprint(s.Unique, s.lost(), s.Duplicate, s.Restarted)
		if want := fmt.Sprint(uint64(len(arrive)), lost, duplicates, 0); got != want {
			t.Fatalf("seed %d: unique, lost, duplicate, restarted: got %s, want %s", seed, got, want)
		}
	}
}

// Whatever numbers come, and whenever intervals are closed, what was observed is counted once, and an interval has no
// more arrivals than numbers.
func FuzzSequence(f *testing.F) {
	f.Add(false, []byte{1, 1, 9, 200, 1, 1, 250, 1, 0, 3, 3})
	f.Add(true, []byte{16, 1, 1, 40, 1, 1, 17, 33, 1, 0, 255, 1, 1})
	f.Fuzz(func(t *testing.T, wide bool, steps []byte) {
		s := sequence{bits: 22}
		if wide {
			s.bits = 32
		}
		mask := s.mask()
		numbers := [3]uint32{0, 5000, 1 << 21} // of senders that share an identity
		var observed uint64
		var sent, unique, late, duplicate uint64
		for _, b := range steps {
			n := &numbers[b%3]
			switch b >> 4 {
			case 0: // the interval is over
				s.close()
				sent, unique, late, duplicate = s.Sent, s.Unique, s.Late, s.Duplicate
				continue
			case 1:
				*n = uint32(b & 1) // restart
			case 2:
				*n += uint32(b) * 37
			case 3:
				*n -= uint32(b) * 23
			case 4:
				*n += uint32(b) << 14
			default:
				*n += uint32(b & 3)
			}
			*n &= mask
			s.observe(*n)
			observed++
			if s.Unique+s.Duplicate != observed || s.Unique > s.Sent {
				t.Fatalf("observed %d: %+v", observed, s)
			}
			s.check(t)
			if s.Duplicate < duplicate || s.Unique-unique < s.Late-late || s.Sent-sent < s.Unique-unique-(s.Late-late) {
				t.Fatalf("the interval has sent %d, unique %d, late %d, duplicate %d - %d", s.Sent-sent,
					s.Unique-unique, s.Late-late, s.Duplicate, duplicate)
			}
		}
	})
}
