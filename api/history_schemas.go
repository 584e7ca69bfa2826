package api

import "github.com/waybill-int/waybill/filter"

// Schemas of the tables of a store, where they have other fields than the lists of now.
var (
	flowRecords = filter.Flows.Without(map[string]string{
		"hop.latency": askHops, "hop.queue": askQueues, "outer.port": "ask for the flows of now",
	})
	eventRecords = filter.Events.Without(map[string]string{"acknowledged": "ask for the events of now"})
	pathRecords  = filter.Paths.Without(map[string]string{
		"hop.latency": askHops, "hop.queue": askQueues,
		"flows": "ask for flows of the time range, with path and its id, or grouped by path",
	})
	hopRecords = mustSchema("hops",
		filter.Field{Name: "node", Kind: filter.Node, Doc: "the node"},
		nodeName,
		filter.Field{Name: "ingress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets came in"},
		filter.Field{Name: "egress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		filter.Field{Name: "dropped", Kind: filter.Bool, Doc: "packets were dropped here"},
		filter.Field{Name: "packets", Kind: filter.Uint, Doc: "packets of an interval"},
		filter.Field{Name: "latency.max", Kind: filter.Duration, Doc: "longest time in the node, of an interval"},
		filter.Field{
			Name: "latency.mean", Aliases: []string{"latency"}, Kind: filter.Duration,
			Doc: "mean time in the node, of an interval",
		},
	)
	queueRecords = mustSchema("queues",
		filter.Field{Name: "node", Kind: filter.Node, Doc: "the node"},
		nodeName,
		filter.Field{Name: "egress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		filter.Field{Name: "queue", Kind: filter.Uint, Column: "queue_id", Doc: "the queue"},
		filter.Field{Name: "samples", Kind: filter.Uint, Doc: "packets of an interval that told of it"},
		filter.Field{Name: "occupancy.max", Kind: filter.Uint, Doc: "highest occupancy of an interval"},
	)
	linkRecords = mustSchema("links",
		filter.Field{Name: "from", Kind: filter.Node, Column: "from_node", Doc: "node that packets left"},
		filter.Field{Name: "from_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		filter.Field{Name: "to", Kind: filter.Node, Column: "to_node", Doc: "node that packets came to"},
		filter.Field{Name: "to_port", Kind: filter.Uint, Doc: "level 1 interface by which packets came in"},
		filter.Field{Name: "node", Kind: filter.Node, Any: []string{"from", "to"}, Doc: "either node"},
		filter.Field{Name: "packets", Kind: filter.Uint, Doc: "packets of an interval"},
		filter.Field{
			Name: "utilization.mean", Kind: filter.Float, Unit: "of the device",
			Doc: "mean utilization of the egress port, of an interval",
		},
		filter.Field{
			Name: "utilization.max", Aliases: []string{"utilization"}, Kind: filter.Uint,
			Unit: "of the device", Doc: "highest utilization of the egress port, of an interval",
		},
	)
)

// What is kept of hops is kept by node and time, not by flow or path.
const (
	askHops   = "ask for hops of the time range, with latency.max or latency.mean"
	askQueues = "ask for queues of the time range, with occupancy.max"
)

// nodeName is the name of the node of a record.
var nodeName = filter.Field{Name: "name", Kind: filter.Text, NameOf: "node", Doc: "its name, if it has one"}

// mustSchema panics on fields that contradict each other, before anything can depend on them.
func mustSchema(name string, fields ...filter.Field) *filter.Schema {
	s, err := filter.NewSchema(name, fields...)
	if err != nil {
		panic("api: " + name + ": " + err.Error())
	}
	return s
}
