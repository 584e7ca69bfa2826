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
		columns: slices.Concat(
			[]column{start, {name: "flow", kind: "UBIGINT", finest: true}},
			endpoints,
			[]column{
				{name: "outer_src_hi", kind: "UBIGINT"},
				{name: "outer_src_lo", kind: "UBIGINT"},
				{name: "outer_dst_hi", kind: "UBIGINT"},
				{name: "outer_dst_lo", kind: "UBIGINT"},
				{name: "dscp", kind: "UTINYINT"},
				{name: "device", kind: "VARCHAR", minute: true},
				{name: "path_id", kind: "UBIGINT", minute: true},
				{name: "reports", kind: "UBIGINT", role: sum},
				{name: "packets", kind: "UBIGINT", role: sum},
				{name: "bytes", kind: "UBIGINT", role: sum},
				{name: "drops", kind: "UBIGINT", role: sum},
				{name: "path_changes", kind: "UBIGINT", role: sum},
			},
			moments("residence"),
			[]column{{name: "residence_p50", kind: "BIGINT", role: high}, {name: "residence_p99", kind: "BIGINT", role: high}},
			moments("end_to_end"),
		),
		derived: []derived{
			{name: "id", text: "printf('%016x', flow)", needs: []string{"flow"}},
			{name: "path", text: "CASE WHEN path_id IS NULL THEN [] ELSE [printf('%016x', path_id)] END", needs: []string{"path_id"}},
			{name: "node", text: "r.node", needs: []string{"path_id"}, routes: true},
			{name: "hops", text: "r.hops", needs: []string{"path_id"}, routes: true},
			mean("residence"), mean("end_to_end"),
			{name: "first", text: "start"},
			{name: "last", text: "start"},
		},
	},
	store.Paths: {
		id: store.Paths, finest: 10 * time.Second,
		columns: slices.Concat(
			[]column{
				start,
				{name: "path_id", kind: "UBIGINT"},
				{name: "packets", kind: "UBIGINT", role: sum},
				{name: "incomplete", kind: "UBIGINT", role: sum},
				{name: "clock_errors", kind: "UBIGINT", role: sum},
			},
			histogram("residence"), histogram("end_to_end"),
		),
		derived: []derived{
			{name: "id", text: "printf('%016x', path_id)", needs: []string{"path_id"}},
			{name: "node", text: "r.node", routes: true},
			{name: "hops", text: "r.hops", routes: true},
			{name: "dropped", text: "r.dropped", routes: true},
			{name: "uncertain", text: "r.uncertain", routes: true},
			mean("residence"), mean("end_to_end"),
			quantile("residence", "50"), quantile("residence", "99"),
			{name: "first", text: "start"},
			{name: "last", text: "start"},
		},
	},
	store.Hops: {
		id: store.Hops, finest: time.Second,
		columns: slices.Concat([]column{start}, place, []column{{name: "dropped", kind: "BOOLEAN"}, {name: "packets", kind: "UBIGINT", role: sum}}, histogram("latency")),
		derived: []derived{mean("latency"), quantile("latency", "50"), quantile("latency", "99")},
	},
	store.Queues: {
		id: store.Queues, finest: time.Second,
		columns: []column{
			start, place[0], place[2],
			{name: "queue_id", kind: "UTINYINT"},
			{name: "samples", kind: "UBIGINT", role: sum},
			{name: "occupancy_sum", kind: "UBIGINT", role: sum},
			{name: "occupancy_max", kind: "UINTEGER", role: high},
		},
		derived: []derived{{name: "occupancy_mean", text: "occupancy_sum / samples", needs: []string{"samples", "occupancy_sum"}}},
	},
	store.Links: {
		id: store.Links, finest: 10 * time.Second,
		columns: slices.Concat([]column{
			start,
			{name: "from_node", kind: "UINTEGER"},
			{name: "from_port", kind: "UINTEGER"},
			{name: "to_node", kind: "UINTEGER"},
			{name: "to_port", kind: "UINTEGER"},
			{name: "packets", kind: "UBIGINT", role: sum},
		}, append(
			histogram("delay"),
			column{name: "delay_uncertainty", kind: "BIGINT", role: high},
			column{name: "delay_clamped", kind: "UBIGINT", role: sum},
			column{name: "utilization_samples", kind: "UBIGINT", role: sum},
			column{name: "utilization_sum", kind: "UBIGINT", role: sum},
			column{name: "utilization_max", kind: "UINTEGER", role: high},
		)),
		derived: []derived{
			mean("delay"), quantile("delay", "50"), quantile("delay", "99"),
			{name: "utilization_mean", text: "utilization_sum / nullif(utilization_samples, 0)", needs: []string{"utilization_samples", "utilization_sum"}},
		},
	},
	store.Drops: {
		id: store.Drops, finest: 10 * time.Second,
		columns: slices.Concat(
			[]column{start}, place,
			[]column{{name: "reason", kind: "UTINYINT"}, {name: "reason_name", kind: "VARCHAR"}, {name: "drop_key", kind: "VARCHAR", minute: true}},
			latest(endpoints),
			[]column{{name: "packets", kind: "UBIGINT", role: sum}},
		),
		derived: []derived{{name: "first", text: "start"}, {name: "last", text: "start"}},
	},
	store.Exporters: {
		id: store.Exporters, finest: 10 * time.Second,
		columns: []column{
			start,
			{name: "source_hi", kind: "UBIGINT"},
			{name: "source_lo", kind: "UBIGINT"},
			{name: "node", kind: "UINTEGER"},
			{name: "hw_id", kind: "UTINYINT"},
			{name: "version", kind: "VARCHAR"},
			{name: "dialect", kind: "VARCHAR"},
			{name: "loss_known", kind: "VARCHAR"},
			{name: "received", kind: "UBIGINT", role: sum},
			{name: "reports", kind: "UBIGINT", role: sum},
			{name: "lost", kind: "BIGINT", role: sum},
			{name: "reordered", kind: "BIGINT", role: sum},
			{name: "duplicate", kind: "BIGINT", role: sum},
			{name: "restarted", kind: "BIGINT", role: sum},
			{name: "malformed", kind: "UBIGINT", role: sum},
			{name: "damaged", kind: "UBIGINT", role: sum},
		},
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
		columns: []column{
			start,
			{name: "address_hi", kind: "UBIGINT"},
			{name: "address_lo", kind: "UBIGINT"},
			{name: "tunnel", kind: "UTINYINT"},
			{name: "tunnel_id", kind: "UINTEGER"},
			{name: "node", kind: "UINTEGER"},
			{name: "port", kind: "UINTEGER"},
			{name: "packets", kind: "UBIGINT", role: sum},
		},
	},
	store.Bursts: {
		id: store.Bursts,
		columns: []column{
			start,
			{name: "id", kind: "VARCHAR"}, // of its event
			{name: "node", kind: "UINTEGER"},
			{name: "egress_port", kind: "UINTEGER"},
			{name: "queue_id", kind: "UTINYINT"},
			{name: "peak", kind: "TIMESTAMP_NS"},
			{name: `"end"`, kind: "TIMESTAMP_NS"},
			{name: "duration", kind: "BIGINT"},
			{name: "start_slack", kind: "BIGINT"},
			{name: "end_slack", kind: "BIGINT"},
			{name: "open", kind: "BOOLEAN"},
			{name: "peak_bytes", kind: "UBIGINT"},
			{name: "peak_delay", kind: "BIGINT"},
			{name: "above_bytes", kind: "UBIGINT"},
			{name: "below_bytes", kind: "UBIGINT"},
			{name: "packets", kind: "UBIGINT"},
			{name: "bytes", kind: "UBIGINT"},
			{name: "drops", kind: "UBIGINT"},
			{name: "complete", kind: "DOUBLE"},
			{name: "sources", kind: "UINTEGER"},
			{name: "main_sources", kind: "UINTEGER"},
			{name: "incast", kind: "BOOLEAN"},
			{name: "other_flows", kind: "UINTEGER"},
			{name: "other_bytes", kind: "UBIGINT"},
		},
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
		id: store.BurstFlows,
		columns: slices.Concat(
			[]column{
				start, // of the burst
				{name: "burst", kind: "VARCHAR"},
				{name: "culprit", kind: "BOOLEAN"}, // else a victim
			},
			endpoints,
			[]column{
				{name: "packets", kind: "UBIGINT"},
				{name: "bytes", kind: "UBIGINT"},
				{name: "drops", kind: "UBIGINT"},
				{name: "build_up_bytes", kind: "UBIGINT"},
				{name: "share", kind: "DOUBLE"},
				{name: "extra", kind: "BIGINT"},
				{name: "extra_max", kind: "BIGINT"},
			},
		),
	},
}

// latest are the columns of a flow that is an example, which tables of a coarser resolution do not have.
func latest(columns []column) []column {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].finest = true
	}
	return columns
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
