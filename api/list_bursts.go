package api

import (
	"github.com/waybill-int/waybill/analyze/burst"
)

// burstColumns are the columns of the store by what bursts of a time range can be ordered by: the orders that bursts of
// now have names for, and numbers.
var burstColumns = map[string]string{
	string(burst.ByLast): "start", string(burst.ByPeak): "peak_bytes", string(burst.ByDuration): "duration",
	string(burst.ByDrops): "drops",
	"start":               "start", "id": "id", "node": "node", "port": "egress_port", "queue": "queue_id",
	"incast": "incast",
	"end":    `"end"`, "peak_bytes": "peak_bytes", "duration_ns": "duration", "peak_delay_ns": "peak_delay",
	"packets": "packets", "bytes": "bytes",
	"complete": "complete", "sources": "sources", "main_sources": "main_sources",
}
