package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// An exporterTruth emulates an exporter, the network behind it and somebody who sends old reports again, and knows what
// the ledger has to say.
type exporterTruth struct {
	*rand.Rand
	mask    uint32
	observe func(n uint32)

	next    uint32   // number of the next report
	arrived []uint32 // in the order of sending, over all runs
	ends    []uint32 // where the runs ended
	replay  func(e *exporterTruth)
	far     bool // only numbers come again that are far from where a run is now, or ended
	// old ones stop before the exporter begins anew: what is in order then could be either, nobody can tell
	quiet    bool
	position int // of a capture that is sent again in order

	sent, lost, duplicate, restarted, replayed uint64
}

// send sends n reports, of which some are lost, some come twice and all are reordered within blocks.
func (e *exporterTruth) send(n int, lossy, shuffled bool) {
	for n > 0 {
		block := min(n, 1+e.IntN(60))
		n -= block
		var held []uint32
		run := 0 // a burst of losses
		for i := range block {
			e.sent++
			number := e.next
			e.next = (e.next + 1) & e.mask
			if run == 0 && lossy && e.IntN(200) == 0 {
				run = 1 + e.IntN(20)
			}
			if i < block-1 && (run > 0 || lossy && e.IntN(30) == 0) { // what is lost behind the last cannot be seen
				run = max(run-1, 0)
				e.lost++
				continue
			}
			held = append(held, number)
			e.arrived = append(e.arrived, number)
			if lossy && e.IntN(20) == 0 {
				held = append(held, number)
				e.duplicate++
			}
		}
		if shuffled {
			e.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		}
		for _, number := range held {
			e.observe(number)
			if e.replay != nil {
				e.replay(e)
			}
		}
	}
}

// begin starts a run with number n.
func (e *exporterTruth) begin(n uint32) {
	if len(e.arrived) > 0 {
		e.restarted++
		e.ends = append(e.ends, e.next)
	}
	e.next = n & e.mask
	e.send(20, false, false) // what is lost or reordered before the first that was seen cannot be told
}

// again sends the report again that was the i-th to arrive, if it is old.
func (e *exporterTruth) again(i int) {
	if i < 0 || i >= len(e.arrived) {
		return
	}
	n := e.arrived[i]
	for _, end := range append(e.ends, e.next) {
		if distance := (end - n) & e.mask; e.far && (distance < 3*windowSize || -distance&e.mask < 3*windowSize) {
			return
		}
	}
	e.observe(n)
	e.duplicate++
	e.replayed++
}

// Replays: how old reports come again beside the live ones.
var replays = map[string]func(e *exporterTruth){
	"none": nil,
	"singly": func(e *exporterTruth) {
		if e.IntN(20) == 0 {
			e.again(e.IntN(len(e.arrived)))
		}
	},
	"clusters at random": func(e *exporterTruth) {
		if e.IntN(200) == 0 {
			from := e.IntN(len(e.arrived))
			for range 1 + e.IntN(40) {
				e.again(from + e.IntN(40))
			}
		}
	},
	"clusters in order": func(e *exporterTruth) {
		if e.IntN(200) == 0 {
			from := e.IntN(len(e.arrived))
			for i := range 1 + e.IntN(40) {
				e.again(from + i)
			}
		}
	},
	"clusters among live ones": func(e *exporterTruth) {
		if e.IntN(500) == 0 {
			e.position = e.IntN(len(e.arrived))
		}
		if e.IntN(3) == 0 {
			e.again(e.position + e.IntN(20))
		}
	},
	"a capture at the same pace": func(e *exporterTruth) {
		e.again(e.position)
		e.position++
	},
	"a capture at ten times the pace": func(e *exporterTruth) {
		for range e.IntN(20) {
			e.again(e.position)
			if e.position++; e.position >= len(e.arrived) {
				e.position = 0
			}
		}
	},
	"a capture and single ones": func(e *exporterTruth) {
		e.again(e.position)
		e.position++
		if e.IntN(20) == 0 {
			e.again(e.IntN(len(e.arrived)))
		}
	},
}

// run sends some runs of reports.
func (e *exporterTruth) run(replay func(*exporterTruth)) {
	first := e.Uint32()
	if e.IntN(2) == 0 {
		first = -uint32(e.IntN(8000)) // it wraps
	}
	e.begin(first)
	for i := range 1 + e.IntN(4) {
		if i > 0 {
			e.send(20, false, false)
			switch place := e.IntN(3); {
			// near the wrap it would look like a loss
			case place < 2 && (e.next > 1<<17 && e.mask-e.next > 1<<17 || e.next > 4*windowSize && e.next < 1<<16):
				e.begin(uint32(place))
			default:
				e.begin(e.next - 5000 - uint32(e.IntN(int(e.mask/2-10000)))) // a jump ahead would be an outage
			}
		}
		e.replay = nil
		e.send(3000+e.IntN(5000), true, true)
		e.replay = replay
		e.position = e.IntN(len(e.arrived))
		e.send(3000+e.IntN(5000), true, true)
		if e.quiet {
			e.replay = nil
			e.send(20, false, false)
		}
	}
	e.replay = nil
	e.send(200, false, false)
}

// Whatever is lost, reordered, duplicated, restarted and sent again, the ledger is that of the truth.
func TestSequenceTruth(t *testing.T) {
	seeds := uint64(60)
	if test.RaceDetector {
		seeds = 4
	}
	for name, replay := range replays {
		for seed := range seeds {
			s := sequence{bits: []uint8{22, 32}[seed%2]}
			observed := uint64(0)
			e := exporterTruth{Rand: rand.New(rand.NewPCG(seed, 5)), mask: s.mask(), far: true}
			e.quiet = name != "singly"
			e.observe = func(n uint32) {
				s.observe(n)
				if observed++; observed%64 == 0 {
					s.check(t)
				}
				if e.IntN(2000) == 0 {
					s.close()
				}
			}
			e.run(replay)
			n := (&exporter{sequence: s}).counts().corrected()
			got := fmt.Sprint(n.sent, n.sent-n.unique, n.duplicate, n.restarted)
			if want := fmt.Sprint(e.sent, e.lost, e.duplicate, e.restarted); got != want ||
				observed != n.unique+n.duplicate {
				t.Errorf(
					"%s, seed %d: sent, lost, duplicate, restarted: got %s, want %s; %d were sent again, %d observed",
					name, seed, got, want, e.replayed, observed)
			}
		}
	}
}
