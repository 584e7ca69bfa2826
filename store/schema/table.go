package schema

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/store"
)

// A Table is what the store keeps of one kind of record, at one or more resolutions.
type Table struct {
	ID      store.Table
	Finest  time.Duration // length of its intervals; 0: it is not about intervals and never rolled up
	Columns []Column
	Derived []Derived
}

// A Schema is all that is kept, with what is derived of it in the SQL of an engine.
type Schema struct {
	Dialect
	Tables [store.NumTables]*Table // in the order of their numbers
}

// New returns the schema in the SQL of an engine.
func New(d Dialect) *Schema { return &Schema{d, tables{d}.all()} }

// tables makes them.
type tables struct{ Dialect }

func (d tables) all() [store.NumTables]*Table {
	return [store.NumTables]*Table{
		store.Flows: {
			ID: store.Flows, Finest: 10 * time.Second,
			Columns: flowRows.columns,
			Derived: slices.Concat(d.samples("packets", ""), []Derived{
				{Name: "id", Text: d.Hex("flow"), Needs: []string{"flow"}},
				{
					Name: "path", Text: d.HexList("path_id"),
					Needs: []string{"path_id"},
				},
				{Name: "node", Text: d.RouteNodes(), Needs: []string{"path_id"}, Routes: true},
				{Name: "hops", Text: "r.hops", Needs: []string{"path_id"}, Routes: true},
				d.mean("residence"), d.mean("end_to_end"),
				{Name: "first", Text: "start"},
				{Name: "last", Text: "start"},
			}),
		},
		store.Paths: {
			ID: store.Paths, Finest: 10 * time.Second,
			Columns: pathRows.columns,
			Derived: slices.Concat(d.samples("packets", "incomplete"), []Derived{
				{Name: "id", Text: d.Hex("path_id"), Needs: []string{"path_id"}},
				{Name: "node", Text: d.RouteNodes(), Routes: true},
				{Name: "hops", Text: "r.hops", Routes: true},
				{Name: "dropped", Text: "r.dropped", Routes: true},
				{Name: "uncertain", Text: "r.uncertain", Routes: true},
				d.mean("residence"), d.mean("end_to_end"),
				d.quantile("residence", "50"), d.quantile("residence", "99"),
				{Name: "first", Text: "start"},
				{Name: "last", Text: "start"},
			}),
		},
		store.Hops: {
			ID: store.Hops, Finest: time.Second,
			Columns: hopRows.columns,
			Derived: append(d.samples("packets", "incomplete"),
				d.mean("latency"), d.quantile("latency", "50"), d.quantile("latency", "99")),
		},
		store.Queues: {
			ID: store.Queues, Finest: time.Second,
			Columns: queueRows.columns,
			Derived: append(d.samples("samples", ""), Derived{
				Name: "occupancy_mean", Text: "occupancy_sum / nullif(samples, 0)",
				Needs: []string{"samples", "occupancy_sum"},
			}),
		},
		store.Links: {
			ID: store.Links, Finest: 10 * time.Second,
			Columns: linkRows.columns,
			Derived: append(d.samples("packets", "incomplete"),
				d.mean("delay"), d.quantile("delay", "50"), d.quantile("delay", "99"),
				Derived{
					Name: "utilization_mean", Text: "utilization_sum / nullif(utilization_samples, 0)",
					Needs: []string{"utilization_samples", "utilization_sum"},
				},
			),
		},
		store.Drops: {
			ID: store.Drops, Finest: 10 * time.Second,
			Columns: dropRows.columns,
			Derived: []Derived{{Name: "first", Text: "start"}, {Name: "last", Text: "start"}},
		},
		store.Exporters: {
			ID: store.Exporters, Finest: 10 * time.Second,
			Columns: exporterRows.columns,
			Derived: []Derived{{Name: "first", Text: "start"}, {Name: "last", Text: "start"}},
		},
		store.Events: {
			ID: store.Events,
			Columns: slices.Concat(
				[]Column{
					Start,
					{Name: "id", Kind: "VARCHAR"},
					{Name: "version", Kind: "UBIGINT"}, // of the same event the row with the highest is valid
					{Name: "kind", Kind: "UTINYINT"},
					{Name: "severity", Kind: "UTINYINT"},
					{Name: `"end"`, Kind: "TIMESTAMP_NS"},
					{Name: "duration", Kind: "BIGINT"},
					{Name: `"count"`, Kind: "UBIGINT"},
					{Name: `"text"`, Kind: "VARCHAR"},
					{Name: "node", Kind: "UINTEGER[]"},
					{Name: "name", Kind: "VARCHAR[]"},
					{Name: "egress_port", Kind: "UINTEGER"},
					{Name: "queue_id", Kind: "UTINYINT"},
					{Name: "to_node", Kind: "UINTEGER"},
					{Name: "to_port", Kind: "UINTEGER"},
					{Name: "reason", Kind: "UTINYINT"},
					{Name: "reason_name", Kind: "VARCHAR"},
					{Name: "source_hi", Kind: "UBIGINT"},
					{Name: "source_lo", Kind: "UBIGINT"},
					{Name: "path", Kind: "VARCHAR"},
				},
				endpoints,
				[]Column{
					{Name: "json", Kind: "VARCHAR"}, // all of it, as the API gives it
					{Name: "rule", Kind: "VARCHAR"},
				},
			),
			Derived: []Derived{ // of groups of events
				{Name: "at_node", Text: d.FirstNode()}, // the first subject
				{Name: "events", Text: "1", Role: Sum, Kind: "UBIGINT"},
				{Name: "still_open", Text: `CASE WHEN "end" IS NULL THEN 1 ELSE 0 END`, Role: Sum, Kind: "UBIGINT"},
				{Name: "amount", Text: `"count"`, Role: Sum, Kind: "UBIGINT"},
				{Name: "first", Text: "start", Role: Low},
				{Name: "last", Text: "start", Role: High},
			},
		},
		store.Routes: {
			ID: store.Routes,
			Columns: []Column{
				Start, // when it was met, or noted again
				{Name: "path_id", Kind: "UBIGINT"},
				{Name: "uncertain", Kind: "BOOLEAN"},
				{Name: "dropped", Kind: "BOOLEAN"},
				{Name: "hops", Kind: "UINTEGER"},
				{Name: "node", Kind: "UINTEGER[]"}, // those that are known
				{Name: "stations", Kind: "VARCHAR"},
			},
		},
		store.Hosts: {
			ID: store.Hosts, Finest: 10 * time.Second,
			Columns: hostRows.columns,
		},
		store.Bursts: {
			ID:      store.Bursts,
			Columns: burstRows.columns,
			Derived: []Derived{ // of groups of bursts
				{Name: "bursts", Text: "1", Role: Sum, Kind: "UBIGINT"},
				{Name: "peak_bytes_max", Text: "peak_bytes", Role: High},
				{Name: "peak_delay_max", Text: "peak_delay", Role: High},
				{Name: "duration_max", Text: "duration", Role: High},
				{Name: "packets_sum", Text: "packets", Role: Sum, Kind: "UBIGINT"},
				{Name: "bytes_sum", Text: "bytes", Role: Sum, Kind: "UBIGINT"},
				{Name: "drops_sum", Text: "drops", Role: Sum, Kind: "UBIGINT"},
				{Name: "first", Text: "start", Role: Low},
				{Name: "last", Text: "start", Role: High},
			},
		},
		store.BurstFlows: {
			ID:      store.BurstFlows,
			Columns: burstFlowRows.columns,
		},
	}
}

// TableNames returns the names of all tables, which statements have in FROM.
func (s *Schema) TableNames() []string {
	var names []string
	for _, t := range s.Tables {
		for _, step := range t.Resolutions() {
			names = append(names, t.Name(step))
		}
	}
	return names
}

// Resolutions are the lengths of intervals that t is kept in, the shortest first.
func (t *Table) Resolutions() []time.Duration {
	if t.Finest == 0 {
		return []time.Duration{0}
	}
	return []time.Duration{t.Finest, time.Minute, time.Hour}
}

// Name of t on disk at a resolution.
func (t *Table) Name(step time.Duration) string {
	switch step {
	case 0:
		return t.ID.String()
	case time.Second:
		return t.ID.String() + "_1s"
	case time.Minute:
		return t.ID.String() + "_1m"
	case time.Hour:
		return t.ID.String() + "_1h"
	}
	return t.ID.String() + "_10s"
}

// At are the columns of t at a resolution.
func (t *Table) At(step time.Duration) []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return !c.at(step, t.Finest) })
}

// Has reports whether t has a column of that name at a resolution, or one that can be derived there.
func (t *Table) Has(name string, step time.Duration) bool {
	at := t.At(step)
	is := func(name string) bool { return slices.ContainsFunc(at, func(c Column) bool { return c.Name == name }) }
	for _, d := range t.Derived {
		if d.Name == name {
			return !slices.ContainsFunc(d.Needs, func(need string) bool { return !is(need) })
		}
	}
	return is(name)
}

// Role is the role of a column of t, Key if there is none of that name.
func (t *Table) Role(name string) Role {
	for _, c := range t.Columns {
		if c.Name == name {
			return c.Role
		}
	}
	return Key
}

// HasHistograms reports whether t has columns of histograms.
func (t *Table) HasHistograms() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Role == Counts })
}
