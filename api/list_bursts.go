package api

import (
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// burstFields are those of filters of bursts, with the columns that the store has of them.
var burstFields = []filter.Field{
	{Name: "id", Kind: filter.Text, Doc: "id of the burst and of its event"},
	{Name: "node", Kind: filter.Node, Doc: "the node"},
	{Name: "name", Kind: filter.Text, NameOf: "node", Doc: "name of the node, if it has one"},
	{Name: "egress_port", Aliases: []string{"port"}, Kind: filter.Uint, Doc: "level 1 interface behind the queue"},
	{Name: "queue_id", Aliases: []string{"queue"}, Kind: filter.Uint, Doc: "the queue"},
	{Name: "start", Kind: filter.Time, Doc: "when it began"},
	{Name: "peak", Kind: filter.Time, Doc: "when the queue was longest"},
	{Name: "end", Kind: filter.Time, Column: `"end"`, Doc: "when it ended"},
	{Name: "duration", Aliases: []string{"duration_ns"}, Kind: filter.Duration, Doc: "end minus start"},
	{Name: "open", Kind: filter.Bool, Doc: "it is not known when it ended"},
	{Name: "peak_bytes", Kind: filter.Size, Doc: "bytes in the queue at the peak"},
	{Name: "peak_delay", Aliases: []string{"peak_delay_ns"}, Kind: filter.Duration, Doc: "the longest wait beyond what the empty queue costs"},
	{Name: "packets", Kind: filter.Uint, Doc: "packets that were in the queue"},
	{Name: "bytes", Kind: filter.Size, Doc: "bytes that were in the queue"},
	{Name: "drops", Kind: filter.Uint, Doc: "packets that the queue dropped"},
	{Name: "complete", Kind: filter.Ratio, Doc: "share of its bytes that telemetry saw"},
	{Name: "sources", Kind: filter.Uint, Doc: "senders in the build-up"},
	{Name: "main_sources", Kind: filter.Uint, Doc: "the fewest of them that brought 80 % of its bytes"},
	{Name: "incast", Kind: filter.Bool, Doc: "many senders came together"},
}

var burstTable = filter.NewTable(
	mustSchema("bursts", burstFields...),
	map[string]filter.ValueOf[telemetry.Burst]{
		"id":           filter.MaybeText(func(b *telemetry.Burst) string { return b.ID }),
		"node":         filter.Number(func(b *telemetry.Burst) uint32 { return b.Node }),
		"name":         filter.MaybeText(func(b *telemetry.Burst) string { return b.Name }),
		"egress_port":  filter.Number(func(b *telemetry.Burst) uint32 { return b.Port }),
		"queue_id":     filter.Number(func(b *telemetry.Burst) uint8 { return b.Queue }),
		"start":        filter.At(func(b *telemetry.Burst) time.Time { return b.Start }),
		"peak":         filter.At(func(b *telemetry.Burst) time.Time { return b.Peak }),
		"end":          filter.At(func(b *telemetry.Burst) time.Time { return b.End }),
		"duration":     burstTime(func(b *telemetry.Burst) uint64 { return b.DurationNs }),
		"open":         burstIs(func(b *telemetry.Burst) bool { return b.Open }),
		"peak_bytes":   filter.Number(func(b *telemetry.Burst) uint64 { return b.PeakBytes }),
		"peak_delay":   burstTime(func(b *telemetry.Burst) uint64 { return b.PeakDelayNs }),
		"packets":      filter.Number(func(b *telemetry.Burst) uint64 { return b.Packets }),
		"bytes":        filter.Number(func(b *telemetry.Burst) uint64 { return b.Bytes }),
		"drops":        filter.Number(func(b *telemetry.Burst) uint64 { return b.Drops }),
		"complete":     func(b *telemetry.Burst, _ int) (filter.Value, bool) { return filter.FromFloat(b.Complete), true },
		"sources":      filter.Number(func(b *telemetry.Burst) uint32 { return uint32(b.Sources) }),
		"main_sources": filter.Number(func(b *telemetry.Burst) uint32 { return uint32(b.MainSources) }),
		"incast":       burstIs(func(b *telemetry.Burst) bool { return b.Incast }),
	})

func burstTime(get func(*telemetry.Burst) uint64) filter.ValueOf[telemetry.Burst] {
	return func(b *telemetry.Burst, _ int) (filter.Value, bool) {
		return filter.FromDuration(time.Duration(get(b))), true
	}
}

func burstIs(get func(*telemetry.Burst) bool) filter.ValueOf[telemetry.Burst] {
	return func(b *telemetry.Burst, _ int) (filter.Value, bool) { return filter.FromBool(get(b)), true }
}

// burstColumns are the columns of the store by what bursts of a time range can be ordered by: the orders that bursts of now have
// names for, and numbers.
var burstColumns = map[string]string{
	string(analyze.BurstsByLast): "start", string(analyze.BurstsByPeak): "peak_bytes", string(analyze.BurstsByDuration): "duration", string(analyze.BurstsByDrops): "drops",
	"start": "start", "id": "id", "node": "node", "port": "egress_port", "queue": "queue_id", "incast": "incast", "end": `"end"`, "peak_bytes": "peak_bytes", "duration_ns": "duration", "peak_delay_ns": "peak_delay", "packets": "packets", "bytes": "bytes",
	"complete": "complete", "sources": "sources", "main_sources": "main_sources",
}
