package incident

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A rule says which events follow from which. To add one: 1. its row in rules, below those that are to be asked before
// it, 2. a case in TestRules, 3. go test ./analyze/incident -update, which writes docs/reference/incidents.md.
type rule struct {
	id      string // stable
	causes  []telemetry.EventKind
	effects []telemetry.EventKind
	because string // of an effect, in words
	// likely says that time and kinds alone speak for it. Then an effect follows from a cause only if no other incident
	// explains it as well.
	likely bool
	// soonest says that of several incidents the last one before the effect explains it, if all others began at least
	// twice as long before it.
	soonest bool
	// same says that both are parts of one thing: the one that began first stands for it.
	same  bool
	local bool // both are at the same node, which holds says too
	// The effect begins within so long after the cause began, or, without that, until so long after it ended.
	within, after time.Duration
	holds         func(c, e *event) bool // beside that; nil: always
	when          string                 // what holds says, in words
}

// early is how much earlier than its cause an effect may begin: events begin as exactly as a scan. A queue that was
// short again by then is no effect.
const early = 1500 * time.Millisecond

// mostRounds is how often a packet comes to a node of a loop of two at most until its TTL is used up.
const mostRounds = 128

// Kinds that stand together in rules.
var (
	queueLong = []telemetry.EventKind{telemetry.EventMicroburst, telemetry.EventIncast}
	brokeRule = []telemetry.EventKind{
		telemetry.EventPathNotAllowed, telemetry.EventWaypointMissed, telemetry.EventUnexpectedNode,
		telemetry.EventHopWithoutINT,
	}
)

func kinds(k ...telemetry.EventKind) []telemetry.EventKind { return k }

// rules are asked in this order, and the first that holds says what an event follows from: those that prove first.
var rules = []rule{
	{
		id: "duplicate_id", causes: kinds(telemetry.EventDuplicateNode),
		effects: kinds(telemetry.EventLoop, telemetry.EventClockJump, telemetry.EventLinkLost,
			telemetry.EventPathChange, telemetry.EventLatencyAnomaly, telemetry.EventImplausible),
		because: "two devices speak with the id of this node", after: 5 * time.Second,
		holds: func(c, e *event) bool { return e.touches(c.Node) }, when: "the node takes part in it",
	},
	{
		id: "other_direction", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventLinkLost),
		same: true, because: "it is the other direction of the same link", within: 3 * time.Second,
		holds: func(c, e *event) bool { return same(c.Node, e.ToNode) && same(c.ToNode, e.Node) },
		when:  "one goes back where the other comes from",
	},
	{
		id: "dropped_at_lost_link", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventDropStorm),
		because: "the port of the link dropped what was to leave by it", within: 3 * time.Second,
		holds: func(c, e *event) bool { return c.samePort(e) && e.Cause == "egress_link_down" },
		when:  "drops at a port of the link, because the link behind it is down",
	},
	{
		id: "left_lost_link", causes: kinds(telemetry.EventLinkLost, telemetry.EventGrayFailure),
		effects: kinds(telemetry.EventPathChange), because: "flows left the port of the link",
		within: 10 * time.Second,
		holds:  func(c, e *event) bool { return c.samePort(e) || c.samePortBack(e) },
		when:   "flows left a port of the link for another",
	},
	{
		id: "back_to_link", local: true, causes: kinds(telemetry.EventLinkLost),
		effects: kinds(telemetry.EventPathChange),
		because: "flows came back to the port of the link", after: 5 * time.Second,
		holds: func(c, e *event) bool { return same(c.Node, e.Node) && c.Port != nil && e.newPort() == *c.Port },
		when:  "flows came to a port of the link from another",
	},
	{
		id: "dropped_in_blackhole", local: true, causes: kinds(telemetry.EventBlackhole),
		effects: kinds(telemetry.EventDropStorm),
		because: "these are the packets that find no way on", after: time.Second,
		holds: func(c, e *event) bool { return same(c.Node, e.Node) && same(c.Reason, e.Reason) },
		when:  "at the same node, for the same reason",
	},
	{
		id: "loop_continues", causes: kinds(telemetry.EventLoop), effects: kinds(telemetry.EventLoop), same: true,
		because: "it is another node of the same loop", within: 3 * time.Second,
		holds: func(c, e *event) bool { return c.passes(e) && e.passes(c) },
		when:  "the path of each of them passes the other's node",
	},
	{
		id: "turned_back", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventLoop),
		because: "packets on their way turned back as routes changed", after: 3 * time.Second,
		holds: func(c, e *event) bool {
			return e.to-e.from < int64(time.Second) && (e.passes(c) || e.passesEnd(c))
		},
		when: "a loop of less than a second, at an end of the link",
	},
	{
		id: "dropped_in_loop", causes: kinds(telemetry.EventLoop), effects: kinds(telemetry.EventDropStorm),
		because: "packets went round until their TTL was used up", after: 2 * time.Second,
		holds: func(c, e *event) bool { return e.Cause == "ttl_expired" && c.passes(e) },
		when:  "drops of packets whose TTL is used up, at a node of the loop",
	},
	{
		id: "too_many_hops_in_loop", causes: kinds(telemetry.EventLoop), effects: kinds(telemetry.EventHopLimit),
		because: "packets that go round meet more nodes than INT allows", after: 2 * time.Second,
		holds: (*event).passes, when: "at a node of the loop",
	},
	{
		id: "queue_in_loop", causes: kinds(telemetry.EventLoop), effects: queueLong,
		because: "packets that go round fill the queue", after: 20 * time.Millisecond,
		holds: func(c, e *event) bool { return c.passes(e) && e.Count <= mostRounds*c.Count },
		when:  "at a node of the loop, and no more packets than come there if those of the loop go round 128 times",
	},
	{
		id: "moved_to_queue", local: true, causes: kinds(telemetry.EventPathChange), effects: queueLong,
		because: "flows moved to this port", within: 10 * time.Second,
		holds: func(c, e *event) bool {
			return e.Severity > telemetry.Info && same(c.Node, e.Node) && e.Port != nil && c.newPort() == *e.Port
		}, when: "a queue that dropped packets at the port to which flows moved",
	},
	{
		id: "uneven_to_queue", local: true, causes: kinds(telemetry.EventECMPImbalance),
		effects: append(kinds(telemetry.EventDropStorm, telemetry.EventLatencyAnomaly), queueLong...),
		because: "the port carries more than its share", after: time.Second,
		holds: (*event).samePort, when: "at the port that carries the most",
	},
	{
		id: "dropped_by_queue", local: true, causes: queueLong, effects: kinds(telemetry.EventDropStorm),
		because: "the queue was full", after: 2 * time.Second,
		holds: func(c, e *event) bool { return c.Severity > telemetry.Info && c.samePort(e) && e.dropsAtQueue() },
		when:  "drops for want of room, at the port of a queue that was long and dropped packets",
	},
	{
		id: "waited_in_queue", local: true, causes: queueLong, effects: kinds(telemetry.EventLatencyAnomaly),
		because: "packets waited in the queue", after: time.Second,
		holds: (*event).samePort, when: "at the same port",
	},
	{
		id: "reports_after_restart", causes: kinds(telemetry.EventNodeRestart),
		effects: kinds(telemetry.EventReportLoss), because: "the exporter began anew", within: 5 * time.Second,
		holds: func(c, e *event) bool { return c.Source == e.Source }, when: "reports of the same exporter",
	},
	{
		id: "silent_until_restart", local: true, causes: kinds(telemetry.EventExporterSilent),
		effects: kinds(telemetry.EventNodeRestart), same: true,
		because: "the node reported nothing until it had started again", after: 5 * time.Second,
		holds: func(c, e *event) bool { return same(c.Node, e.Node) }, when: "the same node",
	},
	{
		id: "clock_explains", causes: kinds(telemetry.EventClockJump),
		effects: kinds(telemetry.EventImplausible, telemetry.EventLatencyAnomaly),
		because: "times of this node are not known for a moment", after: 5 * time.Second,
		holds: func(c, e *event) bool { return e.touches(c.Node) }, when: "the node takes part in it",
	},
	{
		id: "broke_rule_by_moving", causes: kinds(telemetry.EventPathChange), effects: brokeRule,
		because: "flows moved to a path that breaks a rule", within: 5 * time.Second,
		holds: func(c, e *event) bool { return c.Path != "" && c.Path == e.Path || c.sameFlow(e) },
		when:  "the same path, or the same flow",
	},
	{
		id: "queue_goes_on", local: true, causes: queueLong, effects: queueLong, same: true,
		because: "the queue was short for a moment only", after: time.Second / 4,
		holds: func(c, e *event) bool { return c.sameQueue(e) && e.Severity <= c.Severity },
		when:  "the same queue is long again, and no worse",
	},
	{
		id: "same_queue", local: true, causes: queueLong, effects: queueLong, same: true,
		because: "the same queue again", after: 10 * time.Second,
		holds: func(c, e *event) bool {
			first := c.firstQueue()
			return c.sameQueue(e) && first.of == nil && c.Severity == e.Severity &&
				first.isCongestion() == e.isCongestion()
		},
		when: "both were long for less than a second, or both for more, with the same severity, and nothing else is " +
			"the cause",
	},
	{
		id: "several_uneven", causes: kinds(telemetry.EventECMPImbalance),
		effects: kinds(telemetry.EventECMPImbalance), same: true,
		because: "several nodes began to choose alike", within: 2 * time.Second,
	},
	{
		id: "several_exporters", causes: kinds(telemetry.EventReportLoss), effects: kinds(telemetry.EventReportLoss),
		same: true, because: "reports of several exporters were lost together", within: 2 * time.Second,
	},
	{
		id: "attack_fills_queue", causes: kinds(telemetry.EventAttack), effects: queueLong, likely: true,
		because: "the attack fills the queue", after: 2 * time.Second,
		holds: func(c, e *event) bool { return c.Severity > telemetry.Info && e.Severity > telemetry.Info },
		when:  "a queue that dropped packets became long while the attack went on",
	},
	{
		id: "dropped_of_attack", causes: kinds(telemetry.EventAttack), effects: kinds(telemetry.EventDropStorm),
		because: "these are packets to the target of the attack", after: 10 * time.Second,
		holds: func(c, e *event) bool {
			return c.Severity > telemetry.Info && e.Flow != nil && c.Attack != nil && c.Attack.Holds(e.Flow.Dst)
		}, when: "drops of packets to the target",
	},
	{
		id: "same_target", causes: kinds(telemetry.EventDropStorm), effects: kinds(telemetry.EventDropStorm),
		same: true, because: "packets to the same address are dropped for the same reason", within: 3 * time.Second,
		holds: func(c, e *event) bool {
			return c.Cause != "" && c.Cause == e.Cause && c.Flow != nil && e.Flow != nil && c.Flow.Dst == e.Flow.Dst
		}, when: "the same reason, and flows to the same address",
	},
	{
		id: "flap", local: true, causes: kinds(telemetry.EventPathChange), effects: kinds(telemetry.EventPathChange),
		same:    true,
		because: "flows of the same ports moved again", after: 10 * time.Second,
		holds: func(c, e *event) bool {
			return same(c.Node, e.Node) && c.Port != nil && e.Port != nil &&
				(c.newPort() == *e.Port && e.newPort() == *c.Port || *c.Port == *e.Port && c.newPort() == e.newPort())
		}, when: "between the same two ports",
	},
	{
		id: "filtered_target", causes: append(kinds(telemetry.EventDropStorm), queueLong...),
		effects: kinds(telemetry.EventDropStorm), likely: true,
		because: "somebody filters what went to the same address", within: time.Minute,
		holds: func(c, e *event) bool {
			return e.group() == dropreason.ACL && c.group() != dropreason.ACL && c.Severity > telemetry.Info &&
				c.Flow != nil && e.Flow != nil && c.Flow.Dst == e.Flow.Dst
		}, when: "a filter begins to drop packets to the address of those that filled a queue",
	},
	{
		id: "no_way_around", causes: kinds(telemetry.EventLinkLost),
		effects: kinds(telemetry.EventBlackhole, telemetry.EventDropStorm), likely: true, soonest: true,
		because: "without the link there is no way to these addresses", within: 3 * time.Second,
		holds: func(c, e *event) bool { return e.Cause == "no_route" && e.firstDrop() >= c.failedNs() },
		when: "drops for want of a route begin as the link fails, and not before; of several links that failed, it is the " +
			"last if it failed half as long before as the others",
	},
	{
		id: "moved_by_lost_link", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventPathChange),
		likely: true, because: "flows go around an end of the lost link", within: 5 * time.Second,
		holds: func(c, e *event) bool {
			return same(c.Node, e.ToNode) || same(c.ToNode, e.ToNode) || same(c.Node, e.Node) || same(c.ToNode, e.Node)
		}, when: "flows leave a node that is an end of the link, or choose another port there",
	},
	{
		id: "moved_back", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventPathChange),
		likely: true, because: "flows move as the link is back",
		holds: func(c, e *event) bool { return c.End != nil && e.from >= c.to-int64(early) },
		when:  "within 3 s after the link is back", after: 3 * time.Second,
	},
	{
		id: "left_loop", causes: kinds(telemetry.EventLoop), effects: kinds(telemetry.EventPathChange), likely: true,
		because: "flows move as the routes of the loop change", after: 3 * time.Second,
		holds: (*event).passes, when: "at a node of the loop",
	},
	{
		id: "looped_as_link_lost", causes: kinds(telemetry.EventLinkLost), effects: kinds(telemetry.EventLoop),
		likely: true, because: "packets went round while routes changed", after: 3 * time.Second,
		holds: func(c, e *event) bool {
			return e.to-e.from < int64(4*time.Second) &&
				(e.from <= c.from+int64(3*time.Second) || e.from >= c.to-int64(early))
		}, when: "a loop of less than 4 s, which begins within 3 s after the link failed or is back",
	},
	{
		id: "uneven_by_blackhole", causes: kinds(telemetry.EventBlackhole),
		effects: kinds(telemetry.EventECMPImbalance), likely: true,
		because: "what is dropped there no longer comes by the other ports", within: 3 * time.Second,
	},
	{
		id: "moved_by_uneven", causes: kinds(telemetry.EventECMPImbalance),
		effects: kinds(telemetry.EventPathChange), likely: true,
		because: "nodes choose their ports in another way", within: 2 * time.Second,
	},
	{
		id: "broke_rule", causes: kinds(telemetry.EventLinkLost), effects: brokeRule, likely: true,
		because: "flows moved as the link failed", within: 5 * time.Second,
	},
}

// holdsAt reports whether times and the rest say that e follows from c. Kinds are the caller's.
func (r *rule) holdsAt(c, e *event) bool {
	if c == e || e.from < c.from-int64(early) || isQueue(e.Kind) && e.to < c.from {
		return false
	}
	if r.same && (e.from < c.from || e.from == c.from && e.ID < c.ID) {
		return false
	}
	latest := c.to + int64(r.after)
	if r.within != 0 {
		latest = c.from + int64(r.within)
	}
	return e.from <= latest && (r.holds == nil || r.holds(c, e))
}
