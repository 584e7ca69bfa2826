package filter

import (
	"reflect"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// Tables of the lists of the API. Their fields are declared at the types of the items, see package catalogue; what
// stands here is no field of an item.
var (
	FlowTable     = TableOf("flows", flowFields...)
	PathTable     = TableOf("paths", pathFields...)
	HopTable      = TableOf[telemetry.NodeHop]("hops")
	NodeTable     = TableOf[telemetry.Node]("nodes")
	QueueTable    = TableOf("queues", queueFields...)
	LinkTable     = TableOf[telemetry.Link]("links")
	DropTable     = TableOf[telemetry.Drop]("drops")
	EventTable    = TableOf("events", eventFields...)
	IncidentTable = TableOf("incidents", incidentFields...)
	AttackTable   = TableOf("attacks", attackFields...)
	BurstTable    = TableOf[telemetry.Burst]("bursts")
	HostTable     = TableOf("hosts", hostFields...)
	ExporterTable = TableOf("exporters", exporterFields...)
	LossTable     = TableOf[telemetry.Loss]("loss")
	ClockTable    = TableOf[telemetry.Clock]("clocks")
	CableTable    = TableOf[telemetry.Cable]("cables")
	TopologyTable = TableOf("topology", topologyFields...)
	ReportTable   = TableOf("reports", reportFields()...)
)

// Schemas of the lists that others than the API ask too. They know no names of nodes: see Schema.WithNodes.
var (
	Flows     = FlowTable.Schema()
	Paths     = PathTable.Schema()
	Hops      = HopTable.Schema()
	Drops     = DropTable.Schema()
	Events    = EventTable.Schema()
	Exporters = ExporterTable.Schema()
	Reports   = ReportTable.Schema()
)

// Schemas returns all that are known here, in the order of the reference.
func Schemas() []*Schema {
	return []*Schema{
		Flows, Paths, Hops, NodeTable.Schema(), QueueTable.Schema(), LinkTable.Schema(), Drops, Events,
		IncidentTable.Schema(), AttackTable.Schema(), BurstTable.Schema(),
		HostTable.Schema(), Exporters, LossTable.Schema(), ClockTable.Schema(),
		CableTable.Schema(), TopologyTable.Schema(), Reports,
	}
}

// MustSchema is NewSchema for fields of this program: it panics if they contradict each other, before anything can
// depend on them.
func MustSchema(name string, fields ...Field) *Schema {
	s, err := NewSchema(name, fields...)
	if err != nil {
		panic("filter: " + name + ": " + err.Error())
	}
	return s
}

// SchemaOf returns the schema of the records of a type, of which a store has the columns that their tags store name.
func SchemaOf(name string, record reflect.Type) *Schema {
	list := catalogue.Of(record)
	fields := fieldsOf(list)
	for i := range fields {
		j := slices.IndexFunc(list, func(c catalogue.Field) bool { return c.Filter.Name == fields[i].Name })
		fields[i].Column, fields[i].Elsewhere = list[j].Column, append(fields[i].Elsewhere, list[j].Column)
	}
	return MustSchema(name, fields...)
}

// pathElements are the hops of a flow or a path, together.
func pathElements[T any](hops func(*T) *[]telemetry.PathHop) []Computed[T] {
	return []Computed[T]{
		{
			Field{Name: "node", Aliases: []string{"hop.node"}, Kind: Node, Many: true, Doc: "each node on the way"},
			nth(hops, func(h *telemetry.PathHop) (Value, bool) { return optional(h.Node) }),
		},
		{
			Field{Name: "hops", Kind: Uint, Doc: "number of hops; missing ones count"},
			func(item *T, _ int) (Value, bool) {
				n := 0
				if list := hops(item); list != nil {
					for i := range *list {
						n += max((*list)[i].Missing, 1)
					}
				}
				return FromUint(uint64(n)), true
			},
		},
		{
			Field{
				Name: "hop.latency", Kind: Duration, Many: true, Doc: "longest time that a packet spent in each hop",
				// What is kept of hops is kept by node and time, not by flow or path.
				Live: "ask for hops of the time range, with latency.max or latency.mean",
			},
			nth(hops, func(h *telemetry.PathHop) (Value, bool) {
				if h.LatencyNs == nil {
					return Value{}, false
				}
				return FromDuration(time.Duration(h.LatencyNs.Max)), true
			}),
		},
		{
			Field{
				Name: "hop.queue_occupancy", Aliases: []string{"hop.queue"}, Kind: Uint, Unit: "of the device",
				Many: true,
				Doc:  "highest queue occupancy at each hop", Live: "ask for queues of the time range, with occupancy.max",
			},
			nth(hops, func(h *telemetry.PathHop) (Value, bool) {
				if h.Queue == nil {
					return Value{}, false
				}
				return FromUint(uint64(h.Queue.Max)), true
			}),
		},
	}
}

// flowFields are of the path of the latest packet, but path.
var flowFields = append(
	pathElements(func(f *telemetry.Flow) *[]telemetry.PathHop {
		if len(f.Paths) == 0 {
			return nil
		}
		return &f.Paths[0].Hops
	}),
	Computed[telemetry.Flow]{
		Field{
			Name: "path", Aliases: []string{"path_id"}, Kind: Text, Many: true, Doc: "id of each path that is remembered",
		},
		nth(func(f *telemetry.Flow) *[]telemetry.FlowPath { return &f.Paths },
			func(p *telemetry.FlowPath) (Value, bool) {
				return FromText(p.ID), true
			}),
	},
	Computed[telemetry.Flow]{
		Field{
			Name: "outer.port", Kind: Uint, Many: true, Doc: "either port of the tunnel",
			Live: "ask for the flows of now",
		},
		func(f *telemetry.Flow, i int) (Value, bool) {
			if f.Outer == nil || i > 1 {
				return Value{}, false
			}
			return FromUint(uint64([...]uint16{f.Outer.SrcPort, f.Outer.DstPort}[i])), true
		},
	},
)

var pathFields = append(
	pathElements(func(p *telemetry.Path) *[]telemetry.PathHop { return &p.Hops }),
	Computed[telemetry.Path]{
		Field{Name: "dropped", Kind: Bool, Doc: "packets were dropped at its last hop"},
		func(p *telemetry.Path, _ int) (Value, bool) {
			return FromBool(len(p.Hops) > 0 && p.Hops[len(p.Hops)-1].Dropped), true
		},
	},
)

var queueFields = []Computed[telemetry.QueueDepth]{
	{
		Field{Name: "samples", Kind: Uint, Doc: "packets that told how long it was"},
		func(q *telemetry.QueueDepth, _ int) (Value, bool) {
			if q.Depth == nil {
				return Value{}, false
			}
			return FromUint(q.Depth.Count), true
		},
	},
	{
		Field{
			Name: "occupancy.max", Aliases: []string{"occupancy"}, Kind: Uint, Unit: "of the device",
			Doc: "highest occupancy",
		},
		func(q *telemetry.QueueDepth, _ int) (Value, bool) {
			if q.Depth == nil {
				return Value{}, false
			}
			return FromUint(q.Depth.Max), true
		},
	},
}

var exporterFields = []Computed[telemetry.Exporter]{{
	Field{
		Name: "completeness", Kind: Ratio, Column: "(received / nullif(received + lost, 0))",
		Reads: []string{"received", "lost"},
		Doc:   "share of the datagrams that arrived, where sequence numbers tell",
	},
	func(e *telemetry.Exporter, _ int) (Value, bool) {
		if e.Lost == nil || e.Received+*e.Lost == 0 {
			return Value{}, false
		}
		return FromFloat(float64(e.Received) / float64(e.Received+*e.Lost)), true
	},
}}

// hostFields are of the places of a host: it fulfils what is asked about places if one of them does.
var hostFields = []Computed[telemetry.Host]{
	{
		Field{Name: "node", Kind: Node, Many: true, Doc: "each node where it was seen"},
		nth(placesOf, func(p *telemetry.HostPlace) (Value, bool) { return FromUint(uint64(p.Node)), true }),
	},
	{
		Field{Name: "name", Kind: Text, Many: true, Doc: "their names"},
		nth(placesOf, func(p *telemetry.HostPlace) (Value, bool) { return textValue(&p.Name) }),
	},
	{
		Field{Name: "port", Kind: Uint, Many: true, Doc: "each port behind which it was seen"},
		nth(placesOf, func(p *telemetry.HostPlace) (Value, bool) { return optional(p.Port) }),
	},
	{
		Field{Name: "places", Kind: Uint, Doc: "at how many places it was seen"},
		func(h *telemetry.Host, _ int) (Value, bool) { return FromUint(uint64(len(h.Places))), true },
	},
	{
		Field{Name: "packets", Kind: Uint, Doc: "packets from it or to it, at the latest place"},
		latestPlace(func(p *telemetry.HostPlace) Value { return FromUint(p.Packets) }),
	},
	{
		Field{Name: "confidence", Kind: Float, Doc: "how sure it is that it is there, 0 to 1"},
		latestPlace(func(p *telemetry.HostPlace) Value { return FromFloat(p.Confidence) }),
	},
	{
		Field{Name: "first", Kind: Time, Doc: "when it was first seen at the latest place"},
		latestPlace(func(p *telemetry.HostPlace) Value { return FromTime(p.First) }),
	},
	{
		Field{Name: "last", Kind: Time, Doc: "when it was seen last"},
		latestPlace(func(p *telemetry.HostPlace) Value { return FromTime(p.Last) }),
	},
}

func placesOf(h *telemetry.Host) *[]telemetry.HostPlace { return &h.Places }

// latestPlace returns the value at the place where a host was seen last.
func latestPlace(value func(*telemetry.HostPlace) Value) ValueOf[telemetry.Host] {
	return func(h *telemetry.Host, _ int) (Value, bool) {
		if len(h.Places) == 0 {
			return Value{}, false
		}
		return value(&h.Places[0]), true
	}
}

var topologyFields = []Computed[telemetry.TopologyNode]{
	{
		Field{Name: "port", Kind: Uint, Many: true, Doc: "each of its ports"},
		nth(portsOf, func(p *telemetry.NodePort) (Value, bool) { return FromUint(uint64(p.Port)), true }),
	},
	{
		Field{Name: "to", Kind: Node, Many: true, Doc: "each node behind its ports"},
		nth(portsOf, func(p *telemetry.NodePort) (Value, bool) { return optional(p.ToNode) }),
	},
}

func portsOf(n *telemetry.TopologyNode) *[]telemetry.NodePort { return &n.Ports }

// eventFields are of both ends, if an event has two.
var eventFields = []Computed[telemetry.Event]{
	{
		Field{Name: "duration", Kind: Duration, Doc: "end minus start, unless it goes on"},
		func(e *telemetry.Event, _ int) (Value, bool) {
			if e.End == nil {
				return Value{}, false
			}
			return FromDuration(e.End.Sub(e.Start)), true
		},
	},
	{
		Field{
			Name: "acknowledged", Kind: Bool, Doc: "somebody acknowledged it", Live: "ask for the events of now",
		},
		func(e *telemetry.Event, i int) (Value, bool) { return FromBool(e.Acknowledged != nil), i == 0 },
	},
	{
		Field{Name: "node", Kind: Node, Many: true, Doc: "each node that takes part"},
		func(e *telemetry.Event, i int) (Value, bool) {
			if e.Node == nil {
				i++
			}
			return optional([...]*uint32{e.Node, e.ToNode, nil}[min(i, 2)])
		},
	},
	{
		Field{Name: "name", Kind: Text, Many: true, Doc: "name of each node that takes part and has one"},
		func(e *telemetry.Event, i int) (Value, bool) {
			if e.Name == "" {
				i++
			}
			name := [...]string{e.Name, e.ToName, ""}[min(i, 2)]
			return textValue(&name)
		},
	},
}

// incidentFields are of both ends of the cause, if it has two.
var incidentFields = []Computed[telemetry.Incident]{
	{
		Field{Name: "duration", Kind: Duration, Doc: "end minus start, unless it goes on"},
		func(n *telemetry.Incident, _ int) (Value, bool) {
			if n.End == nil {
				return Value{}, false
			}
			return FromDuration(n.End.Sub(n.Start)), true
		},
	},
	{
		Field{Name: "acknowledged", Kind: Bool, Doc: "an operator has acknowledged it"},
		func(n *telemetry.Incident, i int) (Value, bool) { return FromBool(n.Acknowledged != nil), i == 0 },
	},
	{
		Field{Name: "node", Kind: Node, Many: true, Doc: "each node of the cause"},
		func(n *telemetry.Incident, i int) (Value, bool) {
			if n.Node == nil {
				i++
			}
			return optional([...]*uint32{n.Node, n.ToNode, nil}[min(i, 2)])
		},
	},
}

// attackFields are of the sources of an attack: it fulfils what is asked about a device if one of them does.
var attackFields = []Computed[telemetry.Attack]{
	{
		Field{Name: "duration", Kind: Duration, Doc: "end minus begin, unless it goes on"},
		func(a *telemetry.Attack, _ int) (Value, bool) {
			if a.End == nil {
				return Value{}, false
			}
			return FromDuration(a.End.Sub(a.Begin)), true
		},
	},
	{
		Field{Name: "device", Kind: Text, Many: true, Doc: "MAC address of each device that sends it"},
		nth(devicesOf, func(s *telemetry.AttackSource) (Value, bool) { return FromText(s.Device), true }),
	},
	{
		Field{Name: "gateway", Kind: Node, Many: true, Doc: "each first node on its way"},
		nth(func(a *telemetry.Attack) *[]telemetry.AttackSource { return &a.Gateways },
			func(s *telemetry.AttackSource) (Value, bool) { return optional(s.Node) }),
	},
}

func devicesOf(a *telemetry.Attack) *[]telemetry.AttackSource { return &a.Devices }

// optional returns a number that may not be known.
func optional[N uint8 | uint32](n *N) (Value, bool) {
	if n == nil {
		return Value{}, false
	}
	return FromUint(uint64(*n)), true
}
