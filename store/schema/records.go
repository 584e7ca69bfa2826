package schema

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// Rows of the tables. The tags of the types say what is stored; what stands here is no field of a record.
var (
	flowRows = newRows(func(r *telemetry.FlowInterval) int64 { return r.StartNs },
		map[string]func(*telemetry.FlowInterval) any{
			"device": func(r *telemetry.FlowInterval) any {
				if !r.HasDevice {
					return nil
				}
				return telemetry.DeviceText(r.Device)
			},
		})
	pathRows  = newRows(func(r *telemetry.PathInterval) int64 { return r.StartNs }, nil)
	hopRows   = newRows(func(r *telemetry.HopInterval) int64 { return r.StartNs }, nil)
	queueRows = newRows(func(r *telemetry.QueueInterval) int64 { return r.StartNs },
		map[string]func(*telemetry.QueueInterval) any{
			"unit": func(r *telemetry.QueueInterval) any { return unlessEmpty(r.Unit) },
		})
	linkRows = newRows(func(r *telemetry.LinkInterval) int64 { return r.StartNs }, nil)
	dropRows = newRows(func(r *telemetry.DropInterval) int64 { return r.StartNs },
		map[string]func(*telemetry.DropInterval) any{
			"reason_name": func(r *telemetry.DropInterval) any { return r.Reasons.Name(r.Reason) },
			"drop_key": func(r *telemetry.DropInterval) any {
				if r.DropKey == 0 {
					return nil
				}
				return fmt.Sprintf("%016x", r.DropKey)
			},
		})
	exporterRows = newRows(func(r *telemetry.ExporterInterval) int64 { return r.StartNs },
		map[string]func(*telemetry.ExporterInterval) any{
			"lost": func(r *telemetry.ExporterInterval) any {
				if r.LossKnown != "yes" {
					return nil
				}
				return r.Lost
			},
		})
	hostRows  = newRows(func(r *telemetry.HostInterval) int64 { return r.StartNs }, nil)
	burstRows = newRows(func(b *telemetry.Burst) int64 { return b.Start.UnixNano() },
		map[string]func(*telemetry.Burst) any{
			"unit": func(b *telemetry.Burst) any { return unlessEmpty(b.Unit) },
		})
	burstFlowRows = newRows(func(r *telemetry.BurstFlow) int64 { return r.Burst.Start.UnixNano() },
		map[string]func(*telemetry.BurstFlow) any{
			"burst":     func(r *telemetry.BurstFlow) any { return r.Burst.ID },
			"extra":     func(r *telemetry.BurstFlow) any { return ofVictim(r, r.ExtraNs) },
			"extra_max": func(r *telemetry.BurstFlow) any { return ofVictim(r, r.MaxExtraNs) },
		})
	eventRows = &rowsOf[telemetry.Event]{
		startNs: func(e *telemetry.Event) int64 { return e.Start.UnixNano() },
		parts:   []func(*Row, *telemetry.Event){appendEvent},
	}
	routeRows = &rowsOf[telemetry.Route]{
		startNs: func(r *telemetry.Route) int64 { return r.StartNs },
		parts:   []func(*Row, *telemetry.Route){appendRoute},
	}
)

// unlessEmpty is NULL for what a journal of an older version does not tell.
func unlessEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func ofVictim(r *telemetry.BurstFlow, ns uint64) any {
	if r.Culprit {
		return nil
	}
	return int64(ns)
}

// Records are records of one table.
type Records struct {
	Table   store.Table
	Len     int
	StartNs func(i int) int64
	Add     func(a *Row, i int) // appends the values of the columns
}

// RecordsOf returns the records of batches. Those of flows are in the order of what they are about.
func RecordsOf(batches []*telemetry.Intervals) []Records {
	list := []Records{sortedFlows(batches)}
	for _, v := range batches {
		list = append(
			list,
			records(store.Paths, v.Paths, pathRows),
			records(store.Hops, v.Hops, hopRows),
			records(store.Queues, v.Queues, queueRows),
			records(store.Links, v.Links, linkRows),
			records(store.Drops, v.Drops, dropRows),
			records(store.Exporters, v.Exporters, exporterRows),
			records(store.Events, v.Events, eventRows),
			records(store.Routes, v.Routes, routeRows),
			records(store.Hosts, v.Hosts, hostRows),
			records(store.Bursts, v.Bursts, burstRows),
			records(store.BurstFlows, v.BurstFlows, burstFlowRows),
		)
	}
	return list
}

func records[R any](id store.Table, list []R, of *rowsOf[R]) Records {
	return Records{
		id, len(list), func(i int) int64 { return of.startNs(&list[i]) },
		func(a *Row, i int) { of.add(a, &list[i]) },
	}
}

// A placedFlow is a flow with what it is sorted by, so that comparing two does not wait for memory.
type placedFlow struct {
	startNs  int64
	src, dst uint64
	*telemetry.FlowInterval
}

// sortedFlows are the flows of all batches. Flows between the same hosts stand together then, which makes columns of
// what they have in common a third as large. The records stay where they are.
func sortedFlows(batches []*telemetry.Intervals) Records {
	n := 0
	for _, v := range batches {
		n += len(v.Flows)
	}
	list := make([]placedFlow, 0, n)
	for _, v := range batches {
		for i := range v.Flows {
			f := &v.Flows[i]
			list = append(list, placedFlow{f.StartNs, f.Key.Src.Lo, f.Key.Dst.Lo, f})
		}
	}
	slices.SortFunc(list, func(a, b placedFlow) int {
		return cmp.Or(cmp.Compare(a.startNs, b.startNs), cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst),
			cmp.Compare(a.Path, b.Path))
	})
	return Records{
		store.Flows, n, func(i int) int64 { return list[i].startNs },
		func(a *Row, i int) { flowRows.add(a, list[i].FlowInterval) },
	}
}
