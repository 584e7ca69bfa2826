package duckdb

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/store"
)

// A tier is a set of tables that are kept for the same time, in files of the same length. A file is what is dropped as
// a whole, which gives its space back to the disk at once.
type tier struct {
	name   string // of its files
	length time.Duration
	has    func(step time.Duration, t *table) bool
}

// tiers, the first to be dropped first.
var tiers = [...]tier{
	{"seconds", time.Hour, func(step time.Duration, t *table) bool { return t.finest != 0 && step == t.finest }},
	{
		"minutes", 24 * time.Hour,
		func(step time.Duration, t *table) bool { return t.finest != 0 && step == time.Minute },
	},
	{
		"hours", 30 * 24 * time.Hour,
		func(step time.Duration, t *table) bool { return t.finest == 0 || step == time.Hour },
	},
}

// Places in tiers.
const (
	tierSeconds = iota
	tierMinutes
	tierHours
)

// tierOf returns the tier that keeps t at a resolution.
func tierOf(t *table, step time.Duration) int {
	return slices.IndexFunc(tiers[:], func(r tier) bool { return r.has(step, t) })
}

// A placed table is a table at the resolution that a tier keeps.
type placed struct {
	*table
	step time.Duration
}

// tables returns what a tier keeps.
func (r *tier) tables() (list []placed) {
	for id := range store.NumTables {
		for _, step := range tables[id].resolutions() {
			if r.has(step, tables[id]) {
				list = append(list, placed{tables[id], step})
			}
		}
	}
	return list
}
