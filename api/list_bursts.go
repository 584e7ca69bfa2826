package api

import "github.com/waybill-int/waybill/analyze"

// burstColumns are the columns of the store by what bursts of a time range can be ordered by: the orders that bursts of now have
// names for, and numbers.
var burstColumns = map[string]string{
	string(analyze.BurstsByLast): "start", string(analyze.BurstsByPeak): "peak_bytes", string(analyze.BurstsByDuration): "duration", string(analyze.BurstsByDrops): "drops",
	"start": "start", "id": "id", "node": "node", "port": "egress_port", "queue": "queue_id", "incast": "incast", "end": `"end"`, "peak_bytes": "peak_bytes", "duration_ns": "duration", "peak_delay_ns": "peak_delay", "packets": "packets", "bytes": "bytes",
	"complete": "complete", "sources": "sources", "main_sources": "main_sources",
}
