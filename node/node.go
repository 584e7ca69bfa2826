package node

import (
	"errors"
	"fmt"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/export"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/wire/inband"
)

// A Node is what one switch does about telemetry. See the package comment. It is not for concurrent use.
type Node struct {
	plan
	config Config
	spec   Spec

	sampler    watch.Sampler
	queues     []*event.Congestion // by port
	flowEvents *event.Detector
	dropEvents *event.Detector // nil: every drop is reported
	exporter   *export.Exporter
	format     export.Format
	ipFragment bool
	usual      uint16 // RepMdBits of reports that no flow watchlist entry asks for

	turns uint64    // packets whose instructions were one of several sets
	ioam  *ioamNode // nil: the domain is of INT
	stats Stats

	// Scratch memory of one call.
	visit  visit
	copied embed.Packet    // a copy that is marked as one
	hop    inband.Metadata // of a record in the stack
	told   export.Report
	out    *Output // that reports go to
	spare  []byte  // a frame that is only reported

	numbers     numbers            // of flows: those that the source gave, and that the sink waits for
	destination inband.Destination // of the packet at hand

	recent []uint64 // hashes of packets that were reported; nil: no node of the version has a slow path
}

// New returns the node of a switch. Errors name the keys of c that break a rule.
func New(c Config, s Spec) (*Node, error) {
	p, wrong := c.check()
	if err := wrong.err(); err != nil {
		return nil, err
	}
	if len(s.Ports) > maxPorts || s.Queues < 0 || s.Queues > maxQueues {
		return nil, fmt.Errorf("switch: got %d ports with %d queues, want at most %d and %d", len(s.Ports), s.Queues,
			maxPorts, maxQueues)
	}
	c = c.at(s.Name)
	p.roles = c.roles(&wrong, "")
	p.data = c.domainData(&wrong, "", &p.domains)
	n := &Node{config: c, spec: s, plan: p, sampler: watch.NewSampler(s.Seed)}
	if p.mode == watch.ModeIOAM {
		n.ioam = c.ioamNode()
	}
	if n.sequence {
		n.numbers = newNumbers(c.Events.Flows)
	}
	n.ipFragment = fragmentWords[c.Reports.Fragment]
	if n.inside.Version < inband.Version10 {
		n.recent = make([]uint64, recentPackets)
	}
	if err := errors.Join(n.addQueues(), n.addEvents(), n.addExporter()); err != nil {
		return nil, err
	}
	n.usual = n.reported(n.usualMetadata())
	return n, nil
}

const (
	maxPorts  = 1 << 12
	maxQueues = 1 << 8
)

func (n *Node) addEvents() (err error) {
	config := n.config.Events.config(n.spec.Seed)
	config.Ended = n.ended
	if n.flowEvents, err = event.New(config); err != nil || n.config.DropEvents == nil {
		return err
	}
	n.dropEvents, err = event.New(n.config.DropEvents.config(n.spec.Seed + 1))
	return err
}

func (n *Node) ended(e event.End) {
	if !e.Forgotten {
		n.count(FlowEnded)
	}
}

// addExporter makes the exporter, unless nobody listens.
func (n *Node) addExporter() error {
	c, err := n.config.exporter(&n.spec, &n.plan)
	if err != nil || len(c.Destinations) == 0 {
		return err
	}
	n.format = c.Format
	n.exporter, err = export.New(c, func(d *export.Datagram) {
		if n.out != nil {
			n.out.Reports = addFrame(n.out.Reports)
			last := &n.out.Reports[len(n.out.Reports)-1]
			*last = n.exporter.AppendFrame(*last, d)
		}
	})
	return err
}

// Replace puts other watchlists in the place of those that the node has, between two packets. If they break a rule the
// node keeps those that it has, and the error says why. What is in the switch already is still treated as it was said
// when it came.
func (n *Node) Replace(w Watchlists) error {
	var wrong problems
	flows := n.compile(&wrong, "watch", w.Flows)
	drops := n.compile(&wrong, "drops", w.Drops)
	if err := wrong.err(); err != nil {
		return err
	}
	n.flows, n.drops = flows, drops
	return nil
}

// ChangesFlow reports whether telemetry of the domain changes what switches balance by: addresses, protocol or ports in
// the outermost headers, or what stands in front of the ports. Then a switch should take State.Hash for all packets, so
// that their path stays.
func (n *Node) ChangesFlow() bool {
	switch n.inside.Carrier {
	case embed.DSCP, embed.Marker, embed.Geneve:
		return n.ioam != nil
	}
	return n.inside.Mode != embed.XD || n.ioam != nil
}

// usesPort reports whether a UDP port marks INT.
func (d *domains) usesPort() bool {
	return d.inside.Mode != embed.XD && (d.inside.Carrier == embed.DstPort || d.inside.Carrier == embed.NewUDP)
}

// isEdge reports whether there are hosts behind a port. A port that the switch does not have is taken for one.
func (n *Node) isEdge(port uint32) bool {
	return port == 0 || uint64(port) > uint64(len(n.spec.Ports)) || n.spec.Ports[port-1].Edge
}
