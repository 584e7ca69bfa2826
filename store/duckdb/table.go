package duckdb

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/store"
)

// A table is what the store keeps of one kind of record, at one or more resolutions.
type table struct {
	id      store.Table
	finest  time.Duration // length of its intervals; 0: it is not about intervals and never rolled up
	columns []column
	derived []derived
}

// tables in the order of their numbers.
var tables = [store.NumTables]*table{
	store.Flows: {
		id: store.Flows, finest: 10 * time.Second,
		columns: flowRows.columns,
		derived: slices.Concat(samples("packets", ""), []derived{
			{name: "id", text: "printf('%016x', flow)", needs: []string{"flow"}},
			{
				name: "path", text: "CASE WHEN path_id IS NULL THEN [] ELSE [printf('%016x', path_id)] END",
				needs: []string{"path_id"},
			},
			{name: "node", text: "r.node", needs: []string{"path_id"}, routes: true},
			{name: "hops", text: "r.hops", needs: []string{"path_id"}, routes: true},
			mean("residence"), mean("end_to_end"),
			{name: "first", text: "start"},
			{name: "last", text: "start"},
		}),
	},
	store.Paths: {
		id: store.Paths, finest: 10 * time.Second,
		columns: pathRows.columns,
		derived: slices.Concat(samples("packets", "incomplete"), []derived{
			{name: "id", text: "printf('%016x', path_id)", needs: []string{"path_id"}},
			{name: "node", text: "r.node", routes: true},
			{name: "hops", text: "r.hops", routes: true},
			{name: "dropped", text: "r.dropped", routes: true},
			{name: "uncertain", text: "r.uncertain", routes: true},
			mean("residence"), mean("end_to_end"),
			quantile("residence", "50"), quantile("residence", "99"),
			{name: "first", text: "start"},
			{name: "last", text: "start"},
		}),
	},
	store.Hops: {
		id: store.Hops, finest: time.Second,
		columns: hopRows.columns,
		derived: append(samples("packets", "incomplete"),
			mean("latency"), quantile("latency", "50"), quantile("latency", "99")),
	},
	store.Queues: {
		id: store.Queues, finest: time.Second,
		columns: queueRows.columns,
		derived: append(samples("samples", ""), derived{
			name: "occupancy_mean", text: "occupancy_sum / nullif(samples, 0)",
			needs: []string{"samples", "occupancy_sum"},
		}),
	},
	store.Links: {
		id: store.Links, finest: 10 * time.Second,
		columns: linkRows.columns,
		derived: append(samples("packets", "incomplete"),
			mean("delay"), quantile("delay", "50"), quantile("delay", "99"),
			derived{
				name: "utilization_mean", text: "utilization_sum / nullif(utilization_samples, 0)",
				needs: []string{"utilization_samples", "utilization_sum"},
			},
		),
	},
	store.Drops: {
		id: store.Drops, finest: 10 * time.Second,
		columns: dropRows.columns,
		derived: []derived{{name: "first", text: "start"}, {name: "last", text: "start"}},
	},
	store.Exporters: {
		id: store.Exporters, finest: 10 * time.Second,
		columns: exporterRows.columns,
		derived: []derived{{name: "first", text: "start"}, {name: "last", text: "start"}},
	},
	store.Events: {
		id: store.Events,
		columns: slices.Concat(
			[]column{
				start,
				{name: "id", kind: "VARCHAR"},
				{name: "version", kind: "UBIGINT"}, // of the same event the row with the highest is valid
				{name: "kind", kind: "UTINYINT"},
				{name: "severity", kind: "UTINYINT"},
				{name: `"end"`, kind: "TIMESTAMP_NS"},
				{name: "duration", kind: "BIGINT"},
				{name: `"count"`, kind: "UBIGINT"},
				{name: `"text"`, kind: "VARCHAR"},
				{name: "node", kind: "UINTEGER[]"},
				{name: "name", kind: "VARCHAR[]"},
				{name: "egress_port", kind: "UINTEGER"},
				{name: "queue_id", kind: "UTINYINT"},
				{name: "to_node", kind: "UINTEGER"},
				{name: "to_port", kind: "UINTEGER"},
				{name: "reason", kind: "UTINYINT"},
				{name: "reason_name", kind: "VARCHAR"},
				{name: "source_hi", kind: "UBIGINT"},
				{name: "source_lo", kind: "UBIGINT"},
				{name: "path", kind: "VARCHAR"},
			},
			endpoints,
			[]column{
				{name: "json", kind: "VARCHAR"}, // all of it, as the API gives it
				{name: "rule", kind: "VARCHAR"},
			},
		),
		derived: []derived{ // of groups of events
			{name: "at_node", text: "CASE WHEN to_node IS NULL OR len(node) > 1 THEN node[1] END"}, // the first subject
			{name: "events", text: "1", role: sum, kind: "UBIGINT"},
			{name: "still_open", text: `CAST("end" IS NULL AS UTINYINT)`, role: sum, kind: "UBIGINT"},
			{name: "amount", text: `"count"`, role: sum, kind: "UBIGINT"},
			{name: "first", text: "start", role: low},
			{name: "last", text: "start", role: high},
		},
	},
	store.Routes: {
		id: store.Routes,
		columns: []column{
			start, // when it was met, or noted again
			{name: "path_id", kind: "UBIGINT"},
			{name: "uncertain", kind: "BOOLEAN"},
			{name: "dropped", kind: "BOOLEAN"},
			{name: "hops", kind: "UINTEGER"},
			{name: "node", kind: "UINTEGER[]"}, // those that are known
			{name: "stations", kind: "VARCHAR"},
		},
	},
	store.Hosts: {
		id: store.Hosts, finest: 10 * time.Second,
		columns: hostRows.columns,
	},
	store.Bursts: {
		id:      store.Bursts,
		columns: burstRows.columns,
		derived: []derived{ // of groups of bursts
			{name: "bursts", text: "1", role: sum, kind: "UBIGINT"},
			{name: "peak_bytes_max", text: "peak_bytes", role: high},
			{name: "peak_delay_max", text: "peak_delay", role: high},
			{name: "duration_max", text: "duration", role: high},
			{name: "packets_sum", text: "packets", role: sum, kind: "UBIGINT"},
			{name: "bytes_sum", text: "bytes", role: sum, kind: "UBIGINT"},
			{name: "drops_sum", text: "drops", role: sum, kind: "UBIGINT"},
			{name: "first", text: "start", role: low},
			{name: "last", text: "start", role: high},
		},
	},
	store.BurstFlows: {
		id:      store.BurstFlows,
		columns: burstFlowRows.columns,
	},
}

// TableNames returns the names of all tables, which statements have in FROM.
func TableNames() []string {
	var names []string
	for _, t := range tables {
		for _, step := range t.resolutions() {
			names = append(names, t.name(step))
		}
	}
	return names
}

// resolutions are the lengths of intervals that t is kept in, the shortest first.
func (t *table) resolutions() []time.Duration {
	if t.finest == 0 {
		return []time.Duration{0}
	}
	return []time.Duration{t.finest, time.Minute, time.Hour}
}

// name of t on disk at a resolution.
func (t *table) name(step time.Duration) string {
	switch step {
	case 0:
		return t.id.String()
	case time.Second:
		return t.id.String() + "_1s"
	case time.Minute:
		return t.id.String() + "_1m"
	case time.Hour:
		return t.id.String() + "_1h"
	}
	return t.id.String() + "_10s"
}

// at are the columns of t at a resolution.
func (t *table) at(step time.Duration) []column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c column) bool { return !c.at(step, t.finest) })
}

// has reports whether t has a column of that name at a resolution, or one that can be derived there.
func (t *table) has(name string, step time.Duration) bool {
	at := t.at(step)
	is := func(name string) bool { return slices.ContainsFunc(at, func(c column) bool { return c.name == name }) }
	for _, d := range t.derived {
		if d.name == name {
			return !slices.ContainsFunc(d.needs, func(need string) bool { return !is(need) })
		}
	}
	return is(name)
}
