package filter

import "slices"

// reportFields are those of a datagram as it came, and of a report in it: what ReportRow has.
var reportFields = slices.Concat(
	[]Field{
		{Name: "time", Kind: Time, Doc: "when it was received"},
		{Name: "exporter", Aliases: []string{"source"}, Kind: Address, Doc: "address that sent it"},
		{Name: "listener", Kind: Text, Doc: "address and port that received it"},
		{Name: "length", Kind: Size, Doc: "length of its UDP payload"},
		{Name: "outcome", Kind: Enum, Choices: outcomes(), Ordered: true, Doc: "what could be understood of it"},
		{Name: "reason", Kind: Text, Doc: "code of the first rule that it broke"},
		{Name: "version", Kind: Text, Doc: "version of the report, such as \"2.0\""},
		{Name: "dialect", Kind: Text, Doc: "dialect that it was read as"},
		{Name: "sender", Kind: Node, Doc: "the node that sent it"},
		{Name: "sequence", Kind: Uint, Doc: "its sequence number"},
		{Name: "flow", Aliases: []string{"id"}, Kind: Text, Doc: "id of the flow"},
	},
	endpoints(" of the packet"),
	[]Field{
		{Name: "outer.src", Kind: Address, Doc: "source address of the tunnel"},
		{Name: "outer.dst", Kind: Address, Doc: "destination address of the tunnel"},
		{Name: "dscp", Kind: Uint, Doc: "DSCP of the packet"},
		{Name: "bytes", Kind: Size, Doc: "IP length of the packet, without INT"},
		{Name: "dropped", Kind: Bool, Doc: "it is about a dropped packet (D)"},
		{Name: "congested", Kind: Bool, Doc: "it is about a congested queue (Q)"},
		{Name: "tracked", Kind: Bool, Doc: "it is about a tracked flow (F)"},
		{Name: "hops", Kind: Uint, Doc: "number of nodes that it tells of"},
		{Name: "node", Aliases: []string{"hop.node"}, Kind: Node, Many: true, Doc: "each node that it tells of"},
		{
			Name: "hop.ingress_port", Aliases: []string{"ingress_port"}, Kind: Uint, Many: true,
			Doc: "level 1 ingress interface of each node",
		},
		{
			Name: "hop.egress_port", Aliases: []string{"egress_port"}, Kind: Uint, Many: true,
			Doc: "level 1 egress interface of each node",
		},
		{
			Name: "hop.latency", Aliases: []string{"latency"}, Kind: Duration, Many: true,
			Doc: "time that the packet spent in each node",
		},
		{Name: "hop.queue_id", Aliases: []string{"queue_id"}, Kind: Uint, Many: true, Doc: "the queue at each node"},
		{
			Name: "hop.queue", Aliases: []string{"queue", "hop.queue_occupancy"}, Kind: Uint, Unit: "of the device",
			Many: true, Doc: "queue occupancy that the packet met at each node",
		},
		{
			Name: "hop.tx_util", Aliases: []string{"tx_util"}, Kind: Ratio, Many: true,
			Doc: "utilization of the egress interface of each node",
		},
		{
			Name: "hop.drop_reason", Aliases: []string{"drop_reason"}, Kind: Uint, Many: true,
			Doc: "number of the drop reason, at the node that dropped it",
		},
		{
			Name: "hop.ttl", Aliases: []string{"ttl"}, Kind: Uint, Many: true,
			Doc: "TTL of the packet at the node, of postcards",
		},
	},
)
