package expect

import (
	"fmt"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// An element is one place of a path: a switch with its ports, or a number of switches that told nothing.
type element struct {
	node, in, out uint32
	known         telemetry.Fields // HasNode, HasIngressPort, HasEgressPort, HasDrop
	missing       int
}

// A sight is what one switch told about one packet.
type sight struct {
	element
	has             telemetry.Fields
	latency         uint64 // ns, by the clock of the switch
	depth           uint64 // bytes in the queue
	queue           uint8
	sentBps         uint64 // by the port, of late
	ingress, egress uint64 // ns, the clock of the switch
	ttl             int    // of the packet in the report, 0 at the first switch and less from there
}

const elementFields = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasDrop

// sight returns what the switch of a visit can tell.
func (o *Options) sight(v *Visit) sight {
	if v.Hop == nil {
		d := v.Drop
		s := sight{has: o.Drop | telemetry.HasDrop, depth: d.Depth, queue: d.Queue, ttl: -v.Index}
		if d.Place != "queue" {
			s.has &^= telemetry.HasQueue
		}
		s.element = element{node: d.Node, in: d.In, out: d.Out, known: s.has & elementFields}
		return s
	}
	h := v.Hop
	s := sight{
		has: o.Hop, latency: h.OutClock - h.InClock, depth: h.Depth, queue: h.Queue, sentBps: h.Utilization,
		ingress: h.InClock, egress: h.OutClock, ttl: -v.Index - 1,
	}
	s.element = element{node: h.Node, in: h.In, out: h.Out, known: s.has & elementFields}
	return s
}

// behindLimit adds, to what the switches before that of a visit told, that nobody knows which those behind the hop
// limit are.
func (o *Options) behindLimit(sights []sight, v *Visit) []sight {
	if o.MaxHops > 0 && v.Index > o.MaxHops {
		return append(sights, sight{})
	}
	return sights
}

func (s *element) named() bool { return s.known&telemetry.HasNode != 0 }

func (s *element) dropped() bool { return s.known&telemetry.HasDrop != 0 }

// answer returns the element as the API shows it.
func (s *element) answer(names map[uint32]string) telemetry.PathHop {
	if s.missing > 0 {
		return telemetry.PathHop{Missing: s.missing}
	}
	a := telemetry.PathHop{Dropped: s.dropped()}
	if s.known&telemetry.HasNode != 0 {
		a.Node, a.Name = &s.node, names[s.node]
	}
	if s.known&telemetry.HasIngressPort != 0 {
		a.IngressPort = &s.in
	}
	if s.known&telemetry.HasEgressPort != 0 {
		a.EgressPort = &s.out
	}
	return a
}

// route names a path: "1:3>1 5:1>2 2:1>4", with ! where packets were dropped and ?n for n switches that told nothing.
func route(hops []telemetry.PathHop) string {
	var b strings.Builder
	number := func(n *uint32) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	for i := range hops {
		h := &hops[i]
		if i > 0 {
			b.WriteByte(' ')
		}
		if h.Missing > 0 {
			fmt.Fprintf(&b, "?%d", h.Missing)
			continue
		}
		fmt.Fprintf(&b, "%s:%s>%s", number(h.Node), number(h.IngressPort), number(h.EgressPort))
		if h.Dropped {
			b.WriteByte('!')
		}
	}
	return b.String()
}
