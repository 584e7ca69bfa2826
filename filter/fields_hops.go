package filter

import "slices"

// hopFields are those of telemetry.Hop, what one node told about one packet, and the flow of the packet. They have the
// names of the columns of waybill decode.
var hopFields = slices.Concat(
	[]Field{
		{Name: "time", Kind: Time, Doc: "when the report was received"},
		{Name: "hop.node", Aliases: []string{"node"}, Kind: Node, Doc: "the node"},
		{Name: "hop.ingress_port", Aliases: []string{"ingress_port"}, Kind: Uint, Doc: "level 1 ingress interface"},
		{Name: "hop.egress_port", Aliases: []string{"egress_port"}, Kind: Uint, Doc: "level 1 egress interface"},
		{Name: "hop.l2_ingress", Aliases: []string{"l2_ingress"}, Kind: Uint, Doc: "level 2 ingress interface"},
		{Name: "hop.l2_egress", Aliases: []string{"l2_egress"}, Kind: Uint, Doc: "level 2 egress interface"},
		{Name: "hop.latency", Aliases: []string{"latency"}, Kind: Duration, Doc: "time that the packet spent in the node"},
		{Name: "hop.ingress_ts", Aliases: []string{"ingress_ts"}, Kind: Uint, Unit: "ns", Doc: "when it came in, by the clock of the node"},
		{Name: "hop.egress_ts", Aliases: []string{"egress_ts"}, Kind: Uint, Unit: "ns", Doc: "when it left, by the clock of the node"},
		{Name: "hop.queue_id", Aliases: []string{"queue_id"}, Kind: Uint, Doc: "the queue"},
		{Name: "hop.queue_occupancy", Aliases: []string{"queue_occupancy", "queue"}, Kind: Uint, Unit: "of the device", Doc: "queue occupancy that the packet met"},
		{Name: "hop.queue_congestion", Aliases: []string{"queue_congestion"}, Kind: Uint, Unit: "of the device", Doc: "queue congestion status"},
		{Name: "hop.tx_util", Aliases: []string{"tx_util"}, Kind: Ratio, Doc: "utilization of the egress interface"},
		{Name: "hop.buffer_id", Aliases: []string{"buffer_id"}, Kind: Uint, Doc: "the shared buffer"},
		{Name: "hop.buffer_occupancy", Aliases: []string{"buffer_occupancy"}, Kind: Uint, Unit: "of the device", Doc: "occupancy of the shared buffer"},
		{Name: "hop.drop_reason", Aliases: []string{"drop_reason"}, Kind: Uint, Doc: "number of the drop reason, if it was dropped"},
		{Name: "hop.ttl", Aliases: []string{"ttl"}, Kind: Uint, Doc: "TTL of the packet at the node, of postcards"},
		{Name: "dropped", Kind: Bool, Doc: "the report is about a dropped packet (D)"},
		{Name: "congested", Kind: Bool, Doc: "the report is about a congested queue (Q)"},
		{Name: "tracked", Kind: Bool, Doc: "the report is about a tracked flow (F)"},
		{Name: "dscp", Kind: Uint, Doc: "DSCP of the packet"},
		{Name: "bytes", Kind: Size, Doc: "IP length of the packet, without INT"},
	},
	endpoints(" of the packet"),
)
