package expect

import (
	"net/netip"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// keptPaths is how many paths a collector remembers of a flow: the latest and the one before.
const keptPaths = 2

// A flow is what a collector knows of a flow.
type flow struct {
	telemetry.Endpoints
	outer *telemetry.Endpoints
	dscp  uint8

	reports, packets, probes, bytes, drops, changes uint64
	arrival                                         arrival

	residence, endToEnd values
	kept                []*flowPath      // the latest first
	taken               map[*path]uint64 // packets, of all paths ever
	rule                Rule             // why the order of its packets is not known
	stacks, postcards   bool             // reports of both kinds came
}

// A flowPath is what a flow met on a path since it last turned to it.
type flowPath struct {
	path    *path
	packets uint64
	meters  []meter
}

// endpoints returns the flow key of a flow, and that of its tunnel.
func endpoints(f *truth.Flow) (e telemetry.Endpoints, outer *telemetry.Endpoints) {
	address := func(text string) netip.Addr { return netip.MustParseAddr(text) }
	e = telemetry.Endpoints{
		Src: address(f.Src), Dst: address(f.Dst), SrcPort: f.SrcPort, DstPort: f.DstPort,
		Protocol: telemetry.ProtocolName(f.Protocol),
	}
	if in := f.Inner; in != nil {
		around := e
		outer = &around
		e = telemetry.Endpoints{
			Src: address(in.Src), Dst: address(in.Dst), SrcPort: in.SrcPort, DstPort: in.DstPort,
			Protocol: telemetry.ProtocolName(in.Protocol), Tunnel: in.Tunnel, TunnelID: &in.VNI,
		}
	}
	return e, outer
}

// turn makes p the path that f takes. first is what the first switch told.
func (f *flow) turn(p *path, first *sight) *flowPath {
	if len(f.kept) > 0 {
		if f.kept[0].path == p {
			return f.kept[0]
		}
	}
	if p.elements[len(p.elements)-1].known&telemetry.HasDrop == 0 {
		if from, _ := f.arrival.turns(p, first, 0); from != nil {
			f.changes++
		}
	}
	for i, k := range f.kept {
		if k.path == p {
			f.kept[0], f.kept[i] = f.kept[i], f.kept[0]
			return k
		}
	}
	k := &flowPath{path: p, meters: make([]meter, len(p.elements))}
	f.kept = append([]*flowPath{k}, f.kept...)
	f.kept = f.kept[:min(len(f.kept), keptPaths)]
	return k
}

func (f *flow) answer(names map[uint32]string) telemetry.Flow {
	a := telemetry.Flow{
		Endpoints: f.Endpoints, Outer: f.outer, DSCP: f.dscp, Reports: f.reports, Packets: f.packets,
		Probes: f.probes, Bytes: f.bytes,
		Drops:       f.drops,
		PathChanges: f.changes, Residence: f.residence.answer(), EndToEnd: f.endToEnd.answer(),
		Paths: []telemetry.FlowPath{},
	}
	for _, k := range f.kept {
		p := telemetry.FlowPath{Packets: k.packets}
		for i := range k.meters {
			hop := k.path.elements[i].answer(names)
			k.meters[i].answer(&hop)
			if hop.Queue != nil {
				hop.Queue.Last = nil // not kept for each flow
			}
			p.Hops = append(p.Hops, hop)
		}
		a.Paths = append(a.Paths, p)
	}
	return a
}
