package schema

import (
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
