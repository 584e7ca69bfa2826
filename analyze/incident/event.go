package incident

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// An event is one that is to be explained.
type event struct {
	*telemetry.Event
	from, to int64  // ns since 1970; the end of one that goes on is far away
	of       *event // what it follows from; nil: it is a cause
	rule     *rule  // by which
	others   []*event
	with     []*event // of a storm: queues of other incidents, which dropped some of its packets
}

func newEvent(e *telemetry.Event) event {
	n := event{Event: e, from: e.Start.UnixNano(), to: math.MaxInt64 / 2}
	if e.End != nil {
		n.to = e.End.UnixNano()
	}
	return n
}

// root is the cause at the beginning of the chain.
func (e *event) root() *event {
	for e.of != nil {
		e = e.of
	}
	return e
}

// same reports whether two things are known and equal.
func same[T comparable](a, b *T) bool { return a != nil && b != nil && *a == *b }

// touches reports whether a node takes part in an event.
func (e *event) touches(node *uint32) bool { return same(e.Node, node) || same(e.ToNode, node) }

// samePort reports whether both are about the same port of the same node.
func (e *event) samePort(o *event) bool { return same(e.Node, o.Node) && same(e.Port, o.Port) }

// sameQueue reports whether both are about the same queue of the same port.
func (e *event) sameQueue(o *event) bool { return e.samePort(o) && same(e.Queue, o.Queue) }

// samePortBack reports whether o is about the port at the other end of a link.
func (e *event) samePortBack(o *event) bool { return same(e.ToNode, o.Node) && same(e.ToPort, o.Port) }

// sameFlow reports whether both tell of the same flow.
func (e *event) sameFlow(o *event) bool {
	return e.Flow != nil && o.Flow != nil && e.Flow.Src == o.Flow.Src && e.Flow.Dst == o.Flow.Dst &&
		e.Flow.SrcPort == o.Flow.SrcPort && e.Flow.DstPort == o.Flow.DstPort && e.Flow.Protocol == o.Flow.Protocol
}

// passes reports whether the path of e passes the node of o.
func (e *event) passes(o *event) bool { return e.meets(o.Node, o.Name) }

// passesEnd reports whether e is at the node at the other end of o, or has it on its path.
func (e *event) passesEnd(o *event) bool { return e.meets(o.ToNode, o.ToName) }

// meets reports whether e is at a node, or has it on its path.
func (e *event) meets(node *uint32, name string) bool {
	return node != nil && (same(e.Node, node) || slices.Contains(e.PathNodes, name) && name != "" ||
		slices.Contains(e.PathNodes, strconv.FormatUint(uint64(*node), 10)))
}

// newPort is the port by which flows leave a node after a path change; -1 if that is not known.
func (e *event) newPort() uint32 {
	for i := range e.Evidence {
		if e.Evidence[i].Name == "new_port" {
			return uint32(e.Evidence[i].Value)
		}
	}
	return math.MaxUint32
}

// firstDrop is when the first packet of e was dropped: events of blackholes begin with the scan before.
func (e *event) firstDrop() int64 { return e.from + int64(e.evidence("first_drop_after")) }

// failedNs is when a link failed at the earliest. It is exact if its port dropped packets, and else as exact as a scan.
func (e *event) failedNs() int64 {
	if e.Count > 0 {
		return e.from
	}
	return e.from - int64(time.Second)
}

// group is that of the reason of drops.
func (e *event) group() dropreason.Group {
	if r, ok := dropreason.ByID(e.Cause); ok {
		return r.Group
	}
	return dropreason.General
}

// isCongestion reports whether a queue was long for more than a second, which is no microburst.
func (e *event) isCongestion() bool { return e.to-e.from > int64(time.Second) }

// firstQueue returns the first of the same queues in a row of which e is one.
func (e *event) firstQueue() *event {
	for e.of != nil && isQueue(e.of.Kind) {
		e = e.of
	}
	return e
}

// isLossOfReports reports whether e says that reports did not come.
func (e *event) isLossOfReports() bool {
	return e.Kind == telemetry.EventReportLoss || e.Kind == telemetry.EventExporterSilent
}

func (e *event) dropsAtQueue() bool { return e.group() == dropreason.Buffer }
