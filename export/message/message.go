package message

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/dissect"
)

// A Format is how records are written.
type Format string

// Formats.
const (
	JSON     Format = "json"
	Protobuf Format = "protobuf"
)

// Check refuses what is no format; "" is JSON.
func (f Format) Check() error {
	if f != "" && f != JSON && f != Protobuf {
		return fmt.Errorf("format: got %q, want json or protobuf", string(f))
	}
	return nil
}

// ContentType is the media type of messages.
func (f Format) ContentType() string {
	if f == Protobuf {
		return "application/protobuf"
	}
	return "application/json"
}

// Takes lists the kinds of records that have messages. The first usual ones are those that are sent if nobody chooses.
func (f Format) Takes() (all []export.Kind, usual int) {
	all = []export.Kind{export.Flows, export.Events, export.Incidents, export.Paths, export.Routes}
	if f != Protobuf { // whose schema cannot say what formats of reports there will be
		all = append(all, export.Reports)
	}
	return all, 3
}

// A Message is a record as it is sent.
type Message struct {
	// Key is the id of what it is about: messages with the same key are about the same thing.
	Key string
	// Type is the name of its message in waybill.proto, without the package.
	Type  string
	Value []byte
}

// Encode writes a record. names are those of nodes.
func (f Format) Encode(r export.Record, names map[uint32]string) (m Message, err error) {
	var v any
	if of, ok := r.Of.(*export.Datagram); ok && f != Protobuf {
		return Message{of.Source.Addr().Unmap().String(), "Report", reportJSON(of)}, nil
	}
	switch of := r.Of.(type) {
	case *telemetry.FlowInterval:
		flow := flowOf(of)
		m.Key, v = *flow.ID, flow
	case *telemetry.PathInterval:
		m.Key, v = fmt.Sprintf("%016x", of.Path), pathOf(of)
	case *telemetry.Route:
		m.Key, v = fmt.Sprintf("%016x", of.Path), routeOf(of, names)
	case *telemetry.Event:
		event := *of // without what lists of events leave out, too
		event.Attack, event.Extent = nil, nil
		m.Key, v = of.ID, &event
	case *telemetry.Incident:
		m.Key, v = of.ID, of
	default:
		return m, fmt.Errorf("%v have no message", r.Kind)
	}
	m.Type = reflect.TypeOf(v).Elem().Name()
	if f == Protobuf {
		m.Value = appendMessage(nil, v)
		return m, nil
	}
	m.Value, err = json.Marshal(v)
	return m, err
}

// reportJSON is a datagram as waybill decode -o json has it, with who sent it.
func reportJSON(d *export.Datagram) []byte {
	source := netip.AddrPortFrom(d.Source.Addr().Unmap(), d.Source.Port())
	b := append([]byte(nil), `{"time":"`...)
	b = at(d.TimeNs).AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","source":"`...)
	b = source.AppendTo(b)
	b = append(b, `","port":`...)
	b = strconv.AppendUint(b, uint64(d.Port), 10)
	b = append(b, `,"length":`...)
	b = strconv.AppendInt(b, int64(len(d.Payload)), 10)
	if d.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	b = append(b, `,"layers":`...)
	b = dissect.AppendJSON(b, dissect.Datagram(d.Payload, source, d.Port, d.Points))
	return append(b, '}')
}

func flowOf(r *telemetry.FlowInterval) *types.FlowRecord {
	e, start, id := telemetry.EndpointsOf(&r.Key), at(r.StartNs), FlowID(&r.Key)
	f := &types.FlowRecord{
		Start: &start, ID: &id, Src: &e.Src, Dst: &e.Dst, SrcPort: &r.Key.SrcPort, DstPort: &r.Key.DstPort,
		Protocol: (*types.Protocol)(&r.Key.Protocol), TunnelID: e.TunnelID, DSCP: &r.DSCP,
		Packets: &r.Packets, Bytes: &r.Bytes, Drops: &r.Drops, Reports: &r.Reports, PathChanges: &r.PathChanges,
		EndToEnd: mean(r.EndToEnd.Sum, r.EndToEnd.Count),
	}
	if r.Path != 0 {
		f.Path = (*types.PathID)(&r.Path)
	}
	if r.HasDevice {
		device := telemetry.DeviceText(r.Device)
		f.Device = &device
	}
	if s := &r.Residence; s.Count > 0 {
		f.ResidenceMin, f.Residence, f.ResidenceMax = ns(s.Min), mean(s.Sum, s.Count), ns(s.Max)
	}
	if s := r.Sample.Sample(r.Packets, 0); s != nil {
		f.Sample, f.Rate, f.Complete = &s.Kind, s.Rate, s.Complete
	}
	if r.PacketsEstimated > 0 {
		f.PacketsEstimated, f.BytesEstimated = &r.PacketsEstimated, &r.BytesEstimated
	}
	return f
}

func pathOf(r *telemetry.PathInterval) *types.PathRecord {
	start := at(r.StartNs)
	p := &types.PathRecord{
		Start: &start, ID: (*types.PathID)(&r.Path),
		Packets: &r.Packets, Incomplete: &r.Incomplete, ClockErrors: &r.ClockErrors,
		EndToEnd: mean(r.EndToEnd.Sum, r.EndToEnd.Count),
	}
	if h := &r.Residence; h.Count > 0 {
		p.ResidenceMin, p.Residence, p.ResidenceMax = ns(h.Min), mean(h.Sum, h.Count), ns(h.Max)
		p.ResidenceP50, p.ResidenceP99 = ns(h.Quantile(0.5)), ns(h.Quantile(0.99))
	}
	if s := r.Sample.Sample(r.Packets, int64(r.Incomplete)); s != nil {
		p.Sample, p.Rate, p.Complete = &s.Kind, s.Rate, s.Complete
	}
	return p
}

// A Route is the way that a path leads.
type Route struct {
	Start     time.Time           `json:"start"`
	ID        types.PathID        `json:"id"`
	Uncertain bool                `json:"uncertain"`
	Hops      []telemetry.PathHop `json:"hops"`
}

func routeOf(r *telemetry.Route, names map[uint32]string) *Route {
	route := &Route{Start: at(r.StartNs), ID: types.PathID(r.Path), Uncertain: r.Uncertain, Hops: []telemetry.PathHop{}}
	for i := range r.Elements {
		e := &r.Elements[i]
		hop := telemetry.PathHop{Missing: int(e.Missing), Dropped: e.Has&telemetry.HasDrop != 0}
		if e.Has&telemetry.HasNode != 0 {
			hop.Node, hop.Name = &e.Node, names[e.Node]
		}
		if e.Has&telemetry.HasIngressPort != 0 {
			hop.IngressPort = &e.IngressPort
		}
		if e.Has&telemetry.HasEgressPort != 0 {
			hop.EgressPort = &e.EgressPort
		}
		route.Hops = append(route.Hops, hop)
	}
	return route
}

// FlowID is the id of a flow, as the API has it.
func FlowID(k *telemetry.FlowKey) string { return fmt.Sprintf("%016x", k.Hash()) }

func at(ns int64) time.Time { return time.Unix(0, ns).UTC() }

func ns(v uint64) *int64 {
	n := int64(v)
	return &n
}

func mean(sum, count uint64) *int64 {
	if count == 0 {
		return nil
	}
	return ns(sum / count)
}
