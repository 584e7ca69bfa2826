package attack

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// Record returns what is told of an attack, which has that id and began then, with the names of nodes.
func (a *Attack) Record(id string, begin time.Time, names map[uint32]string) *telemetry.Attack {
	at := func(ns int64) time.Time { return time.Unix(0, ns).UTC() }
	r := &telemetry.Attack{
		ID: id, Kind: a.Kind, State: a.State, Target: a.Target.Addr.IP(), Begin: begin,
		Packets: a.Offered.Packets, Bytes: a.Offered.Bytes, Uncertainty: a.Within(),
		BPS: a.Now.BPS, PPS: a.Now.PPS, RateUncertainty: a.Now.Within, PeakBPS: a.Peak.BPS, PeakPPS: a.Peak.PPS,
		FilteredPackets: a.Filtered.Packets, FilteredBytes: a.Filtered.Bytes, Collateral: a.Stray, Lost: a.Lost,
		Devices: a.Sources.records(names, a.Sources.Devices, func(o *telemetry.AttackSource, s *Source) {
			o.Device = telemetry.DeviceText(s.Device)
		}),
		DevicesTotal: a.Sources.DevicesTotal,
		Gateways:     a.Sources.records(names, a.Sources.Gateways, nil),
		Paths: a.Sources.records(names, a.Sources.Paths, func(o *telemetry.AttackSource, s *Source) {
			o.Path = topology.PathID(s.Path)
		}),
		Addresses: a.Sources.records(names, a.Sources.Addresses, func(o *telemetry.AttackSource, s *Source) {
			o.Address = s.Addr.String()
		}),
		Filters: []telemetry.AttackFilter{}, CountError: a.Sources.TooMany,
		Evidence: append([]telemetry.Evidence{}, a.Signs...), History: []telemetry.AttackPoint{},
		Rules: []telemetry.MitigationRule{}, Actions: []telemetry.MitigationAction{},
	}
	switch {
	case a.Kind == telemetry.AttackSurge:
		r.Severity = telemetry.Info
	case a.State == telemetry.AttackActive || a.State == telemetry.AttackEnded:
		r.Severity = telemetry.Critical
	default:
		r.Severity = telemetry.Warning
	}
	if a.Bits < 128 {
		bits := a.Bits
		if r.Target.Is4() {
			bits -= 96
		}
		r.Prefix = netip.PrefixFrom(r.Target, bits).String()
	}
	if a.Sources.HasPort {
		port := a.Sources.Port
		r.Port = &port
	}
	if a.EndNs != 0 {
		end := at(a.EndNs)
		r.End = &end
	}
	r.Effectiveness = a.Sources.effect(a.Effect)
	if a.Sources.Partly {
		r.Evidence = append(r.Evidence, telemetry.Evidence{Name: "partly_reported", Value: 1})
	}
	for i := range a.Sources.Filters {
		f := &a.Sources.Filters[i]
		one := telemetry.AttackFilter{Node: f.Node, Name: names[f.Node], Packets: f.Packets}
		if f.Key != 0 {
			one.DropKey, one.Device = fmt.Sprintf("%016x", f.Key), telemetry.DeviceText(f.Device)
		}
		r.Filters = append(r.Filters, one)
	}
	for i := range a.History {
		p := &a.History[i]
		r.History = append(r.History, telemetry.AttackPoint{
			At: at(p.AtNs), DurationNs: p.DurationNs, Packets: p.Offered.Packets, Bytes: p.Offered.Bytes,
			FilteredPackets: p.Filtered,
		})
	}
	if a.Pulses > 0 && !a.Sources.Partly { // reports by events come in pulses themselves
		r.Evidence = append(r.Evidence, telemetry.Evidence{Name: "pulses", Value: float64(a.Pulses + 1)})
	}
	r.Text = textOf(r, &a.Sources)
	return r
}

// MaxSources bounds the gateways, paths and addresses of a record.
const MaxSources = 256

// effect returns the share that filters drop; nil: it is not known. What they drop is told packet by packet; where of
// what gets through only some is told, it is known if nothing does.
func (all *Sources) effect(share float64) *float64 {
	if share < 0 || all.Partly && share < 1 {
		return nil
	}
	return &share
}

// records returns sources as a record of an attack has them. fill adds what tells them apart; nil: their nodes do.
func (all *Sources) records(names map[uint32]string, list []Source, fill func(*telemetry.AttackSource, *Source),
) []telemetry.AttackSource {
	records := []telemetry.AttackSource{}
	for i := range list {
		s := &list[i]
		o := telemetry.AttackSource{
			Packets: s.Packets, Bytes: s.Bytes, Share: s.Share, Filtered: s.Filtered, Error: s.TooMany,
			First: time.Unix(0, s.FirstNs).UTC(), Last: time.Unix(0, s.LastNs).UTC(), OneExporter: s.OneExporter,
			Effectiveness: all.effect(s.Effect),
		}
		if s.HasNode {
			node := s.Node
			o.Node, o.Name = &node, names[node]
		}
		if s.HasPath {
			o.Path = topology.PathID(s.Path)
		}
		if fill != nil {
			fill(&o, s)
		}
		if records = append(records, o); o.Device == "" && len(records) >= MaxSources {
			break
		}
	}
	return records
}

// loudGateways returns how many gateways an attack comes by, without those at the end of the list by which a few
// packets of others come: less than a twentieth of the mean.
func loudGateways(list []telemetry.AttackSource) int {
	sum := 0.0
	for i := range list {
		sum += list[i].Share
	}
	n := len(list)
	for ; n > 0 && list[n-1].Share < 0.05*sum/float64(n); n-- {
		sum -= list[n-1].Share
	}
	return n
}

// textOf says what happens: "udp flood of 192.0.2.80 port 53 by 4 devices behind 3 gateways, 16 Mbit/s, filters
// drop 99.8 % of it".
func textOf(r *telemetry.Attack, all *Sources) string {
	var b strings.Builder
	what, of := strings.ReplaceAll(r.Kind.String(), "_", " "), " of "
	if r.Kind == telemetry.AttackReflection || r.Kind == telemetry.AttackSurge {
		of = " towards "
	}
	b.WriteString(what + of)
	if r.Prefix != "" {
		b.WriteString(r.Prefix)
	} else {
		b.WriteString(r.Target.String())
	}
	if r.Port != nil {
		fmt.Fprintf(&b, " port %d", *r.Port)
	}
	number := func(n int, one string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %ss", n, one)
	}
	gateways := loudGateways(r.Gateways)
	switch {
	case r.DevicesTotal > 0 && gateways > 0:
		fmt.Fprintf(&b, " by %s behind %s", number(r.DevicesTotal, "device"), number(gateways, "gateway"))
	case gateways > 0:
		fmt.Fprintf(&b, " by way of %s", number(gateways, "gateway"))
	}
	fmt.Fprintf(&b, ", at most %s", unit.RateText(r.PeakBPS, " "))
	switch {
	case all.Partly && r.Effectiveness == nil && r.FilteredPackets > 0:
		b.WriteString("; filters drop some of it, and nodes report some of the packets that they let through")
	case all.Partly:
		b.WriteString("; nodes report some of its packets only")
	case r.Effectiveness == nil:
	case all.Unsure, r.FilteredPackets+r.Lost >= r.Packets: // nobody may see what gets through
		fmt.Fprintf(&b, "; filters drop %.3g %% of what is seen of it", 100**r.Effectiveness)
	default:
		fmt.Fprintf(&b, "; filters drop %.3g %% of it", 100**r.Effectiveness)
	}
	if r.Kind == telemetry.AttackSurge {
		b.WriteString("; looks like wanted traffic, not an attack")
	}
	return b.String()
}
