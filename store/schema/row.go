package schema

import (
	"database/sql/driver"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Row is put together column by column, in the order of the table. Lists are []uint32, []string, []int16 and
// []uint64; nil is NULL.
type Row []driver.Value

func (a *Row) add(values ...driver.Value) { *a = append(*a, values...) }

// known adds a value, or NULL if there is none.
func (a *Row) known(known bool, v driver.Value) {
	if !known {
		v = nil
	}
	a.add(v)
}

func (a *Row) time(ns int64) { a.add(time.Unix(0, ns).UTC()) }

// address adds an address; nil is not known.
func (a *Row) address(v *telemetry.Addr) {
	if v == nil {
		a.add(nil, nil)
		return
	}
	a.add(v.Hi, v.Lo)
}

// flowKey adds the columns of endpoints; nil is not known.
func (a *Row) flowKey(k *telemetry.FlowKey) {
	if k == nil {
		a.add(nil, nil, nil, nil, nil, nil, nil, nil, nil)
		return
	}
	a.add(k.Src.Hi, k.Src.Lo, k.Dst.Hi, k.Dst.Lo, k.SrcPort, k.DstPort, k.Protocol)
	tunnel := k.Tunnel != telemetry.TunnelNone
	a.known(tunnel, uint8(k.Tunnel))
	a.known(tunnel, k.TunnelID)
}

func (a *Row) summary(m *telemetry.LatencySummary) {
	a.add(m.Count, m.Sum)
	a.known(m.Count > 0, int64(m.Min))
	a.known(m.Count > 0, int64(m.Max))
}

// histogram adds the buckets that have counts.
func (a *Row) histogram(h *telemetry.Histogram) {
	a.summary(&telemetry.LatencySummary{Count: h.Count, Sum: h.Sum, Min: h.Min, Max: h.Max})
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

func appendRoute(a *Row, r *telemetry.Route) {
	dropped := false
	hops := 0
	nodes := []uint32{}
	for i := range r.Elements {
		at := &r.Elements[i]
		if at.Missing > 0 {
			hops += int(at.Missing)
			continue
		}
		hops++
		dropped = dropped || at.Has&telemetry.HasDrop != 0
		if at.Has&telemetry.HasNode != 0 {
			nodes = append(nodes, at.Node)
		}
	}
	a.add(r.Path, r.Uncertain, dropped, uint32(hops), nodes, telemetry.FormatElements(r.Elements))
}

func appendEvent(a *Row, e *telemetry.Event) {
	a.add(e.ID)
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
	if addr := addressOf(source); err == nil {
		a.address(&addr)
	} else {
		a.address(nil)
	}
	a.known(e.Path != "", e.Path)
	a.endpoints(e.Flow)
	text, err := json.Marshal(e)
	a.known(err == nil, string(text))
	a.known(e.Rule != "", e.Rule)
}

// endpoints adds those of an answer, which may be missing.
func (a *Row) endpoints(e *telemetry.Endpoints) {
	if e == nil {
		a.add(nil, nil, nil, nil, nil, nil, nil, nil, nil)
		return
	}
	src, dst := telemetry.AddrFrom(e.Src), telemetry.AddrFrom(e.Dst)
	a.address(&src)
	a.address(&dst)
	protocol, known := protocolNumber(e.Protocol)
	a.add(e.SrcPort, e.DstPort)
	a.known(known, protocol)
	a.known(e.Tunnel != "", tunnelNumber(e.Tunnel))
	number(a, e.TunnelID)
}

func number[T uint8 | uint32](a *Row, v *T) {
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
