package filter

import (
	"slices"
	"strconv"

	"github.com/waybill-int/waybill/telemetry"
)

// Schemas of the lists of the API, with the names of their fields there (telemetry, records.go). They know no names of
// nodes: see Schema.WithNodes.
var (
	Flows     = mustSchema("flows", flowFields)
	Paths     = mustSchema("paths", pathFields)
	Hops      = mustSchema("hops", hopFields)
	Drops     = mustSchema("drops", dropFields)
	Events    = mustSchema("events", eventFields)
	Exporters = mustSchema("exporters", exporterFields)
	Reports   = mustSchema("reports", reportFields)
)

// Schemas returns all of them, in the order of the reference.
func Schemas() []*Schema { return []*Schema{Flows, Paths, Hops, Drops, Events, Exporters, Reports} }

// mustSchema panics on fields that contradict each other, before anything can depend on them.
func mustSchema(name string, fields []Field) *Schema {
	s, err := NewSchema(name, fields...)
	if err != nil {
		panic("filter: " + name + ": " + err.Error())
	}
	return s
}

// endpoints are the fields of telemetry.Endpoints; what says of what.
func endpoints(what string) []Field {
	return []Field{
		{Name: "src", Kind: Address, Doc: "source address" + what},
		{Name: "dst", Kind: Address, Doc: "destination address" + what},
		{Name: "addr", Kind: Address, Any: []string{"src", "dst"}, Doc: "either address" + what},
		{Name: "src_port", Kind: Uint, Doc: "source port" + what + "; 0 if the protocol has none"},
		{Name: "dst_port", Kind: Uint, Doc: "destination port" + what},
		{Name: "port", Kind: Uint, Any: []string{"src_port", "dst_port"}, Doc: "either port" + what},
		{Name: "protocol", Aliases: []string{"proto"}, Kind: Enum, Choices: protocols(), Doc: "IP protocol" + what},
		{Name: "tunnel", Kind: Enum, Choices: tunnels(), Doc: "kind of tunnel" + what},
		{Name: "tunnel_id", Aliases: []string{"vni"}, Kind: Uint, Doc: "VNI or GRE key" + what},
	}
}

// protocols are the IP protocols that have a name.
func protocols() []Choice {
	var choices []Choice
	for n := range 256 {
		if name := telemetry.ProtocolName(uint8(n)); name != strconv.Itoa(n) {
			choices = append(choices, Choice{Name: name, Number: uint64(n)})
		}
	}
	return choices
}

func tunnels() []Choice {
	var choices []Choice
	for t := telemetry.TunnelVXLAN; t <= telemetry.TunnelIP; t++ {
		choices = append(choices, Choice{Name: t.String(), Number: uint64(t)})
	}
	return choices
}

// seen are when the first and the last report about something were received.
func seen() []Field {
	return []Field{
		{Name: "first", Kind: Time, Doc: "when the first report about it was received"},
		{Name: "last", Kind: Time, Doc: "when the latest report about it was received"},
	}
}

// place are the node and the ports where something happened.
func place() []Field {
	return []Field{
		{Name: "node", Kind: Node, Doc: "the node"},
		{Name: "name", Kind: Text, NameOf: "node", Doc: "name of the node, if it has one"},
		{Name: "ingress_port", Kind: Uint, Doc: "level 1 interface by which packets came in"},
		{Name: "egress_port", Kind: Uint, Doc: "level 1 interface by which packets left"},
	}
}

// delays are the durations of flows and paths.
func delays() []Field {
	return []Field{
		{Name: "residence.min", Kind: Duration, Doc: "shortest time in all hops together"},
		{Name: "residence.mean", Aliases: []string{"latency", "residence"}, Kind: Duration, Doc: "mean time in all hops together"},
		{Name: "residence.p50", Kind: Duration, Doc: "median of the time in all hops together"},
		{Name: "residence.p99", Kind: Duration, Doc: "99th percentile of the time in all hops together"},
		{Name: "residence.max", Kind: Duration, Doc: "longest time in all hops together"},
		{Name: "end_to_end.min", Kind: Duration, Doc: "shortest time from the first hop to the last, by two clocks"},
		{Name: "end_to_end.mean", Aliases: []string{"end_to_end"}, Kind: Duration, Doc: "mean time from the first hop to the last"},
		{Name: "end_to_end.max", Kind: Duration, Doc: "longest time from the first hop to the last"},
	}
}

// stations are the hops of a flow or a path, together.
func stations() []Field {
	return []Field{
		{Name: "node", Aliases: []string{"hop.node"}, Kind: Node, Many: true, Doc: "each node on the way"},
		{Name: "hops", Kind: Uint, Doc: "number of hops; missing ones count"},
		{Name: "hop.latency", Kind: Duration, Many: true, Doc: "longest time that a packet spent in each hop"},
		{Name: "hop.queue", Kind: Uint, Unit: "of the device", Many: true, Doc: "highest queue occupancy at each hop"},
	}
}

// without returns the fields but those with the names.
func without(fields []Field, names ...string) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return slices.Contains(names, f.Name) })
}
