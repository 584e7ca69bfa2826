package duckdb

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/waybill-int/waybill/telemetry"
)

// An appender puts a row together, column by column in the order of the table.
type appender struct {
	to  *duckdb.Appender
	row []driver.Value
}

func (a *appender) add(values ...driver.Value) { a.row = append(a.row, values...) }

// end ends a row.
func (a *appender) end() error {
	err := a.to.AppendRow(a.row...)
	a.row = a.row[:0]
	return err
}

// if_ adds a value, or NULL if there is none.
func (a *appender) known(known bool, v driver.Value) {
	if !known {
		v = nil
	}
	a.add(v)
}

func (a *appender) time(ns int64) { a.add(time.Unix(0, ns).UTC()) }

func (a *appender) address(known bool, v telemetry.Addr) {
	a.known(known, v.Hi)
	a.known(known, v.Lo)
}

func (a *appender) flowKey(known bool, k *telemetry.FlowKey) {
	a.address(known, k.Src)
	a.address(known, k.Dst)
	a.known(known, k.SrcPort)
	a.known(known, k.DstPort)
	a.known(known, k.Protocol)
	tunnel := known && k.Tunnel != telemetry.TunnelNone
	a.known(tunnel, uint8(k.Tunnel))
	a.known(tunnel, k.TunnelID)
}

func (a *appender) moments(count, sum, low, high uint64) {
	a.add(count, sum)
	a.known(count > 0, int64(low))
	a.known(count > 0, int64(high))
}

// histogram adds the buckets that have counts.
func (a *appender) histogram(h *telemetry.Histogram) {
	a.moments(h.Count, h.Sum, h.Min, h.Max)
	if h.Count == 0 {
		a.add(nil, nil, nil)
		return
	}
	var buckets []int16
	var counts []uint64
	for i, n := range h.Counts {
		if n > 0 {
			buckets, counts = append(buckets, h.Start+int16(i)), append(counts, n)
		}
	}
	a.add(h.Scale, buckets, counts)
}

func appendFlow(a *appender, r *telemetry.FlowInterval) {
	a.time(r.StartNs)
	a.add(r.Key.Hash())
	a.flowKey(true, &r.Key)
	tunnel := r.Key.Tunnel != telemetry.TunnelNone
	a.address(tunnel, r.OuterSrc)
	a.address(tunnel, r.OuterDst)
	a.add(r.DSCP)
	if r.HasDevice {
		a.add(device(r.Device))
	} else {
		a.add(nil)
	}
	a.known(r.Path != 0, r.Path)
	a.add(r.Reports, r.Packets, r.Bytes, r.Drops, r.PathChanges)
	a.moments(r.Residence.Count, r.Residence.Sum, r.Residence.Min, r.Residence.Max)
	a.known(r.Residence.Count > 0, int64(r.Residence.P50))
	a.known(r.Residence.Count > 0, int64(r.Residence.P99))
	a.moments(r.EndToEnd.Count, r.EndToEnd.Sum, r.EndToEnd.Min, r.EndToEnd.Max)
}

// device is a Transparent Security source device: normally a MAC address and two zero bytes.
func device(v uint64) string {
	mac := make(net.HardwareAddr, 8)
	for i := range mac {
		mac[i] = byte(v >> (56 - 8*i))
	}
	if v&0xffff == 0 {
		mac = mac[:6]
	}
	return mac.String()
}

func appendPath(a *appender, r *telemetry.PathInterval) {
	a.time(r.StartNs)
	a.add(r.Path, r.Packets, r.Incomplete, r.ClockErrors)
	a.histogram(&r.Residence)
	a.histogram(&r.EndToEnd)
}

func (a *appender) node(p *telemetry.Place) { a.known(p.Has&telemetry.HasNode != 0, p.Node) }
func (a *appender) ingress(p *telemetry.Place) {
	a.known(p.Has&telemetry.HasIngressPort != 0, p.IngressPort)
}

func (a *appender) egress(p *telemetry.Place) {
	a.known(p.Has&telemetry.HasEgressPort != 0, p.EgressPort)
}

func appendHop(a *appender, r *telemetry.HopInterval) {
	a.time(r.StartNs)
	a.node(&r.Place)
	a.ingress(&r.Place)
	a.egress(&r.Place)
	a.add(r.Has&telemetry.HasDrop != 0, r.Packets)
	a.histogram(&r.Latency)
}

func appendQueue(a *appender, r *telemetry.QueueInterval) {
	a.time(r.StartNs)
	a.node(&r.Place)
	a.egress(&r.Place)
	a.add(r.Queue, r.Samples, r.Sum, r.Max)
}

func appendLink(a *appender, r *telemetry.LinkInterval) {
	a.time(r.StartNs)
	a.node(&r.From)
	a.egress(&r.From)
	a.node(&r.To)
	a.ingress(&r.To)
	a.add(r.Packets)
	a.histogram(&r.Delay)
	a.known(r.Delay.Count > 0, int64(r.DelayUncertaintyNs))
	a.add(r.DelayClamped)
	u := &r.Utilization
	a.add(u.Samples, u.Sum)
	a.known(u.Samples > 0, u.Max)
}

func appendDrop(a *appender, r *telemetry.DropInterval) {
	a.time(r.StartNs)
	a.node(&r.Place)
	a.ingress(&r.Place)
	a.egress(&r.Place)
	a.add(r.Reason, r.Reasons.Name(r.Reason))
	a.known(r.DropKey != 0, fmt.Sprintf("%016x", r.DropKey))
	a.flowKey(r.HasFlow, &r.Flow)
	a.add(r.Packets)
}

func appendExporter(a *appender, r *telemetry.ExporterInterval) {
	a.time(r.StartNs)
	a.address(true, telemetry.AddrFrom(r.Source))
	a.known(r.HasNode, r.Node)
	a.known(r.HasHWID, r.HWID)
	a.known(r.Version != "", r.Version)
	a.known(r.Dialect != "", r.Dialect)
	a.add(r.LossKnown, r.Received, r.Reports)
	a.known(r.LossKnown == "yes", r.Lost)
	a.add(r.Reordered, r.Duplicate, r.Restarted, r.Malformed, r.Damaged)
}

func appendRoute(a *appender, r *telemetry.Route) {
	a.time(r.StartNs)
	dropped := false
	hops := 0
	nodes := []uint32{}
	text := ""
	for i := range r.Stations {
		at := &r.Stations[i]
		if i > 0 {
			text += " > "
		}
		if at.Missing > 0 {
			hops += int(at.Missing)
			text += fmt.Sprintf("?(%d)", at.Missing)
			continue
		}
		hops++
		dropped = dropped || at.Has&telemetry.HasDrop != 0
		if at.Has&telemetry.HasNode != 0 {
			nodes = append(nodes, at.Node)
		}
		text += at.Place.String()
	}
	a.add(r.Path, r.Uncertain, dropped, uint32(hops), nodes, text)
}

func appendEvent(a *appender, e *telemetry.Event) {
	a.add(e.Start.UTC(), e.ID)
	version := e.Count << 1
	if e.End != nil {
		version |= 1
	}
	a.add(version, uint8(e.Kind), uint8(e.Severity))
	if e.End != nil {
		a.add(e.End.UTC(), int64(e.End.Sub(e.Start)))
	} else {
		a.add(nil, nil)
	}
	nodes, names := []uint32{}, []string{}
	for _, n := range []*uint32{e.Node, e.ToNode} {
		if n != nil {
			nodes = append(nodes, *n)
		}
	}
	for _, name := range []string{e.Name, e.ToName} {
		if name != "" {
			names = append(names, name)
		}
	}
	a.add(e.Count, e.Text, nodes, names)
	number(a, e.Port)
	number(a, e.Queue)
	number(a, e.ToNode)
	number(a, e.ToPort)
	number(a, e.Reason)
	a.known(e.ReasonName != "", e.ReasonName)
	source, err := netip.ParseAddr(e.Source)
	a.address(err == nil, addressOf(source))
	a.known(e.Path != "", e.Path)
	a.endpoints(e.Flow)
	text, err := json.Marshal(e)
	a.known(err == nil, string(text))
	a.known(e.Rule != "", e.Rule)
}

// endpoints adds those of an answer, which may be missing.
func (a *appender) endpoints(e *telemetry.Endpoints) {
	if e == nil {
		a.add(nil, nil, nil, nil, nil, nil, nil, nil, nil)
		return
	}
	a.address(true, telemetry.AddrFrom(e.Src))
	a.address(true, telemetry.AddrFrom(e.Dst))
	protocol, known := protocolNumber(e.Protocol)
	a.add(e.SrcPort, e.DstPort)
	a.known(known, protocol)
	a.known(e.Tunnel != "", tunnelNumber(e.Tunnel))
	number(a, e.TunnelID)
}

func number[T uint8 | uint32](a *appender, v *T) {
	if v == nil {
		a.add(nil)
		return
	}
	a.add(*v)
}

func addressOf(a netip.Addr) telemetry.Addr {
	if !a.IsValid() {
		return telemetry.Addr{}
	}
	return telemetry.AddrFrom(a)
}

// protocolNumber is the number of an IP protocol that telemetry gave a name.
func protocolNumber(name string) (uint8, bool) {
	for n := range 256 {
		if telemetry.ProtocolName(uint8(n)) == name {
			return uint8(n), true
		}
	}
	return 0, false
}

func tunnelNumber(name string) uint8 {
	for t := telemetry.TunnelNone; t <= telemetry.TunnelIP; t++ {
		if t.String() == name {
			return uint8(t)
		}
	}
	return 0
}
