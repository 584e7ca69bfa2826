package duckdb

import (
	"fmt"

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
				return device(r.Device)
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
		parts:   []func(*appender, *telemetry.Event){appendEvent},
	}
	routeRows = &rowsOf[telemetry.Route]{
		startNs: func(r *telemetry.Route) int64 { return r.StartNs },
		parts:   []func(*appender, *telemetry.Route){appendRoute},
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
