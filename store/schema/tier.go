package schema

import (
	"fmt"
	"slices"
	"time"
)

// A Tier is a set of tables that are kept for the same time, in parts of the same length. A part is what is dropped as
// a whole, which gives its space back to the disk at once.
type Tier struct {
	Name   string
	Length time.Duration
	has    func(step time.Duration, t *Table) bool
}

// Tiers are the tiers, the first to be dropped first.
var Tiers = [...]Tier{
	{"seconds", time.Hour, func(step time.Duration, t *Table) bool { return t.Finest != 0 && step == t.Finest }},
	{
		"minutes", 24 * time.Hour,
		func(step time.Duration, t *Table) bool { return t.Finest != 0 && step == time.Minute },
	},
	{
		"hours", 30 * 24 * time.Hour,
		func(step time.Duration, t *Table) bool { return t.Finest == 0 || step == time.Hour },
	},
}

// Places in Tiers.
const (
	Seconds = iota
	Minutes
	Hours
)

// TierOf returns the tier that keeps t at a resolution.
func TierOf(t *Table, step time.Duration) int {
	return slices.IndexFunc(Tiers[:], func(r Tier) bool { return r.has(step, t) })
}

// A Placed table is a table at the resolution that a tier keeps.
type Placed struct {
	*Table
	Step time.Duration
}

// In returns what a tier keeps.
func (s *Schema) In(tier int) (list []Placed) {
	for _, t := range s.Tables {
		for _, step := range t.Resolutions() {
			if Tiers[tier].has(step, t) {
				list = append(list, Placed{t, step})
			}
		}
	}
	return list
}

// Grace is how long after their end, by the clock, intervals are rolled up: what is written later is missing from the
// coarser tables.
const Grace = 30 * time.Second

// RollUp calls once with each table and the next coarser one, finest first, as long as it has more to do there.
func (s *Schema) RollUp(once func(from, to Placed) (more bool, err error)) error {
	for _, t := range s.Tables {
		steps := t.Resolutions()
		for i := 1; i < len(steps); i++ {
			from, to := Placed{t, steps[i-1]}, Placed{t, steps[i]}
			for more := true; more; {
				var err error
				if more, err = once(from, to); err != nil {
					return fmt.Errorf("roll up %s: %w", to.Name(to.Step), err)
				}
			}
		}
	}
	return nil
}
