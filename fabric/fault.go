package fabric

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// A fault is one entry of the faults of a scenario.
type fault struct {
	*scenario.Fault
	index  int
	rounds int64 // how often it has begun
	trouble
	record truth.Fault
}

// A trouble is one kind of fault.
type trouble interface {
	begin(f *Fabric)
	end(f *Fabric) // makes good what begin did
}

// newFaults prepares and schedules the faults of a scenario.
func (f *Fabric) newFaults(list []scenario.Fault) {
	for i := range list {
		ft := &fault{Fault: &list[i], index: i, record: truth.Fault{Fault: i, Kind: list[i].Kind()}}
		f.newTrouble(ft)
		f.faults = append(f.faults, ft)
		f.agenda.add(int64(ft.At), evFault, uint32(2*i))
	}
}

// newTrouble fills in what a fault does and what the truth says of it.
func (f *Fabric) newTrouble(ft *fault) {
	r := &ft.record
	at := func(names ...string) *node {
		for _, name := range names {
			r.Nodes = append(r.Nodes, f.names[name].id)
		}
		return f.names[names[0]]
	}
	on := func(names [2]string) *link {
		l := f.linkBetween(names)
		r.Link = l.name
		return l
	}
	switch s := ft.Fault; {
	case s.LinkDown != nil:
		ft.trouble = &linkDown{fault: ft.index, link: on(s.LinkDown.Link)}
	case s.GrayLink != nil:
		t := &grayLink{link: on(s.GrayLink.Link), share: float64(s.GrayLink.Drop)}
		t.link.random = f.random("gray link " + t.link.name)
		ft.trouble = t
		r.Detail = fmt.Sprintf("drops %g%%", 100*s.GrayLink.Drop)
	case s.Blackhole != nil:
		r.Prefix = s.Blackhole.Prefix.String()
		ft.trouble = &wrongRoutes{fault: ft.index, prefix: s.Blackhole.Prefix.Prefix, routes: []wrongRoute{
			{at(s.Blackhole.Node), &route{silent: s.Blackhole.Silent}},
		}}
		if s.Blackhole.Silent {
			r.Detail = "silent"
		}
	case s.Loop != nil:
		r.Prefix = s.Loop.Prefix.String()
		at(s.Loop.Nodes...)
		ft.trouble = f.newLoop(ft.index, s.Loop)
	case s.Polarisation != nil:
		ft.trouble = &polarisation{}
	case s.SlowSwitch != nil:
		ft.trouble = &slowSwitch{node: at(s.SlowSwitch.Node), extraNs: int64(s.SlowSwitch.Extra)}
		r.Detail = fmt.Sprintf("%d ns more", s.SlowSwitch.Extra)
	case s.Buffer != nil:
		ft.trouble = &wrongBuffer{
			node: at(s.Buffer.Node), buffer: uint64(s.Buffer.Buffer),
			alpha: float64(s.Buffer.Alpha),
		}
		r.Detail = fmt.Sprintf("buffer %d bytes, alpha %g (0: as it was)", s.Buffer.Buffer, s.Buffer.Alpha)
	case s.NoINT != nil:
		ft.trouble = &noINT{node: at(s.NoINT.Node)}
	case s.Clock != nil:
		ft.trouble = &wrongClock{node: at(s.Clock.Node), offsetNs: int64(s.Clock.Offset), driftPPB: ppb(s.Clock.Drift)}
		r.Detail = fmt.Sprintf("offset %d ns, drift %g ppm", s.Clock.Offset, s.Clock.Drift)
	case s.ReportLoss != nil:
		if len(s.ReportLoss.Nodes) > 0 {
			at(s.ReportLoss.Nodes...)
		}
		ft.trouble = f.newReportLoss(ft.index, s.ReportLoss)
		r.Detail = fmt.Sprintf("each %d-th report", s.ReportLoss.Every)
		if s.ReportLoss.Every == 0 {
			r.Detail = fmt.Sprintf("%g%% of the reports", 100*s.ReportLoss.Drop)
		}
	case s.DDoS != nil:
		r.Hosts = append(slices.Clone(s.DDoS.From), s.DDoS.To)
		ft.trouble = f.newDDoS(ft.index, s.DDoS)
		r.Detail = fmt.Sprintf("%d devices send %d bit/s of %s each to the last host", len(s.DDoS.From), s.DDoS.Rate,
			s.DDoS.Send)
	case s.Mitigate != nil:
		ft.trouble = &mitigate{node: at(s.Mitigate.Node), filter: newFilter(ft.index, s.Mitigate)}
	}
}

func ppb(ppm scenario.Number) int64 { return int64(ppm * 1000) }

func (f *Fabric) linkBetween(names [2]string) *link {
	for _, p := range f.names[names[0]].ports {
		if p.peer.node.name == names[1] {
			return p.link
		}
	}
	return nil // the scenario was checked
}

// happen begins or ends a fault, as the index of an event says: twice that of the fault, and one more for the end.
func (f *Fabric) happen(index uint32) {
	ft := f.faults[index/2]
	if index%2 == 1 {
		f.writeFault(ft, "end")
		ft.end(f)
		return
	}
	f.writeFault(ft, "start")
	ft.begin(f)
	if ft.For > 0 {
		f.agenda.add(f.nowNs+int64(ft.For), evFault, index+1)
	}
	if ft.Every > 0 {
		ft.rounds++
		f.agenda.add(int64(ft.At)+ft.rounds*int64(ft.Every), evFault, index)
	}
}

func (f *Fabric) writeFault(ft *fault, phase string) {
	if f.truth != nil {
		ft.record.TimeNs, ft.record.Phase = f.nowNs, phase
		f.truth.Write(&ft.record)
	}
}

// A wrongRoute is what a fault makes of the routes of one switch.
type wrongRoute struct {
	node  *node
	route *route
}

// wrongRoutes are a blackhole or a loop.
type wrongRoutes struct {
	fault  int
	prefix netip.Prefix
	routes []wrongRoute
}

func (f *Fabric) newLoop(fault int, l *scenario.Loop) *wrongRoutes {
	w := &wrongRoutes{fault: fault, prefix: l.Prefix.Prefix}
	for i, name := range l.Nodes {
		to := f.linkBetween([2]string{name, l.Nodes[(i+1)%len(l.Nodes)]})
		out := to.a
		if out.node.name != name {
			out = to.b
		}
		w.routes = append(w.routes, wrongRoute{f.names[name], &route{ports: []*port{out}}})
	}
	return w
}

func (w *wrongRoutes) begin(f *Fabric) {
	for _, r := range w.routes {
		f.overrides = append(f.overrides, override{fault: w.fault, node: r.node, prefix: w.prefix, route: r.route})
	}
	f.converge()
}

func (w *wrongRoutes) end(f *Fabric) {
	f.overrides = slices.DeleteFunc(f.overrides, func(o override) bool { return o.fault == w.fault })
	f.converge()
}
